#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds, tests and measures on a machine with a GPU, each phase with a limit on
# its time. $OUT gets the logs, results.tar with the JSON files, and a summary:
#
#     OUT=/tmp/results bench/gpu.sh [build] [test] [cases] [sanitize] [costs] [fft] [kinds] [peaks] [certified] [frames] [batch] [devices] [memory] [peers] [targets] [thesis] [ncu]
#     PAIR_WITH=DIRECTORY bench/gpu.sh pair    beside another state of the source, which it builds there
#
# All phases if none is named; they run in this order, and build always runs. Limits in seconds: LIMIT_TEST=300 and so on.
# SANITIZE_TESTS has programs and words in the names of tests, such as property:cuda_random,cuda_many.
# TMATCH_COMMIT names the commit where there is no .git; GPU_ARCHS is sm_90.
# shellcheck disable=SC2317 # the phases are called by name
set -u
cd "$(dirname "$0")/.." || exit 2
OUT=${OUT:-build-gpu/out}
BUILD=build-gpu
GPU_ARCHS=${GPU_ARCHS:-sm_90}
ALL="build test cases sanitize costs fft kinds peaks certified frames batch devices memory peers targets thesis ncu"
[ -z "${PAIR_WITH-}" ] || ALL="$ALL pair"
PATH=$PATH:/usr/local/cuda/bin:$(echo /opt/nvidia/nsight-compute/*)
export TMATCH_PLUGIN_DIR="$PWD/$BUILD" PYTHONUNBUFFERED=1 XDG_CACHE_HOME=/dev/null PATH # by the costs that the tables are of
mkdir -p "$OUT" "$BUILD"
OUT=$(cd "$OUT" && pwd)
bench="$BUILD/bench/tmatch-bench"

phase_build() {
    { # calls beside each other build one after the other
        flock 9
        if [ -f "$BUILD/build.ninja" ]; then
            meson configure "$BUILD" -Dgpu_archs="$GPU_ARCHS"
        else
            meson setup "$BUILD" -Dbuildtype=release -Dcuda=enabled -Dgpu_archs="$GPU_ARCHS"
        fi && ninja -C "$BUILD"
    } 9>"$BUILD/lock"
}

phase_test() {
    meson test -C "$BUILD" --no-rebuild --print-errorlogs --no-suite bench
    status=$?
    grep -h -E -A1 '^# [0-9]+ cases|SKIP|^not ok' "$BUILD/meson-logs/testlog.txt"
    return "$status"
}

# Random cases of certified search, CASES in all or a few more, in as many processes at once as there are cores.
phase_cases() {
    rm -rf "$BUILD/cases" && mkdir "$BUILD/cases"
    TMATCH_TEST_CASES=$((${CASES:-20000} * 115 / 100 / 40)) # some scenes have no template
    export TMATCH_TEST_CASES
    seq 3001 3040 | xargs -P "$(nproc)" -L 1 bench/gpu.sh cases_one
    cat "$BUILD"/cases/*.log
    awk '/^# [0-9]+ cases/ { cases += $2; certified += $4; runs++ } /^not ok/ { differing++ }
        END { print "# " cases " cases, " certified " certified, " differing + 0 " differing; " runs " of 40 runs ended"
              exit differing > 0 || runs < 40 }' "$BUILD"/cases/*.log
}

cases_one() { # SEED
    TMATCH_TEST_SEED=$1 "$BUILD/tests/test_certified" cuda_random >"$BUILD/cases/$1.log" 2>&1
}

# racecheck at times loses track of a launch, memcheck of what it has to print, and they say so: that run says nothing of
# the program. It is made again, and one that never got through fails.
sanitize_one() { # TOOL PROGRAM:TESTS[:CASES]
    log="$BUILD/sanitize/$1-$2.log"
    start=$(date +%s)
    names=${2#*:}
    case $names in *:*) TMATCH_TEST_CASES=${names#*:} ;; esac
    barriers= # of a block, in shared memory: what synccheck finds out by itself is too few for wgmma_tall.cu
    [ "$1" != synccheck ] || barriers=--num-cuda-barriers=2048
    for attempt in 1 2 3; do
        compute-sanitizer --tool "$1" ${barriers:+"$barriers"} --error-exitcode 9 "$BUILD/tests/test_${2%%:*}" "${names%%:*}" >"$log" 2>&1
        result=$?
        grep -q -i 'internal sanitizer error\|internal error encountered' "$log" || break
        result=9
        echo "$2: run $attempt: the tool failed itself" >>"$log"
    done
    echo "$2: exit status $result" >>"$log"
    echo "$1 $2: $(($(date +%s) - start)) s, exit status $result"
}

# To start a program under a tool takes seconds, so each is started once; but of some tests racecheck and initcheck
# end with very few cases only, each by itself.
sanitize_tests() { # TOOL
    slow="device_frames:random_kinds,without,floats parts:cuda_random,cuda_kinds \
kinds:cuda_random,cuda_fft,cuda_cufft kinds_cuda:wide_windows,chunks f32:cuda_random,cuda_templates,cuda_chunks,cuda_fft,cuda_cufft"
    case $1 in
    racecheck | initcheck) slow="device_frames:random_kinds:1 parts:cuda_random:1 parts:cuda_kinds:1 kinds:cuda_random:1 kinds:cuda_fft:1 f32:cuda_random:1 f32:cuda_fft:1" ;;
    esac
    echo "${SANITIZE_TESTS:-$slow device_calls:many,frames,peaks,own_memory,little_memory poses_certified:cuda poses_large:cuda_random,cuda_large,cuda_below,cuda_few:3 certified:cuda \
kinds_cuda:wide_planes:3 kinds_cuda:pixels:3 kinds_cuda:pixels_bounded:8 kinds_cuda:masked_bounded:8 kinds_cuda:wide_bounded:8 kinds_cuda:small_masked:3 kinds_cuda:wide_masked:4 kinds_cuda:wide_rgb:4 kinds_cuda:parts:4 kinds_cuda:runs:9 rounded:cuda_random,cuda_frames:3 shared:random,leaves,twice poses:cuda_random property:cuda_random,cuda_many,cuda_groups,cuda_high_maps,cuda_tall_tiles,cuda_wide_random,cuda_bounded \
fft:cuda_fft_reference,cuda_fft_many,cuda_cufft_reference peaks:cuda pool:random_devices devices:random_kinds}"
}

# As many at once as there are cores: none of them measures.
phase_sanitize() {
    TMATCH_TEST_CASES=${SANITIZE_CASES:-60}
    TMATCH_TEST_SEED=${TMATCH_TEST_SEED:-1}
    export TMATCH_TEST_CASES TMATCH_TEST_SEED
    rm -rf "$BUILD/sanitize" && mkdir "$BUILD/sanitize"
    for tool in racecheck memcheck initcheck synccheck; do # racecheck takes longest
        for test in $(sanitize_tests "$tool"); do
            echo "sanitize_one $tool $test"
        done
    done | xargs -P "$(nproc)" -L 1 bench/gpu.sh
    status=0
    for tool in memcheck racecheck initcheck synccheck; do
        echo "== $tool"
        for test in $(sanitize_tests "$tool"); do
            log="$BUILD/sanitize/$tool-$test.log"
            tail -c 20000 "$log"
            # a run that tested nothing must not pass
            if grep -q -E 'exit status [1-9]|SKIP' "$log" || ! grep -q '^ok ' "$log"; then
                status=1
                echo "not clean: $log"
            fi
        done
    done
    return "$status"
}

# Refits the plan's costs for this GPU in src/cuda/costs.h and builds with them.
phase_costs() {
    "$bench" costs --devices cuda:0 --json "$OUT/costs-cuda.json" >/dev/null &&
        python3 bench/fit_costs.py "$OUT/costs-cuda.json" &&
        cp src/cuda/costs.h "$OUT/" &&
        ninja -C "$BUILD"
}

# Large templates: times beside cuFFT, the plan's choices, rounding errors, and the
# memory of the largest in a process of its own.
phase_fft() {
    ninja -C "$BUILD" tests/fft_error_cuda &&
        "$bench" match --devices cuda:0 --samples 11 --suite large --json "$OUT/large.json" &&
        "$bench" match --devices cuda:0 --samples 11 --suite crossing --json "$OUT/crossing.json" &&
        "$bench" match --devices cuda:0 --algorithms fft --samples 3 --best 16384,512 --json "$OUT/large-memory.json" &&
        "$bench" plan --devices cuda:0 --json "$OUT/plan-cuda.json" &&
        "$BUILD/tests/fft_error_cuda"
}

# Masks, colour, 16 bits and the other metrics, as multiples of LCC of 8-bit gray.
phase_kinds() {
    "$bench" formats --devices cuda:0 --algorithm direct --json "$OUT/formats.json" \
        1920x1080,32 1920x1080,21 1920x1080,64 2048,64 5020,21
}

# Several matches beside the best one.
phase_peaks() {
    "$bench" peaks --devices cuda:0 --json "$OUT/peaks.json" &&
        "$bench" peaks --devices cpu --json "$OUT/peaks-cpu.json" 1920x1080,32
}

# Certified search beside exhaustive search, on pictures; then in poses.
phase_certified() {
    python3 bench/certified.py --device cuda:0 --bench "$bench" --sizes 4096,5020 --crops 2 --rounds 15 --json "$OUT/certified.json" &&
        python3 bench/certified.py --device cuda:0 --calls --lib "$BUILD/libtmatch.so" --sizes 4096 --templates 64,21 --crops 1 --rounds 11 \
            --pictures camera.png,gravel.png,text.png --json "$OUT/certified-calls.json" &&
        python3 bench/poses_cuda.py --lib "$BUILD/libtmatch.so" --json "$OUT/poses-cuda.json" --cases angles scales
}

# Frames that are on the GPU already, in Python.
phase_frames() {
    PYTHONPATH="$BUILD/python" python3 bench/gpu_frames.py --rounds 3 --lib "$BUILD/libtmatch.so" --json "$OUT/gpu-frames.json"
}

# BATCH_FRAMES is how many; they are made anew. BATCH_RUNS may also have cpu, and long: all
# frames five times. 90 s on 16 cores, these 30 and 60 more.
phase_batch() {
    folder=$(mktemp -d -p /dev/shm) || return 1
    separator='['
    for run in ${BATCH_RUNS:-cuda}; do
        case $run in
        cuda) set -- --device cuda --repeats 7 ;;
        cpu) set -- --device cpu --repeats 3 ;;
        long) set -- --device cuda --repeats 1 --times 5 ;;
        *) echo "no such run: $run" && return 1 ;;
        esac
        if bench/batch.py --frames "${BATCH_FRAMES:-2000}" --folder "$folder/frames" \
            --json "$folder/figures.json" "$@" "$BUILD"; then
            { echo "$separator" && cat "$folder/figures.json"; } >>"$OUT/batch.json"
            separator=,
        else
            status=1
        fi
    done
    [ "$separator" = , ] && echo ']' >>"$OUT/batch.json"
    rm -rf "$folder"
    return "${status:-0}"
}

# One frame over 1, 2, 4, ... GPUs, as many as there are.
phase_devices() {
    "$bench" devices --json "$OUT/devices.json" 32768,64 8192,64 &&
        "$bench" devices --map --samples 9 --json "$OUT/devices-map.json" 32768,64 &&
        "$bench" devices --pageable --samples 5 --json "$OUT/devices-pageable.json" 32768,64
}

# Frames larger than the memory that is allowed; MEMORY_SIZE is their width and height.
phase_memory() {
    bench/memory.py "$PWD/$BUILD" --size "${MEMORY_SIZE:-60000}" --device cuda:0 >"$OUT/memory.json"
    status=$?
    cat "$OUT/memory.json"
    return "$status"
}

phase_peers() {
    # shellcheck disable=SC2086 # the words are sizes
    python3 bench/peers.py --json "$OUT/peers.json" --lib "$BUILD/libtmatch.so" ${PEER_SIZES-}
}

phase_targets() {
    set --
    [ -f "$OUT/peers.json" ] && set -- --peers "$OUT/peers.json"
    "$bench" match --devices cpu,cuda:0 --suite targets --suite peers --json "$OUT/targets.json" "$@"
}

# One CPU thread too: the tables state the speed-up over it.
phase_thesis() {
    "$bench" match --devices cpu:1,cpu,cuda:0 --suite thesis --json "$OUT/thesis.json"
}

# The first launches are the checked matches, without and with the map.
phase_ncu() {
    for size in ${NCU_SIZES:-5020,21 4096,64 4096,128}; do
        echo "== $size"
        ncu --clock-control none --set basic --section SpeedOfLight --section WarpStateStats \
            --section MemoryWorkloadAnalysis --section ComputeWorkloadAnalysis \
            -k "regex:${NCU_KERNELS:-.*}" -c "${NCU_COUNT:-6}" \
            "$bench" match --devices cuda:0 --algorithms direct --samples 1 --budget 0 "$size"
    done
}

# The programs of PAIR_WITH and of this tree in turns, on the GPU and on one thread of the CPU.
phase_pair() {
    other="$PAIR_WITH/$BUILD"
    [ -f "$other/build.ninja" ] || meson setup "$other" "$PAIR_WITH" -Dbuildtype=release -Dcuda=enabled \
        -Dgpu_archs="$GPU_ARCHS" -Dtests=false -Dbench=false
    unset TMATCH_PLUGIN_DIR # each has its own plugin beside it
    ninja -C "$other" &&
        bench/pair.py --device cuda:0 --json "$OUT/pair-cuda.json" "$other/tmatch" "$BUILD/tmatch" &&
        bench/pair.py --device cpu --json "$OUT/pair-cpu.json" "$other/tmatch" "$BUILD/tmatch"
}

log_of() {
    case $1 in
    build | test | cases | sanitize | costs) echo "$OUT/build-and-tests.txt" ;;
    ncu) echo "$OUT/ncu.txt" ;;
    *) echo "$OUT/bench.txt" ;;
    esac
}

limit_of() {
    case $1 in
    build) echo "${LIMIT_BUILD:-240}" ;;
    test) echo "${LIMIT_TEST:-240}" ;;
    sanitize) echo "${LIMIT_SANITIZE:-200}" ;;
    costs) echo "${LIMIT_COSTS:-120}" ;;
    fft) echo "${LIMIT_FFT:-180}" ;;
    peaks) echo "${LIMIT_PEAKS:-60}" ;;
    certified) echo "${LIMIT_CERTIFIED:-300}" ;;
    batch) echo "${LIMIT_BATCH:-240}" ;;
    peers) echo "${LIMIT_PEERS:-240}" ;;
    targets) echo "${LIMIT_TARGETS:-180}" ;;
    thesis) echo "${LIMIT_THESIS:-420}" ;;
    ncu) echo "${LIMIT_NCU:-180}" ;;
    pair) echo "${LIMIT_PAIR:-300}" ;;
    *) echo "${LIMIT_OTHERS:-120}" ;;
    esac
}

# Called by itself, under timeout or by xargs.
case ${1-} in
phase_* | sanitize_one | cases_one)
    "$@"
    exit
    ;;
esac

wanted=" ${*:-$ALL} "
for name in $wanted; do
    case " $ALL " in
    *" $name "*) ;;
    *)
        echo "gpu.sh: no such phase: $name; any of $ALL" >&2
        exit 2
        ;;
    esac
done
wanted=" build$wanted"

failed=0
summary="$OUT/summary.txt"
: >"$summary"
for name in $ALL; do
    case $wanted in *" $name "*) ;; *) continue ;; esac
    log=$(log_of "$name")
    start=$(date +%s)
    echo "==== $name" >>"$log"
    timeout -k 10 "$(limit_of "$name")" bench/gpu.sh "phase_$name" >>"$log" 2>&1
    status=$?
    case $status in
    0) words=ok ;;
    124 | 137) words="STOPPED at its limit of $(limit_of "$name") s" ;;
    *) words="FAILED, exit status $status" ;;
    esac
    [ $status -eq 0 ] || failed=1
    printf '%-9s %4d s  %s\n' "$name" $(($(date +%s) - start)) "$words" >>"$summary"
    [ "$name" = build ] && [ $status -ne 0 ] && break
done

# removed as they are packed
find "$OUT" -maxdepth 1 \( -name '*.json*' -o -name costs.h \) -printf '%f\n' |
    tar -C "$OUT" --remove-files -cf "$OUT/results.tar" -T -
for log in "$OUT/build-and-tests.txt" "$OUT/bench.txt" "$OUT/ncu.txt"; do
    if [ -f "$log" ] && [ "$(wc -c <"$log")" -gt 8000000 ]; then
        tail -c 8000000 "$log" >"$log.part" && mv "$log.part" "$log"
    fi
done
{
    if [ -f "$OUT/build-and-tests.txt" ]; then
        grep -E 'error:|^FAILED|^(Ok|Fail|Skipped|Timeout): |^not ok|SKIP|^# [0-9]+ cases|^== |ERROR SUMMARY|RACECHECK SUMMARY|: exit status' \
            "$OUT/build-and-tests.txt" | head -60
        grep '^not clean: ' "$OUT/build-and-tests.txt"
    fi
    if [ -f "$OUT/bench.txt" ]; then
        grep -E '^tmatch |new/old|^tmatch-bench: |^cuda:|^device copy|^missing|differs|^[0-9]+ devices? *: |"peak_rss_bytes"' "$OUT/bench.txt"
        awk '/^(thesis|grid):/ { name = ""; next } /^(targets|peers|large|crossing|sizes): / { name = $0 }
             /^  cuda:[0-9]+ / && name { if (name != last) print name; last = name; print }' "$OUT/bench.txt"
    fi
    if [ -f "$OUT/ncu.txt" ]; then
        grep -E '^== |^  [a-z_A-Z]+.*Context|Duration|(Memory|Compute \(SM\)|DRAM) Throughput|Registers Per|Achieved Occ' \
            "$OUT/ncu.txt" | head -70
    fi
} >>"$summary.tail"
cat "$summary.tail" "$summary"
cat "$summary.tail" >>"$summary"
rm -f "$summary.tail"
exit $failed
