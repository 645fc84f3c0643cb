#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs into an empty tree and uses what is there as a packager and a caller
# would. Arguments: build directory, source directory. TAP.
set -u
build=$1 source=$2
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
. "$source/tests/tap.sh"

paths=$(meson introspect "$build" --buildoptions | python3 -c '
import json, sys
options = {o["name"]: o["value"] for o in json.load(sys.stdin)}
sanitizers = options["b_sanitize"]  # a list in newer versions of Meson
if isinstance(sanitizers, list):
    sanitizers = ",".join(sanitizers) or "none"
optimized = "no" if options["optimization"] in ("0", "g", "plain") else "yes"
print(options["prefix"], options["libdir"], sanitizers, optimized)')
read -r prefix libdir sanitize optimized <<END
$paths
END
root=$tree$prefix
flags=
[ "$sanitize" = none ] || flags=-fsanitize=$sanitize

export PKG_CONFIG_SYSROOT_DIR="$tree" PKG_CONFIG_PATH="$root/$libdir/pkgconfig"
unset TMATCH_PLUGIN_DIR

header_alone() { echo '#include <tmatch/tmatch.h>' | "$@" -Wall -Wextra -Werror -pedantic -fsyntax-only -I"$root/include" -; }
exports() { nm -D --defined-only "$1" | awk '{print $3}' | LC_ALL=C sort; }
only_tm_names() { [ -n "$(exports "$1")" ] && ! exports "$1" | grep -v '^tm_'; }
listed() { awk '!/^#/ {print $1}' "$source/tests/symbols.txt" | LC_ALL=C sort; }
# docs/stability.md: what was exported stays, and what is new is entered.
exports_what_is_listed() {
    exports "$1" >"$tree/exported"
    listed >"$tree/listed"
    LC_ALL=C comm -3 "$tree/listed" "$tree/exported" | sed 's/^\t/not in tests\/symbols.txt: /; t; s/^/no longer exported: /' >"$tree/differences"
    cat "$tree/differences"
    [ -s "$tree/listed" ] && [ ! -s "$tree/differences" ]
}
debian_lists_the_same() {
    sed -n 's/^ \(tm_[^@]*\)@.*/\1/p' "$source/debian/libtmatch0.symbols" | LC_ALL=C sort >"$tree/debian"
    listed | diff "$tree/debian" -
}
has_soname() { # LIBRARY SONAME: the links are there, too
    readelf -d "$1" | grep -F "[$2]" && [ "$(readlink -f "$(dirname "$1")/$2")" = "$(readlink -f "$1")" ]
}
# Full RELRO, no executable stack; canaries and checked functions, branch tracking where the compiler has it.
hardened() {
    readelf -lW "$1" | grep GNU_RELRO && readelf -dW "$1" | grep -E 'NOW' &&
        ! readelf -lW "$1" | grep -E 'GNU_STACK.*RWE' &&
        readelf -sW --dyn-syms "$1" | grep -E '__stack_chk_fail' &&
        readelf -sW --dyn-syms "$1" | grep -E '_chk(@|$)' | grep -v stack_chk
}
is_pie() { readelf -hW "$1" | grep 'Type: *DYN' && readelf -dW "$1" | grep 'Flags:.*PIE'; }
marks_branch_targets() {
    objdump -d --disassemble=tm_version "$1" | grep -A 1 '<tm_version>:' | grep endbr64
}
cmake_project() { # NAME OPTION...
    folder=$tree/cmake-$1
    shift
    CMAKE_PREFIX_PATH= cmake -S "$source/tests/cmake" -B "$folder" -DEXAMPLE="$source/examples/find.c" \
        -DCMAKE_C_FLAGS="$flags" -Dtmatch_DIR="$root/$libdir/cmake/tmatch" "$@" && cmake --build "$folder" &&
        runs "$folder/find"
}
cmake_refuses() { # VERSION
    ! cmake_project refused "-DWANTED=$1" && cmake_project refused "-DWANTED=$1" 2>&1 | grep -F 'tmatchConfig.cmake, version:'
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
check "it exports what tests/symbols.txt lists" exports_what_is_listed "$root/$libdir/libtmatch.so"
check "and so does Debian's package" debian_lists_the_same
check "its soname is libtmatch.so.0" has_soname "$root/$libdir/libtmatch.so" libtmatch.so.0
if [ "$sanitize" = none ] && [ "$optimized" = yes ]; then
    check "the library is hardened" hardened "$root/$libdir/libtmatch.so"
    [ ! -x "$root/bin/tmatch" ] || check "the program is hardened" hardened "$root/bin/tmatch"
    [ ! -x "$root/bin/tmatch" ] || check "and independent of its position" is_pie "$root/bin/tmatch"
    if [ "$(uname -m)" = x86_64 ]; then
        check "and marks branch targets" marks_branch_targets "$root/$libdir/libtmatch.so"
    fi
else
    skip "hardening" "a build with sanitizers or without optimization is not hardened"
fi
check "pkg-config compiles the example" compile "$tree/shared" "$(pkg-config --cflags --libs tmatch)"
check "it finds the template" runs "$tree/shared"
check "the static library too" compile "$tree/static" "$(pkg-config --cflags tmatch) $root/$libdir/libtmatch.a $(pkg-config --static --libs-only-l tmatch | sed 's/-ltmatch//')"
check "it finds the template as well" runs "$tree/static"
if command -v cmake >/dev/null; then
    check "CMake finds the shared library" cmake_project shared
    check "and the static one" cmake_project static -Dtmatch_USE_STATIC_LIBS=ON
    check "but no version that is not there" cmake_refuses 0.2
else
    skip "CMake finds the library" "no cmake"
fi
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
