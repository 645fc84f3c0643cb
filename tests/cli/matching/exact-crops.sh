# SPDX-License-Identifier: MIT
# An exact crop scores exactly 1 where it was cut out, whatever the format.
data camera.png astronaut.png rocket.jpg text.png
tmatch camera.png 'camera.png[64x48+200+100]'
tmatch astronaut.png 'astronaut.png[33x21+200+90]'
tmatch rocket.jpg 'rocket.jpg[40x40+300+77]'
tmatch text.png 'text.png[31x17+0+155]'

for y in 0 1 2 3 4 5 6 7 8 9; do
    for x in 0 1 2 3 4 5 6 7 8 9 10 11; do
        printf '%d ' $(((x * x * 7 + y * y * 13 + x * y * 29) % 256))
    done
    echo
done >matrix.txt
tmatch matrix.txt 'matrix.txt[4x3+6+5]'

# The negative of a picture has the score -1.
printf '1 2 3\n4 5 6\n' >one.txt
printf '254 253 252\n251 250 249\n' >negative.txt
tmatch one.txt negative.txt
