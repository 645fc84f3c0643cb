#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs into an empty tree and uses what is there as a packager and a caller
# would. Arguments: build directory, source directory. TAP.
set -u
build=$1 source=$2
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
count=0
check() { # name, command...
    name=$1
    shift
    count=$((count + 1))
    if output=$("$@" 2>&1); then
        echo "ok $count $name"
    else
        echo "not ok $count $name"
        echo "$output" | sed 's/^/# /'
    fi
}

paths=$(meson introspect "$build" --buildoptions | python3 -c '
import json, sys
options = {o["name"]: o["value"] for o in json.load(sys.stdin)}
sanitizers = options["b_sanitize"]  # a list in newer versions of Meson
if isinstance(sanitizers, list):
    sanitizers = ",".join(sanitizers) or "none"
print(options["prefix"], options["libdir"], sanitizers)')
read -r prefix libdir sanitize <<END
$paths
END
root=$tree$prefix
flags=
[ "$sanitize" = none ] || flags=-fsanitize=$sanitize

export PKG_CONFIG_SYSROOT_DIR="$tree" PKG_CONFIG_PATH="$root/$libdir/pkgconfig"
unset TMATCH_PLUGIN_DIR

header_alone() { echo '#include <tmatch/tmatch.h>' | "$@" -Wall -Wextra -Werror -pedantic -fsyntax-only -I"$root/include" -; }
only_tm_names() {
    names=$(nm -D --defined-only "$1" | awk '{print $3}')
    [ -n "$names" ] && ! echo "$names" | grep -v '^tm_'
}
# shellcheck disable=SC2086 # lists of flags
compile() { cc -std=c11 -Wall -Werror $flags "$source/examples/find.c" -o "$1" $2; }
runs() { [ "$(LD_LIBRARY_PATH=$root/$libdir "$1")" = "x=300 y=200 score=1" ]; }
readme_has_example() {
    awk '/^```c$/ {on = 1; next} /^```$/ {on = 0} on' "$source/README.md" | diff - "$source/examples/find.c"
}
finds_plugin() { # the plugin is found, or no driver was
    "$root/bin/tmatch" --list-devices | tee "$tree/devices" | grep -q 'cuda' || return 1
    ! grep -q 'is not installed' "$tree/devices"
}

check "meson install with DESTDIR" env DESTDIR="$tree" meson install -C "$build" --no-rebuild --quiet
check "the header compiles alone as C11" header_alone cc -x c -std=c11
if command -v c++ >/dev/null; then
    check "the header compiles alone as C++" header_alone c++ -x c++
fi
check "the library exports tm_ names only" only_tm_names "$root/$libdir/libtmatch.so"
check "pkg-config compiles the example" compile "$tree/shared" "$(pkg-config --cflags --libs tmatch)"
check "it finds the template" runs "$tree/shared"
check "the static library too" compile "$tree/static" "$(pkg-config --cflags tmatch) $root/$libdir/libtmatch.a $(pkg-config --static --libs-only-l tmatch | sed 's/-ltmatch//')"
check "it finds the template as well" runs "$tree/static"
check "README.md shows the example as it is" readme_has_example
if [ -x "$root/bin/tmatch" ]; then
    check "the program runs" "$root/bin/tmatch" --version
    if command -v man >/dev/null; then
        check "man finds its page" env MANPATH="$root/share/man" man -w tmatch
    fi
    if [ -e "$root/$libdir/tmatch/libtmatch-cuda.so" ]; then
        check "the plugin is found after installing" finds_plugin
    fi
fi
echo "1..$count"
