# SPDX-License-Identifier: MIT
# A device that hangs: it is named, others or the CPU take over, and the program ends.
data camera.png
export TMATCH_PLUGIN_DIR="$TMATCH_FAKE_PLUGIN_DIR"
for i in $(seq 40); do
    echo camera.png
done >list
set -- -t 'camera.png[20x20+101+202]'
tmatch -q --device cpu "$@" --files-from list >cpu
# In a match, and as it is opened.
TMATCH_FAULT=1:4:-1 try --device cuda:1 --device-timeout 0.2 "$@" camera.png 2>&1
TMATCH_FAULT=1:1:-1 fail --device cuda:0,1 --device-timeout 0.2 "$@" camera.png
# One of two that take whole frames. If it is asked again, it is not there any more.
TMATCH_FAULT=1:9:-1 tmatch --device cuda:0,1 --device-timeout 0.2 "$@" --files-from list --resume log 2>err |
    cmp - cpu
sed -n 's/; [0-9].*//; s/camera.png: //; s/^tmatch: //p' err | grep -v 'no CUDA device is left' | sort -u
wc -l <log
# As CUDA itself is started, for one frame or for many.
export TMATCH_FAKE_COUNT_HANGS=1
fail --device cuda:1 --device-timeout 0.2 "$@" camera.png
try --device cuda:0,1 --device-timeout 0.2 "$@" --files-from list 2>&1 | sort -u
fail --device cuda --device-timeout 0.2 "$@" --files-from list
unset TMATCH_FAKE_COUNT_HANGS
for seconds in 0 -1 nan 2s; do
    fail --device-timeout "$seconds" a b
done
