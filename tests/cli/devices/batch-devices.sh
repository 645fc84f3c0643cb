# SPDX-License-Identifier: MIT
# where: ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# Many frames: each device gets whole ones, while other threads read. The results
# are the CPU's.
data camera.png brick.png
export TMATCH_PLUGIN_DIR="$TMATCH_FAKE_PLUGIN_DIR"
for i in $(seq 20); do
    printf 'camera.png\nbrick.png\n'
done >list
set -- -t 'camera.png[20x20+101+202]' -t 'brick.png[30x10+50+60]' --files-from list
tmatch -q --device cpu "$@" >cpu
for device in cuda:0 cuda:0,2,3; do
    tmatch -v --threads 3 --device $device "$@" 2>err | cmp - cpu
    sed -n 's/^tmatch: \([0-9]* frames are.*\)/\1/p; s/.*: direct on \(.*\): as asked.*/\1/p' err | sed "s/^cuda:[023]$/cuda:N/" | uniq
done
tmatch -q --device cuda --in-flight 1 "$@" | cmp - cpu
# With pictures to write.
tmatch -q --device cuda --threads 5 -o seen --crops crops -t 'brick.png[30x10+50+60]' .
find seen crops -type f | LC_ALL=C sort
# One that fails hands its work to the CPU.
TMATCH_FAULT=2:9:719 tmatch --device cuda:2 "$@" 2>err | cmp - cpu
sed 's/; [0-9].*//; s/[a-z]*\.png/FRAME/' err | sort -u
