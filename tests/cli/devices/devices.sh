# SPDX-License-Identifier: MIT
# Several devices, which are the tests' own; from the third frame on their speed is
# known, and each gets rows. The first is slow: so the frames are worth sharing. One
# thread reads: so the third frame is the third that is matched.
data camera.png
export TMATCH_PLUGIN_DIR="$TMATCH_FAKE_PLUGIN_DIR" TMATCH_FAKE_SLOW=0:20
crop='camera.png[20x20+101+202]'
tmatch -v --threads 1 --device cuda:0,2,3 -t "$crop" camera.png camera.png camera.png 2>err
grep -c ': direct on cuda:0,2,3: as asked; estimates: direct ' err
grep -o 'cuda:[0-9]: rows=[0-9]* ' err | sed -n '3,$s/rows=[1-9][0-9]*/some rows/p' | sort
# One that fails is not used again.
TMATCH_FAULT=2:5:214 tmatch --device cuda:0,2,3 -t "$crop" camera.png camera.png camera.png camera.png
# The CPU is the last.
TMATCH_FAULT=1:2:719 try --device cuda:1 camera.png "$crop"
TMATCH_FAULT=1:2:719 try -q --device cuda:1 camera.png "$crop"
TMATCH_FAULT=1:1:719 fail --device cuda:1 camera.png "$crop"
fail --device cuda:1,4 camera.png "$crop"
TMATCH_FAKE_DEVICES=0 fail --device cuda camera.png "$crop"
fail --algorithm cufft camera.png "$crop"
