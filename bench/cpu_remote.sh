#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds, checks every instruction set of this machine's processor, and times
# them. Under 4 minutes on 16 cores. Needs gcc, meson, ninja, python3 with numpy
# and cv2. Results go to $OUT (default: the current directory), and to stdout.
set -u
cd "$(dirname "$0")/.." || exit 1
OUT=${OUT:-$PWD}
BUILD=${BUILD:-/tmp/tmatch-cpu-build}
PYTHON=${PYTHON:-python3}
failed=0

# An accelerator's plugin has no part in this; older trees lack the option.
meson setup "$BUILD" -Dwerror=true -Dcuda=disabled >"$OUT/setup.txt" 2>&1 ||
    meson setup "$BUILD" -Dwerror=true >"$OUT/setup.txt" 2>&1 || { cat "$OUT/setup.txt"; exit 1; }
ninja -C "$BUILD" >"$OUT/build.txt" 2>&1 || { tail -40 "$OUT/build.txt"; exit 1; }

{
    lscpu | grep -E 'Model name|^CPU\(s\)|Thread|L1d|L2|L3|MHz'
    gcc --version | head -1
    nproc
    "$BUILD/tests/checkasm" || failed=1
    TMATCH_TEST_CASES=2000 "$BUILD/tests/test_property" cpu || failed=1
    "$BUILD/tests/checkasm" --bench
    echo "failed: $failed"
} >"$OUT/checks.txt" 2>&1
cat "$OUT/checks.txt"

bench="$PYTHON bench/cpu_opencv.py --lib $BUILD/libtmatch.so"
$bench --threads 1,2,4,8,12,16 --opencv-threads '' --rows 5020x21,2080x21,4081x16,2048x64 \
    --seconds 4 --json "$OUT/scaling.json"
$bench --threads 1 --opencv-threads '' --features avx2,avxvnni,avx512bw,avx512vnni,all \
    --seconds 2 --json "$OUT/isas.json"
$bench --threads 1,16 --opencv-threads 1,16 --seconds 4 --json "$OUT/opencv.json"
grep -E 'failed: |not ok' "$OUT/checks.txt"
