#!/bin/sh
# SPDX-License-Identifier: MIT
# The Debian packages: built in a bare root with nothing but what debian/control asks for,
# looked at by lintian, and used in a second bare root. Arguments: source directory, a
# folder that keeps downloads. TAP.
set -u
source=$1 cache=$2
. "$source/tests/tap.sh"
. "$source/tests/bare/lib.sh"
bare_begin "$cache" packages

tree=/root/build/tmatch
in_first() { bare_run "$root/first" "export DEBIAN_FRONTEND=noninteractive; cd $tree && $1"; }
in_second() { bare_run "$root/second" "export DEBIAN_FRONTEND=noninteractive; cd /root && $1"; }
apt="apt-get -qq -y --no-install-recommends"
prints() { # EXPECTED COMMAND
    output=$(in_second "$2" 2>&1)
    echo "$output"
    [ "$output" = "$1" ]
}
# What lintian says of a package that is in no archive, and of documents that browsers show.
lintian_is_content() {
    in_first "lintian --info --pedantic --fail-on error,warning \
        --suppress-tags initial-upload-closes-no-bugs,bad-distribution-in-changes-file ../*.changes"
}
three_packages() {
    (cd "$root/first/root/build" && ls -- *.deb | sed 's/_.*//' | LC_ALL=C sort) >"$root/names"
    grep -v dbgsym "$root/names" | diff - - <<END
libtmatch-dev
libtmatch0
tmatch
END
}
move_packages() {
    mkdir -p "$root/second/root/debs" && rm -f "$root"/first/root/build/*dbgsym* &&
        mv "$root"/first/root/build/*.deb "$root/second/root/debs" &&
        cp "$source/examples/find.c" "$source/data/astronaut.png" "$source/data/patch.jpg" "$root/second/root"
}

check "a bare root to build in" bare_root "$root/first" "$cache"
bare_sources_copy "$source" "$root/first$tree"
check "the build dependencies" in_first "apt-get -qq update && $apt install build-essential lintian >/dev/null &&
    $apt build-dep ./ >/dev/null"
# The compiler's time: what it makes of full optimization is tested elsewhere.
check "dpkg-buildpackage" in_first "DEB_BUILD_OPTIONS='nocheck noopt' dpkg-buildpackage -b -us -uc"
check "it makes three packages" three_packages
check "lintian" lintian_is_content
check "a bare root to install in" bare_root "$root/second" "$cache"
move_packages
check "the program's package" in_second "apt-get -qq update && $apt install ./debs/tmatch_*.deb >/dev/null"
check "finds the template" in_second "tmatch astronaut.png patch.jpg | grep -F 'x=130 y=343 w=84 h=84'"
check "needs no library's package" in_second "! dpkg -s libtmatch0 >/dev/null 2>&1"
check "the development package" in_second "$apt install ./debs/lib*.deb gcc libc6-dev pkgconf cmake make >/dev/null"
# shellcheck disable=SC2016 # for the shell in the root
check "the C example" prints "x=300 y=200 score=1" 'cc find.c $(pkg-config --cflags --libs tmatch) && ./a.out'
cp -r "$source/tests/cmake" "$root/second/root/cmake"
check "with CMake" in_second "cmake -DEXAMPLE=/root/find.c -S cmake -B b >/dev/null && cmake --build b && b/find"
check "they can be removed" in_second "$apt purge tmatch libtmatch0 libtmatch-dev >/dev/null && ! command -v tmatch"
echo "1..$count"
