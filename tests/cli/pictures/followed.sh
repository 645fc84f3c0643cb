# SPDX-License-Identifier: MIT
# needs: libtiff
# A file that holds more pictures than are read is told, and a mask is one picture.
data camera.png rocket.jpg
pages=$(dirname "$0")/pictures/pages.tif # beside lib.sh, which $0 is
cp "$pages" pages.tif
crop='camera.png[20x20+100+200]'
cat camera.png rocket.jpg >both.png
cat rocket.jpg camera.png >both.jpg
cat pages.tif camera.png >both.tif
array() {
    printf '\223NUMPY\1\0\73\0%s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3)} "
    printf '%s' "$1"
}
(array abcabd && array badbab) >both.npy
for file in both.png both.jpg; do
    try "$file" "$crop" 2>&1 | grep -v weak
    try -q "$file" "$crop"
    try -q -t "$crop" - <"$file"
done
try -t 'pages.tif#1[9x9+0+0]' both.tif 2>&1 | grep -e follows -e status
cat both.tif | try -t 'pages.tif#1[9x9+0+0]' - 2>&1
try both.npy 'both.npy[2x2+0+0]' 2>&1
cat both.npy | try - 'both.npy[2x2+0+0]' 2>&1 | grep -v -e weak -e ' frames: '
mkdir folder
cp both.png folder
try folder "$crop" 2>&1 | grep -e holds -e status
cat both.tif | fail camera.png -
echo '# masks'
fail --mask pages.tif camera.png camera.png
fail --frame-mask pages.tif camera.png camera.png
fail --mask - camera.png camera.png <pages.tif
cat pages.tif | fail --mask - camera.png camera.png
fail --mask 'pages.tif#4' camera.png camera.png
fail --mask 'pages.tif#2[30x1+0+0]' camera.png camera.png
fail --mask 'pages.tif#2[10x10+0+0]' camera.png "$crop"
try -q --mask 'pages.tif#2' pages.tif 'pages.tif#3'
try -q --mask 'pages.tif#2[9x9+2+3]' pages.tif 'pages.tif#3[9x9+2+3]'
try --mask both.png camera.png camera.png
try -q --frame-mask both.png camera.png "$crop"
fail --mask 'pages.tif#2' -o pages.tif pages.tif 'pages.tif#3'
bitmap 2000 3000 >wide.pbm
fail --max-memory 4M --mask wide.pbm camera.png "$crop"
fail --max-memory 4M --frame-mask wide.pbm camera.png "$crop"
fail --max-memory 40M --mask wide.pbm camera.png "$crop"
