# SPDX-License-Identifier: MIT
data camera.png chelsea.png
cp camera.png 'a, "b".png'
tmatch --format csv -t 'camera.png[20x20+1+2]' -t 'chelsea.png[20x20+1+2]' camera.png 'a, "b".png'
tmatch --format csv --metric ccorr camera.png 'camera.png[20x20+1+2]'
tmatch --format csv --min-score 1 camera.png 'chelsea.png[20x20+1+2]'
echo "status $?"
