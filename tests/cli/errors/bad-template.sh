# SPDX-License-Identifier: MIT
data camera.png
echo 7 >pixel.txt
printf '7 7\n7 7\n' >flat.txt
printf 'P5\n4097 2048\n255\n' >large.pgm
head -c $((4097 * 2048)) /dev/zero >>large.pgm
: >empty.png
for template in pixel.txt flat.txt large.pgm empty.png gone.png 'camera.png[20x20+500+0]' \
    'camera.png[20y20]' camera.png/; do
    fail -o seen.png --map map.npy --dump-template dump.txt camera.png "$template"
done
fail 'camera.png[100x30+0+0]' 'camera.png[20x31+0+0]'
fail --domain full 'camera.png[30x100+0+0]' 'camera.png[31x20+0+0]'
# None of its samples counts, though they differ.
printf '1 2\n3 4\n' >counts.txt
printf '0 0\n0 0\n' >none.txt
fail --mask none.txt camera.png counts.txt
# Plain correlation has no quarrel with a flat template.
try --metric ccorr camera.png flat.txt
ls
