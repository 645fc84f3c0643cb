# SPDX-License-Identifier: MIT
data camera.png chelsea.png
try --min-score 1 camera.png 'camera.png[20x20+1+2]'
try --min-score 1 camera.png 'chelsea.png[20x20+1+2]'
try --min-score=-1 camera.png 'chelsea.png[20x20+1+2]'
try --min-score 0.99 -t 'camera.png[20x20+1+2]' camera.png chelsea.png
# A printed score is reached, the next float is not.
score=$(tmatch camera.png 'chelsea.png[20x20+1+2]' | sed 's/.*score=//')
try --min-score "$score" camera.png 'chelsea.png[20x20+1+2]'
try --min-score "$(echo "$score" | awk '{ printf "%.9f", $1 + 6e-8 }')" camera.png 'chelsea.png[20x20+1+2]'
try --metric ccorr --min-score 1e6 camera.png 'camera.png[20x20+1+2]'
try --metric ccorr --min-score 1e15 camera.png 'camera.png[20x20+1+2]'
# An error weighs more than a match.
try --min-score 0.9 -t 'camera.png[20x20+1+2]' camera.png gone.png
# Nothing to draw.
try --min-score 1 -o seen.png camera.png 'chelsea.png[20x20+1+2]'
try -q --min-score 1 -o seen.png camera.png 'chelsea.png[20x20+1+2]'
ls
