#!/bin/sh
# SPDX-License-Identifier: MIT
# A source release: "meson dist" of the last commit, which has every file, builds by itself and passes some of its own tests.
# Arguments: source directory, a folder to work in. TAP.
set -u
source=$1 folder=$2
if ! git -C "$source" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    echo "1..0 # SKIP a source release is made from a git repository"
    exit 0
fi
. "$source/tests/tap.sh"
make_release() {
    meson dist -C "$folder/clone" --allow-dirty --formats gztar --no-tests &&
        tar -xzf "$folder"/clone/meson-dist/*.tar.gz -C "$folder" && mv "$folder"/tmatch-* "$folder/release"
}
# Its files are the clone's, so that most tests would find nothing else. No optimization, and no CUDA backend on
# the CPU, for the compilers' time.
test_release() {
    meson setup "$folder/build" "$folder/release" -Dcuda=disabled -Demulated=false -Dbench=false -Doptimization=0 || return 1
    TMATCH_TEST_CASES=1% meson test -C "$folder/build" arrows install manual cli-unit api && return
    grep -A40 '^not ok' "$folder/build/meson-logs/testlog.txt"
    return 1
}
# Everything that is tracked is in it: nothing is needed that only a clone has.
has_all_files() {
    tar -tzf "$folder"/clone/meson-dist/*.tar.gz | sed 's,^[^/]*/,,; /\/$/d; /^$/d' | LC_ALL=C sort >"$folder/released"
    git -C "$source" ls-tree -r --name-only HEAD | LC_ALL=C sort | diff - "$folder/released"
}

rm -rf "$folder"
mkdir -p "$folder"
check "meson setup" meson setup "$folder/clone" "$source" -Dcuda=disabled -Dtests=false -Dbench=false -Dpython=disabled
check "meson dist" make_release
check "it has all files" has_all_files
check "it builds, and passes its tests" test_release
rm -rf "$folder"
echo "1..$count"
