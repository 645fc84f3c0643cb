# SPDX-License-Identifier: MIT
# needs: libavformat
# runs: ffmpeg
# where: test -e "$TMATCH_EMULATED_DIR/nvidia/fake-nvjpeg.so"
# A driver that does not decode movies is an error by name, once a movie; other frames are matched. Y4M needs no decoder.
fake_nvidia
ffmpeg -v error -nostdin -f lavfi -i testsrc2=s=64x48:r=10:d=0.5 -c:v mpeg4 -q:v 2 clip.mp4
ffmpeg -v error -nostdin -i clip.mp4 -pix_fmt yuv420p clip.y4m
tmatch -q --device cpu clip.y4m 'clip.mp4#2[12x10+20+10]' >host
try --device cuda --decoder nvdec clip.mp4 'clip.mp4#2[12x10+20+10]' 2>&1 | sed 's/driver: .*/driver: .../'
tmatch -q --device cuda --decoder nvdec clip.y4m 'clip.mp4#2[12x10+20+10]' | cmp - host
tmatch -q --device cuda --decoder nvdec 'clip.mp4#3' 'clip.mp4#2[12x10+20+10]'
grep '#3' host
