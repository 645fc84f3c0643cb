# SPDX-License-Identifier: MIT
# A CUDA backend whose file was cut short is an error by name; without --device the CPU matches.
data camera.png
export TMATCH_PLUGIN_DIR=.
for kib in 0 1 4 16 64 128; do
    head -c ${kib}K "$TMATCH_FAKE_PLUGIN_DIR/libtmatch-cuda.so" >libtmatch-cuda.so
    fail --device cuda camera.png 'camera.png[20x20+101+202]'
done
try camera.png 'camera.png[20x20+101+202]'
tmatch --list-devices | grep -o 'cuda.*'
