# SPDX-License-Identifier: MIT
# Where nothing reaches --min-score, every form of output says so and what came nearest.
data astronaut.png camera.png coffee.png patch.jpg
# What auto would take depends on the machine.
set -- --device cpu --algorithm direct --min-score 0.9
try "$@" camera.png patch.jpg
try "$@" -q camera.png patch.jpg
# No line of text can be taken for a match.
tmatch -q "$@" camera.png patch.jpg | grep -c '[xywh]=\|score='
try -q "$@" --format json camera.png patch.jpg | without_times
try -q "$@" --format csv -t patch.jpg -t 'camera.png[20x20+100+100]' camera.png coffee.png
try "$@" -t patch.jpg -t 'camera.png[20x20+100+100]' camera.png coffee.png
try -q "$@" -n 0 --format json camera.png patch.jpg | without_times
try -q "$@" -n 3 --subpixel --format json camera.png patch.jpg | without_times
try -q "$@" --color --format json coffee.png patch.jpg | without_times
echo "# in the whole frame's coordinates, of what may be searched"
try -q "$@" --roi 100,100,200,150 camera.png patch.jpg
try -q "$@" --domain full camera.png patch.jpg
(echo P1 512 512; yes 1 | head -n 100000; yes 0 | head -n 162144) >below.pbm
try -q "$@" --frame-mask below.pbm camera.png patch.jpg
echo "# by rows, and by FFT"
try -q "$@" --max-memory 200K camera.png patch.jpg
for algorithm in direct fft; do
    try -q "$@" --algorithm $algorithm camera.png patch.jpg
done
try -q "$@" --verify 'camera.png[120x110+100+100]' patch.jpg
echo "# by other metrics"
for metric in ccoeff=1e9 ccorr=1e15 ccorr_normed=0.999 sqdiff=10 sqdiff_normed=0.01; do
    try -q --metric ${metric%=*} --min-score ${metric#*=} camera.png 'astronaut.png[20x20+200+100]'
done
try --metric sqdiff --min-score 10 camera.png 'astronaut.png[20x20+200+100]'
echo "# in a log"
tmatch -q "$@" --resume log -t patch.jpg camera.png coffee.png
sed 's/,"id".*//' log
try "$@" --resume log -t patch.jpg camera.png coffee.png 2>&1 | sed 's/; [0-9].*//'
try "$@" --format json --report page.html -t patch.jpg camera.png -q >/dev/null
grep -o '"matches":.*' page.html
