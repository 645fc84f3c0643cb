# SPDX-License-Identifier: MIT
# where: test -e "$TMATCH_EMULATED_DIR/nvidia/fake-nvjpeg.so"
# A log goes on with what the same decoder has decoded: this nvJPEG's samples differ a little.
data patch.jpg
fake_nvidia
export FAKE_NVJPEG=rounding
part='patch.jpg[12x10+40+30]'
for i in 1 2 3; do
    cp patch.jpg "frame$i.jpg"
done
set -- --device cuda --resume log --roi 0,0,50,50 -t "$part" frame1.jpg frame2.jpg frame3.jpg
count() { tmatch "$@" 2>&1 >out | grep -o '^tmatch: [0-9]* frames.*' | sed 's/; [0-9].*//'; grep -c . log; cat out; }
count "$@"
count --decoder libjpeg "$@"
count --decoder nvjpeg "$@"
count --decoder nvjpeg "$@"
count --decoder auto "$@"
count --decoder auto "$@"
