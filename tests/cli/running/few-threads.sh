# SPDX-License-Identifier: MIT
# Where a limit leaves fewer threads than are wanted, it works with those; it takes two besides the
# first, and three for a frame by rows or for pictures from a pipe.
data camera.png
template='camera.png[50x50+1+2]'
limited() { # THREADS OPTION...
    most=$1
    shift
    LD_PRELOAD=$TMATCH_FAKE_PLUGIN_DIR/libfew-threads.so TMATCH_TEST_THREADS=$most \
        ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 try -q "$@" 2>&1
}
for count in 0 1 2 3 4 7; do
    echo "$count:"
    limited $count --device cpu --threads 8 camera.png "$template"
    limited $count --device cpu --threads 12 --in-flight 3 -t "$template" camera.png camera.png camera.png
done
limited 3 --device cpu --threads 8 -n 3 --subpixel --min-score 0.8 camera.png "$template"
limited 3 --device cpu --threads 8 --depth 16 camera.png "$template"
limited 3 --device cpu --threads 8 --depth float camera.png "$template"
# A frame by rows, and pictures from a pipe.
for count in 2 3; do
    limited $count --device cpu --max-memory 100K camera.png "$template"
    cat camera.png camera.png | limited $count --device cpu - "$template"
done
# Devices.
export TMATCH_PLUGIN_DIR="$TMATCH_FAKE_PLUGIN_DIR"
for count in 2 3 4; do
    limited $count --device cuda:0,1 camera.png "$template"
done
