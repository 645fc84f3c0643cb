# SPDX-License-Identifier: MIT
# Helpers of the golden tests; sourced before each.

# Puts data pictures into the test's folder.
data() {
    for picture; do
        ln -s "$TMATCH_DATA_DIR/$picture" .
    done
}

# Prints a picture in PBM whose bits are 0, but for the first where that is given.
bitmap() { # WIDTH HEIGHT [FIRST]
    printf 'P1 %d %d %d %s' "$1" "$2" "${3:-0}" "$(printf '0 %.0s' $(seq $(($1 * $2 - 1))))"
}

# Runs tmatch and prints its exit status on standard output.
try() {
    tmatch "$@"
    echo "status $?"
}

# The same for an error: standard error must be one line.
fail() {
    tmatch "$@" 2>fail.err
    echo "status $?"
    [ "$(wc -l <fail.err)" -eq 1 ] || echo "not one line on standard error"
    cat fail.err
    rm fail.err
}

# Takes out of json lines what is not the same everywhere: the times, and how many windows were
# scored, which depends on what the machine is quick at.
without_times() {
    sed -e 's/"time_ms":{[^}]*}/"time_ms":{}/' \
        -e 's/"search":"[a-z]*","scored":[0-9.e-]*/"search":{}/'
}

# Waits for a command to succeed. A minute means never, also on a busy machine.
wait_until() {
    for n in $(seq 1200); do
        "$@" && return
        sleep 0.05
    done
    echo "never: $*"
}

# Lets the program find emulated CUDA devices, and for them a driver, an NVDEC and an nvJPEG.
fake_nvidia() {
    mkdir nvidia
    ln -s "$TMATCH_EMULATED_DIR/nvidia/fake-cuda.so" nvidia/libcuda.so.1
    ln -s "$TMATCH_EMULATED_DIR/nvidia/fake-nvcuvid.so" nvidia/libnvcuvid.so.1
    ln -s "$TMATCH_EMULATED_DIR/nvidia/fake-nvjpeg.so" nvidia/libnvjpeg.so.13
    export TMATCH_PLUGIN_DIR="$TMATCH_EMULATED_DIR" LD_LIBRARY_PATH="$PWD/nvidia"
}
