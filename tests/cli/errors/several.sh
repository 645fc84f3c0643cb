# SPDX-License-Identifier: MIT
# status: 2
# One broken frame and one broken template among good ones: the rest goes on,
# in order.
data camera.png chelsea.png
echo nonsense >broken.png
set -- -t 'camera.png[20x20+1+2]' -t gone.png -t 'chelsea.png[100x120+3+4]' \
    camera.png broken.png chelsea.png 'camera.png[90x110+0+0]'
try "$@"
try --format csv "$@"
tmatch --device cpu --algorithm direct --format json "$@" | without_times
# Which template cannot be compared is said.
printf 'P5\n2 2\n65535\n\0\1\0\2\0\3\0\4' >deep.pgm
try -t deep.pgm -t 'camera.png[20x20+1+2]' camera.png
# No template is left: the frames are not read.
fail -t gone.png camera.png broken.png
try --format json -t gone.png camera.png broken.png
tmatch "$@" >/dev/null 2>&1
