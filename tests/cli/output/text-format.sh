# SPDX-License-Identifier: MIT
# One match a line; the template's name only where it is needed.
data camera.png chelsea.png
tmatch camera.png 'camera.png[20x20+1+2]'
tmatch -t 'camera.png[20x20+1+2]' camera.png chelsea.png
tmatch -t 'camera.png[20x20+1+2]' camera.png -t 'chelsea.png[20x20+1+2]' chelsea.png
tmatch --metric ccorr camera.png 'camera.png[20x20+1+2]'
# Equal scores: the smallest y, then the smallest x.
printf '0 0 0 0 0 0\n0 0 0 9 0 0\n0 0 0 0 0 0\n0 9 0 0 9 0\n0 0 0 0 0 0\n' >points.txt
printf '0 0\n0 1\n' >point.txt
tmatch points.txt point.txt
# A flat frame scores 0 everywhere.
printf '5 5 5\n5 5 5\n5 5 5\n' >flat.txt
tmatch flat.txt point.txt
