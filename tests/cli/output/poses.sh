# SPDX-License-Identifier: MIT
# What is written of matches in poses.
data camera.png
mkdir in
for x in 180 200; do
    tmatch -q "camera.png[160x140+$x+60]" "camera.png[160x140+$x+60]" --crops cut >cut.out
done
mv cut/camera.png.180+60.png in/a.png
mv cut/camera.png.200+60.png in/b.png
tmatch -q in/a.png 'camera.png[40x30+220+100]' --angle 90 --dump-template t.png >t.out
echo broken >in/c.png

echo "# A folder, drawn and cut out."
tmatch -q -t t.90deg.1x.png in --angle 180:359:45 -o drawn --crops boxes 2>&1
ls drawn boxes
tmatch -q -t t.90deg.1x.png in/a.png --angle 180:359:45 --crops upright --upright
echo "# The one turned upright is the template, which is turned by 90 degrees; the other is as in the frame."
tmatch upright/a.png.40+40.270deg.1x.png t.90deg.1x.png
tmatch boxes/a.png.40+40.270deg.1x.png 'camera.png[40x30+220+100]'
tmatch -q in/a.png 'camera.png[40x30+220+100]' --scale 0.5 --crops half --upright >half.out
for cut in half/*; do
    tmatch -q --min-score 0.999 "$cut" "$cut" | sed 's/.* w=/w=/'
done

echo "# The page."
tmatch -q -t t.90deg.1x.png in --angle 270 --report page.html --min-score 0.99 >page.out 2>&1
tr '<' '\n' <page.html | grep -o '"turned":[a-z]*,"resized":[a-z]*'
grep -o '"angle":270,"scale":1,"center":\[[0-9.,]*\]' page.html

echo "# The log."
tmatch -t t.90deg.1x.png in --angle 180:359:90 --resume log 2>&1 | sed 's/;.*//'
sed 's/,"sum".*//; s/"id":"[0-9a-f]*"/"id":""/' log
echo "# Again: all is there."
tmatch -t t.90deg.1x.png in --angle 180:359:90 --resume log 2>&1 | sed 's/;.*//'
echo "# Another grid, another support: matched again."
tmatch -t t.90deg.1x.png in --angle 180:359:45 --resume log 2>&1 | sed 's/;.*//'
tmatch -t t.90deg.1x.png in --angle 180:359:45 --support disc --resume log 2>&1 | sed 's/;.*//'
tmatch -t t.90deg.1x.png in --resume log 2>&1 | sed 's/;.*//'

echo "# What is not there, in the log and the summary."
tmatch -t t.90deg.1x.png in --angle 0:90:90 --min-score 0.99 --resume log 2>&1 | sed 's/;.*//'
tmatch -t t.90deg.1x.png in --angle 0:90:90 --min-score 0.99 --resume log 2>&1 | sed 's/;.*//'
