# SPDX-License-Identifier: MIT
# where: ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# Templates that are turned and resized.
data camera.png dialogs.png dialog.png astronaut.png parts.jpg part.png
frame='camera.png[160x140+180+60]' # the head and the camera
button='dialog.png[113x46+403+201]'

echo "# Quarter turns are exact."
tmatch "$frame" 'camera.png[41x30+225+100]' --angle 0:270:90 --dump-template t.png
ls t.*
tmatch "$frame" t.90deg.1x.png --angle 0:359:90
tmatch --format json "$frame" t.90deg.1x.png --angle 0:359:90 | without_times
tmatch --format csv "$frame" t.180deg.1x.png --angle 0:359:90
tmatch --subpixel "$frame" t.180deg.1x.png --angle 180

echo "# A posed template scores the same when it is matched by itself."
tmatch "$frame" 'camera.png[41x30+225+100]' --angle 25 --scale 0.9 --dump-template t.png
tmatch "$frame" t.25deg.0.9x.png
tmatch --color 'astronaut.png[120x120+110+330]' 'astronaut.png[50x50+140+350]' --angle -5 --scale 1.1 --dump-template c.png
tmatch --color 'astronaut.png[120x120+110+330]' c.-5deg.1.1x.png
tmatch "$frame" 'camera.png[9x7+225+100]' --scale 1.5 --dump-template t.txt
head -c 60 t.0deg.1.5x.txt
echo

echo "# Between the quarters."
tmatch "$frame" t.25deg.0.9x.png --angle -40:0:5 --scale 1:1.2:0.1 --support full -n 2
tmatch --verify "$frame" t.25deg.0.9x.png --angle -40:0:5 --scale 1:1.2:0.1 --support disc 2>verify.err
cat verify.err
tmatch --verify --format json --domain full "$frame" 'camera.png[41x30+225+100]' --angle 25 | without_times

echo "# Other places that come near, and such that do not, however they are looked for."
for search in certified exhaustive; do
    for most in 1 2 3; do
        tmatch -q --search $search --format json -n $most --angle 0:345:15 'parts.jpg[300x260+40+40]' part.png |
            grep -o '"score":[^,]*,"margin[^,]*'
    done
    tmatch -q --search $search --format json --angle 0:345:15 "$frame" 'camera.png[41x30+225+100]' | grep -o '"score":.*,"angle"'
done

echo "# So large that not all pictures of poses are kept."
tmatch --verify astronaut.png 'astronaut.png[300x290+100+90]' --angle -1:1:1 --search certified --dump-template l.png 2>&1
ls l.*

echo "# A button at 125 % and 150 % of its size."
tmatch 'dialogs.png[240x110+520+230]' "$button" --scale 1:1.5:0.25
tmatch dialogs.png "$button" --scale 1.25:1.5:0.25 -n 0 --format csv 2>note.err
cat note.err

echo "# Options that go with it."
tmatch "$frame" 'camera.png[41x30+225+100]' --angle 0:90:45 --roi 20,20,100,90 2>&1
tmatch "camera.png" 'camera.png[41x30+225+100]' --angle 0:90:45 --roi 200,80,100,90
tmatch --depth 16 "$frame" 'camera.png[41x30+225+100]' --angle 0:90:45
tmatch --metric sqdiff "$frame" 'camera.png[41x30+225+100]' --angle 0:90:45
bitmap 41 30 1 >mask.pbm
printf 'P1 41 30 %s%s' "$(printf '1 %.0s' $(seq 615))" "$(printf '0 %.0s' $(seq 615))" >mask.pbm
tmatch --mask mask.pbm "$frame" 'camera.png[41x30+225+100]' --angle 0:90:45
printf 'P1 160 140 %s' "$(printf '0 %.0s' $(seq 22400))" >free.pbm
tmatch --frame-mask free.pbm "$frame" 'camera.png[41x30+225+100]' --angle 0:90:45 2>&1
tmatch -t 'camera.png[41x30+225+100]' -t 'camera.png[20x20+260+110]' "$frame" "$frame" --angle 0:90:45 -q

echo "# Nothing there."
try --min-score 0.99 "$frame" 'astronaut.png[30x30+200+100]' --angle 0:180:30 --scale 0.8:1:0.2 2>none.err
cat none.err
try --min-score 0.99 --format json "$frame" 'astronaut.png[30x30+200+100]' --angle 0:180:30 -q | without_times
try --min-score 0.99 --format csv "$frame" 'astronaut.png[30x30+200+100]' --angle 0:180:30 -q
try -n 0 "$frame" 'astronaut.png[30x30+200+100]' --angle 0:180:30 2>none.err
cat none.err
try "$frame" 'astronaut.png[30x30+200+100]' --angle 0:180:30 2>weak.err
cat weak.err

echo "# What cannot be."
fail 'camera.png[20x20+0+0]' 'camera.png[41x30+225+100]' --angle 0:90:45
tmatch 'camera.png[20x20+225+100]' 'camera.png[41x30+225+100]' --angle 0 --scale 0.4:1:0.2
fail "$frame" 'camera.png[41x30+225+100]' --angle 0:360:0.001 --scale 0.1:20:0.001
fail --max-memory 20K "$frame" 'camera.png[41x30+225+100]' --angle 0:90:45
bitmap 20 20 >flat.pbm
fail "$frame" flat.pbm --angle 0:90:45
bitmap 20 20 1 >point.pbm
fail "$frame" point.pbm --angle 0:90:45 --support disc
tmatch -v "$frame" 'camera.png[41x30+225+100]' --angle 0:90:45 2>&1 >none.out | grep 'poses,'
tmatch -v "$frame" 'camera.png[31x30+225+100]' --angle 0:2 2>&1 >none.out | grep 'poses,'
tmatch -v "$frame" 'camera.png[31x30+225+100]' --scale 0.9:1.1 --support disc 2>&1 >none.out | grep 'poses,'
tmatch -v "$frame" 'camera.png[31x30+225+100]' --angle 7.5:8 2>&1 >none.out | grep 'pose,'
tmatch -v "$frame" 'camera.png[31x30+225+100]' --scale 1:1.2:0.2 2>&1 >none.out | grep 'poses,'

# Why nothing is left out, said of the template as it is; what is estimated is one pose of them.
tmatch -v "$frame" 'camera.png[3x3+225+100]' --search certified --angle 0:90:10 2>&1 >none.out |
    sed -n 's/.*camera.png: \([0-9]* poses exhaustively, .*;\) direct on.*; \(.* estimates\): direct.*/\1 \2/p'
