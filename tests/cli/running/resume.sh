# SPDX-License-Identifier: MIT
# A log of what is done.
mkdir frames
for i in 1 2 3 4 5 6 7 8 9; do
    tmatch -q --dump-template frames/$i.png "$TMATCH_DATA_DIR/camera.png" \
        "$TMATCH_DATA_DIR/camera.png[90x90+${i}0+${i}5]" >/dev/null
done
echo nonsense >frames/5.png
ln -s gone.png frames/6b.png
cp frames/1.png one.png
cp frames/2.png two.png
totals() { # of the messages, without times
    sed 's/; [0-9].*//'
}
set -- -t 'one.png[20x20+1+2]' --min-score 0.9 --device cpu --resume log frames
ids() {
    sed 's/,"id":"[0-9a-f]*"/,ID/; s/,"sum":"[0-9a-f]*"}$/,SUM}/'
}
try "$@" 2>&1 | totals
ids <log
# All is done but for the link, which may lead somewhere another time: the status is
# the same.
try "$@" 2>&1 | totals
cp log whole
# One line is torn, one frame has changed, one is new.
head -n 10 whole | head -c -20 >log
touch frames/1.png
cp one.png frames/3b.png
try "$@" 2>&1 | totals
tail -n 6 log | ids
# Other options, another template: other results.
tmatch "$@" --domain same 2>&1 | totals
tmatch "$@" -t two.png 2>&1 | totals
# What says only how: nothing to do. The order of the options is the same.
tmatch --format json --threads 1 -v --resume log --min-score 0.9 --device cpu -t 'one.png[20x20+1+2]' \
    frames 2>/dev/null
# Where an option is given twice, the last is meant.
try "$@" -q -n 3 -n 1 2>/dev/null | wc -l
try "$@" -q -n 1 -n 3 2>/dev/null | wc -l
try "$@" -q -n 3 2>/dev/null | wc -l
rm log
tmatch -q "$@" >/dev/null 2>&1
cp log whole
sort whole >whole.sorted
# A power cut may leave zeros at the end.
head -c 200 /dev/zero >>log
try "$@" 2>&1 | totals
# Damaged lines do not count, and are done again: a digit is another one, zeros are where
# a line was, two lines have become one, a sum is cut off. One note says how many.
sed '1s/"x":1/"x":7/; 4s/"id":"./"id":"z/; 6{N;s/\n/ /;}; 9s/,"sum".*/}garbage/' whole |
    sed '3s/.*/\x00\x00\x00\x00/' >log
try "$@" 2>&1 | totals
try -q "$@" 2>/dev/null
grep -cvaxF -f whole log
sort -u log | grep -axF -f whole | cmp - whole.sorted
# Older logs have no sums: their lines are to be JSON.
sed 's/,"sum":"[0-9a-f]*"//' whole >log
try "$@" 2>&1 | totals
sed 's/,"sum":"[0-9a-f]*"//; 1s/:\[/:[[/; 2s/}$//; 3s/,/\x00/; 4s/"template"/"t"/; 7s/"x":/"x":x/' whole >log
try "$@" 2>&1 | totals
cp whole log
# Some other file is left alone.
echo 'dear diary' >diary
seq 1000 >numbers
fail -q "$@" --resume numbers
printf '{"fr' >torn
fail -q "$@" --resume diary
cat diary
tmatch -q "$@" --resume torn >/dev/null 2>&1
cmp torn whole && echo whole again
fail "$@" --resume frames
fail "$@" --resume no/log
fail "$@" --resume /dev/null
# One run at a time.
flock log -c 'tmatch --device cpu --resume log -t one.png frames; echo "status $?"' 2>&1
# One that is ending, as after a kill, is waited for.
flock log -c 'touch held; sleep 0.3' &
until [ -e held ]; do sleep 0.01; done
try "$@" 2>&1 | totals
wait
# A disk that is full: the log stays whole. (A limit stands for it: too large a file.)
rm log
(
    ulimit -f 1
    tmatch "$@" 2>&1
) | totals
ids <log | tail -n 1
tmatch -q "$@" >/dev/null 2>&1
cmp log whole && echo whole again
# A frame's mask counts by its content, where it comes by a pipe.
rm log
for pixel in 0 1; do
    (echo P1 90 90; yes $pixel | head -n 8100) |
        try -q -t two.png --device cpu --resume log --frame-mask - frames/[12].png 2>/dev/null
done
# A broken template fails with every frame once, until it changes; one that is not
# there may come.
mkdir templates
cp one.png two.png templates
echo nonsense >templates/three.png
printf 'P2 2 2 255 7 7 7 7\n' >templates/flat.pgm
rm log
for i in 1 2; do
    try -q -t templates --device cpu --resume log frames/[1-5].png 2>/dev/null | sort | uniq -c
    wc -l <log
done
cp one.png templates/three.png
try -q -t templates --device cpu --resume log frames/[1-5].png 2>/dev/null | wc -l
wc -l <log
try -q -t templates -t gone.png --device cpu --resume log frames/[1-5].png 2>/dev/null | wc -l
wc -l <log
# A picture that could not be written is written when there is room for it.
rm log
echo >seen
mkdir -p deeper/seen
cp one.png deeper/seen
for i in 1 2; do
    try -r -t two.png --device cpu --resume log -o . deeper 2>&1 | totals
    rm -f seen
done
ls seen
ids <log
# Pictures that cannot be compared fail once.
rm log
(echo P5 90 90 65535; head -c 16200 /dev/zero) >deep.pgm
(echo P1 90 90; yes 1 | head -n 8100) >nowhere.pbm
for i in 1 2; do
    try -q -t two.png --device cpu --resume log deep.pgm one.png 2>&1
    try -q -t two.png --device cpu --resume log --frame-mask nowhere.pbm one.png 2>&1
done
wc -l <log
