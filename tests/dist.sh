#!/bin/sh
# SPDX-License-Identifier: MIT
# A source release: "meson dist" of the last commit, whose own tests must pass, with few
# random cases. Arguments: source directory, a folder to work in. TAP.
set -u
source=$1 folder=$2
if ! git -C "$source" rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    echo "1..0 # SKIP a source release is made from a git repository"
    exit 0
fi
. "$source/tests/tap.sh"
make_release() {
    TMATCH_TEST_CASES=30 meson dist -C "$folder" --allow-dirty --formats xztar
}
# Everything that is tracked is in it: nothing is needed that only a clone has.
has_all_files() {
    tar -tJf "$folder"/meson-dist/*.tar.xz | sed 's,^[^/]*/,,; /\/$/d; /^$/d' | LC_ALL=C sort >"$folder/released"
    git -C "$source" ls-tree -r --name-only HEAD | LC_ALL=C sort | diff - "$folder/released"
}

rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
# The CUDA backend on the CPU is tested elsewhere, and takes the half of the time.
check "meson setup" meson setup "$folder" "$source" -Dcuda=disabled -Dbench=false -Dwerror=true
check "meson dist, and the tests of what it made" make_release
check "it has all files" has_all_files
rm -rf "$folder"
echo "1..$count"
