# SPDX-License-Identifier: MIT
# A best place that may be chance says so, in every form of output and alike.
data astronaut.png brick.png camera.png chelsea.png coffee.png gravel.png patch.jpg rocket.jpg
weak() { # JSON lines to "FRAME TEMPLATE weak" or "... fine"
    sed 's/{"frame":"\([^"]*\)","template":"\([^"]*\)",.*"score":\([0-9.-]*\),"margin":\([^}]*\)}].*/\1 \2 \3 \4 &/' |
        awk '{ print $1, $2, $3, $4, /],"weak":true/ ? "weak" : "fine" }'
}

echo "# present: recompressed, and with other contrast and rounding"
tmatch --format json astronaut.png patch.jpg | weak
for crop in 'brick.png[64x48+100+100]' 'camera.png[24x24+200+90]' 'chelsea.png[32x32+150+100]' 'coffee.png[48x48+300+200]' \
    'gravel.png[16x40+30+40]' 'rocket.jpg[40x40+300+200]'; do
    frame=${crop%%\[*}
    tmatch -q --dump-template template.png "$frame" "$crop" >/dev/null
    tmatch --format json "$frame" template.png | weak
done
echo "# absent: of another picture"
for crop in 'brick.png[64x48+100+100]' 'camera.png[24x24+200+90]' 'chelsea.png[32x32+150+100]' 'coffee.png[48x48+300+200]' \
    'gravel.png[16x40+30+40]' 'astronaut.png[100x100+200+50]'; do
    tmatch -q --format json rocket.jpg "$crop" | weak
done

# A pattern of noise, and the same with so much other noise that the score alone does not decide.
noise() { # SEED WIDTH HEIGHT
    awk -v s="$1" -v w="$2" -v h="$3" 'BEGIN { print "P2", w, h, 255
        for (i = 0; i < w * h; i++) { s = (s * 16807) % 2147483647; print int(s / 65536) % 200 + 20 } }'
}
noise 7 60 50 >frame.pgm
noise 8 60 50 >other.pgm
awk 'BEGIN { print "P2 16 12 255"; s = 5 }
    NR > 1 && (n = NR - 2) % 60 >= 20 && n % 60 < 36 && n >= 60 * 15 && n < 60 * 27 {
        s = (s * 16807) % 2147483647; print $1 + int(s / 65536) % 90 - 45 < 0 ? 0 : $1 + int(s / 65536) % 90 - 45 }' \
    frame.pgm >noisy.pgm
echo "# what decides is the next best place, in one run and in a batch"
try frame.pgm noisy.pgm
try other.pgm noisy.pgm
try --format csv other.pgm noisy.pgm
try -q other.pgm noisy.pgm
tmatch -q --format json -t noisy.pgm frame.pgm other.pgm | weak
for algorithm in direct fft; do
    tmatch -q --algorithm $algorithm --format json -t noisy.pgm frame.pgm other.pgm | weak
done
try -t noisy.pgm frame.pgm other.pgm frame.pgm other.pgm other.pgm
set -- -t 'chelsea.png[32x32+150+100]' rocket.jpg chelsea.png rocket.jpg brick.png
try "$@"
tmatch -q --format json "$@" | weak
try --verify --roi 200,200,120,100 rocket.jpg 'chelsea.png[32x32+150+100]'
echo "# where a frame comes by rows nothing is known of the next place"
try --max-memory 200K rocket.jpg 'chelsea.png[32x32+150+100]'
try --max-memory 200K camera.png 'chelsea.png[64x48+200+100]'
try --max-memory 200K camera.png 'camera.png[20x20+100+100]'
tmatch -q --max-memory 200K --format json camera.png 'chelsea.png[20x20+1+2]' | weak

echo "# in the drawing the box is dashed"
tmatch -q -o weak.png other.pgm noisy.pgm
tmatch -q --min-score=-1 -o asked.png other.pgm noisy.pgm
cmp -s weak.png asked.png || echo another picture

echo "# several: weighed against what is not among them"
try -n 3 frame.pgm noisy.pgm
tmatch -q -n 3 --format json frame.pgm noisy.pgm | without_times
tmatch -q -n 2 --format json other.pgm noisy.pgm | without_times
try -n 2 other.pgm noisy.pgm
echo "# all: the threshold is said, and kept where nothing reaches it"
try -n 0 frame.pgm 'frame.pgm[16x12+20+15]'
try -n 0 -t 'camera.png[8x8+200+100]' -t 'camera.png[40x40+200+100]' --overlap 0 camera.png | sort | uniq -c
try -n 0 other.pgm noisy.pgm
try -n 0 --min-score 0.5 frame.pgm noisy.pgm
try -q -n 0 --metric ccoeff 'frame.pgm[16x13+20+15]' 'frame.pgm[16x12+20+15]'
try -n 0 --metric ccorr 'frame.pgm[16x14+20+15]' 'frame.pgm[16x12+20+15]'
try -n 0 --metric sqdiff 'frame.pgm[16x14+20+15]' 'frame.pgm[16x12+20+15]'
printf '1 2\n3 4\n' >up.txt
printf '4 3 9 9\n2 1 9 9\n' >down.txt
echo "# nothing that anticorrelates is a match, unless it is the best that there is"
try -n 5 down.txt up.txt
try -n 0 'down.txt[2x2+0+0]' up.txt
try -n 5 --min-score=-1 down.txt up.txt

echo "# other metrics have no scale"
for metric in ccorr ccorr_normed ccoeff sqdiff sqdiff_normed; do
    try --metric $metric other.pgm noisy.pgm
done

echo "# of many frames the first notes, and the summary"
mkdir frames
for i in 10 11 12 13 14 15 16 17 18 19 20 21; do cp other.pgm frames/$i.pgm; done
cp frame.pgm frames/frame.pgm
totals() {
    sed 's/; [0-9].*//'
}
try -t noisy.pgm frames 2>&1 | totals
tmatch -t noisy.pgm frames/*.pgm 2>&1 >/dev/null | totals | tail -n 2
tmatch -v -t noisy.pgm frames 2>&1 >/dev/null | grep -c weak:
tmatch -q -t noisy.pgm frames 2>&1 >/dev/null
echo "# the log knows it"
tmatch -q --resume log -t noisy.pgm frames/19.pgm frames/frame.pgm >/dev/null
weak <log
try --resume log -t noisy.pgm frames/1*.pgm frames/frame.pgm 2>&1 | totals | tail -n 2
