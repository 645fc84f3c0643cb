# SPDX-License-Identifier: MIT
# What is drawn on frames: the matches stay as they are, and a legend hides none.
data astronaut.png camera.png
size() {
    tmatch -v "$1" "$1[9x9+0+0]" 2>&1 | sed -n "s/^tmatch: \($1: PNG, [0-9x]*\)$/\1/p"
}
same() {
    tmatch --min-score 1 "$1" "$2" | sed 's/ template=.*//'
}
# Several templates have a legend: in a corner where it has room,
try -q -o corner.png -t 'camera.png[31x33+300+200]' -t 'camera.png[20x40+340+210]' camera.png
size corner.png
same corner.png 'camera.png[31x33+300+200]'
same corner.png 'camera.png[20x40+340+210]'
# below the picture where it has none.
cp camera.png 'a camera that has a long name, as files have.png'
try -q -o below.png -t 'a camera that has a long name, as files have.png[31x33+300+200]' -t 'camera.png[20x40+340+210]' camera.png
size below.png
same below.png 'camera.png[31x33+300+200]'
# It lists what was found.
try -q -o one.png --min-score 0.9 -t 'camera.png[31x33+300+200]' -t 'astronaut.png[50x40+30+50]' camera.png
size one.png
# More templates than colours.
set --
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    set -- "$@" -t "camera.png[20x20+$((38 * i))+400]"
done
tmatch -q -o many.png "$@" camera.png | wc -l
size many.png
same many.png 'camera.png[20x20+228+400]'
# At each edge, and over it.
for place in 0+0 456+0 0+456 456+456; do
    tmatch -q -o edge.png camera.png "camera.png[56x56+$place]"
    same edge.png 'camera.png[100x100+200+200]'
done
try -q --domain full -o over.png 'camera.png[300x300+0+0]' 'camera.png[60x60+270+270]'
size over.png
# Twice the same.
tmatch -q -o again.png "$@" camera.png >again
cmp many.png again.png
