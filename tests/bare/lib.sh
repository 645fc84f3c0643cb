# SPDX-License-Identifier: MIT
# A bare root: this machine's release as debootstrap's minbase leaves it, with the
# package archive that the machine itself uses. Sourced by the tests beside it.

# Why none can be made here, or nothing.
bare_reason() {
    if [ "$(id -u)" -ne 0 ]; then
        echo "a bare root needs root"
    elif ! command -v debootstrap >/dev/null || ! command -v apt-get >/dev/null; then
        echo "no debootstrap to make a bare root"
    elif ! unshare --mount --pid --fork true 2>/dev/null; then
        echo "no mounts for a bare root may be made here"
    elif [ -z "$(bare_sources)" ]; then
        echo "no package archive to make a bare root from"
    fi
}

# "deb URI RELEASE COMPONENT..." for each archive of this distribution, the release itself first.
bare_sources() {
    (
        . /etc/os-release
        apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' | sort -u |
            awk -v name="$VERSION_CODENAME" '($3 == "main" || $3 == "universe") && ($2 == name || index($2, name "-") == 1) {
                    uri[$2] = $1
                    components[$2] = components[$2] " " $3
                }
                END {for (release in uri) print "deb", uri[release], release components[release]}' | sort -k 3,3
    )
}

# Unpacks a bare root, which is kept in CACHE.
bare_root() { # FOLDER CACHE
    mkdir -p "$1" || return
    (
        exec 9>"$2/lock"
        flock 9
        . /etc/os-release
        archive=$2/$VERSION_CODENAME.tar
        if [ ! -e "$archive" ]; then
            uri=$(bare_sources | sed -n '1s/^deb \([^ ]*\) .*/\1/p')
            rm -rf "$2/new"
            debootstrap --variant=minbase "$VERSION_CODENAME" "$2/new" "$uri" >"$2/debootstrap.log" 2>&1 || {
                tail -n 5 "$2/debootstrap.log"
                exit 1
            }
            bare_sources >"$2/new/etc/apt/sources.list"
            # nobody will miss this root after a power cut
            echo force-unsafe-io >"$2/new/etc/dpkg/dpkg.cfg.d/unsafe-io"
            rm -f "$2"/new/var/cache/apt/archives/*.deb
            tar -C "$2/new" -cf "$archive.tmp" . && mv "$archive.tmp" "$archive" || exit 1
            rm -rf "$2/new"
        fi
        tar -C "$1" -xf "$archive"
        cp /etc/resolv.conf "$1/etc/resolv.conf"
        # a proxy, if the machine has one
        for file in /etc/apt/apt.conf /etc/apt/apt.conf.d/*proxy*; do
            [ ! -f "$file" ] || cp "$file" "$1/etc/apt/apt.conf.d/"
        done
        # and how pip reaches its packages, with the certificates that this names
        if [ -f /etc/pip.conf ]; then
            sed 's,^ *cert *=.*,cert = /etc/pip.crt,' /etc/pip.conf >"$1/etc/pip.conf"
            file=$(sed -n 's/^ *cert *= *//p' /etc/pip.conf)
            [ -z "$file" ] || cp -L "$file" "$1/etc/pip.crt"
        fi
    )
}

# A command in the root, in a shell of its own with a plain environment. Its mounts and
# processes end with it.
bare_run() { # FOLDER COMMAND
    unshare --mount --pid --fork sh -c '
        mount --make-rprivate / && mount -t proc proc "$1/proc" &&
            mount --bind "$2" "$1/var/cache/apt/archives" || exit 99
        exec env -i HOME=/root LC_ALL=C TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            chroot "$1" sh -c "$3"' sh "$1" "$archives" "$2"
}

# The files that make up the project, into FOLDER.
bare_sources_copy() { # SOURCE FOLDER
    mkdir -p "$2"
    if git -C "$1" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        (cd "$1" && git ls-files -z --cached --others --exclude-standard | tar --null -T - --ignore-failed-read -cf - 2>/dev/null)
    else
        tar -C "$1" --exclude='./build*' -cf - .
    fi | tar -C "$2" -xf -
}

# Makes $root, a folder that goes away with the script, and $archives, in CACHE, for the
# packages that apt downloads; ends the script where no root can be made.
bare_begin() { # CACHE NAME
    reason=$(bare_reason)
    if [ -n "$reason" ]; then
        echo "1..0 # SKIP $reason"
        exit 0
    fi
    archives=$1/archives-$2
    mkdir -p "$archives/partial" || exit 99
    root=$(mktemp -d "$1/$2.XXXXXX") || exit 99
    trap 'rm -rf "$root"' EXIT
}
