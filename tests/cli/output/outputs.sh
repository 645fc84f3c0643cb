# SPDX-License-Identifier: MIT
# Files that come with a match. Existing ones are replaced.
data astronaut.png camera.png
template='astronaut.png[32x24+300+200]'
echo old >seen.png
tmatch -o seen.png --map map.npy --dump-template dump.txt astronaut.png "$template"
tmatch -q -o seen.JPG --dump-template dump.png astronaut.png "$template"
ls
head -c 4 seen.png | od -An -c
head -c 3 seen.JPG | od -An -tx1
# The frame has its own size and colours: far from the match it is unchanged.
tmatch --min-score 1 seen.png 'astronaut.png[60x60+20+420]'
tmatch -v seen.png 'astronaut.png[60x60+20+420]' 2>&1 >/dev/null | grep -x 'tmatch: seen.png: PNG, 512x512'
# A match of that size is as it was; around it something was drawn.
tmatch --min-score 1 seen.png "$template"
tmatch --min-score 0.999 seen.png 'astronaut.png[52x44+290+190]'
echo "status $?"
# Mean 0 (in millionths), norm 1, 24 rows of 32.
awk '{ for (i = 1; i <= NF; i++) { n++; s += $i; q += $i * $i } }
     END { printf "%d rows, %d numbers, mean %d, norm %.6f\n", NR, n, s / n * 1e6, sqrt(q) }' dump.txt
# The picture of it correlates with what it was made of, but for its rounding.
tmatch --min-score 0.9999 astronaut.png dump.png | sed 's/ score=.*//'
