# SPDX-License-Identifier: MIT
# Each: one line that names the file and the reason, status 2, no file.
data camera.png
template='camera.png[20x20+1+2]'
mkdir folder
: >empty.png
head -c 5000 "$TMATCH_DATA_DIR/camera.png" >truncated.png
head -c 5000 "$TMATCH_DATA_DIR/rocket.jpg" >truncated.jpg
head -c 20 "$TMATCH_DATA_DIR/camera.png" >header.png
echo 'this is prose' >text.png
printf '1 2\n3\n' >ragged.txt
printf '1 2\n3 4e99\n' >range.txt
printf 'P5\n0 0\n255\n' >zero.pgm
printf 'P5\n4 4\n255\n12345' >short.pgm
printf 'P5\n3000000000 3000000000\n255\n' >bomb.pgm
printf 'P5\n4 4\n65535\n12345678901234567890123456789012' >deep.pgm

for frame in gone.png folder empty.png truncated.png truncated.jpg header.png text.png ragged.txt \
    range.txt zero.pgm short.pgm bomb.pgm deep.pgm '' no/such/folder.png camera.png/x.png \
    'camera.png[20x20]' 'camera.png[20x20+1' 'camera.png[0x4+1+1]' 'camera.png[20x20+500+0]' \
    'camera.png[9999999999999999999x1+0+0]' 'camera.png[10x19+0+0]'; do
    fail -o seen.png --map map.npy "$frame" "$template"
done
fail --max-pixels 262143 camera.png "$template"
try --max-pixels 262144 camera.png "$template"
ls
