# SPDX-License-Identifier: MIT
# A limit that no frame keeps: each is an error by its name, and the log asks for another run.
# Under one that all keep they are matched.
data button.png screen.png camera.png
try --max-time-per-frame 1e-6 --resume log -t button.png screen.png camera.png screen.png 2>&1 | grep -v frames/s
grep -c '"error":"takes longer' log
grep -c '"id"' log
try --max-time-per-frame 3600 --algorithm direct --resume log -t button.png screen.png --format json | without_times
# By rows, too, where decoding and matching go together.
{ echo P5 900 900 255; yes ab | head -c 810000; } >frame.pgm
printf 'P2 2 2 9 1 2 3 4' >template.pgm
try --max-memory 200K --max-time-per-frame 1e-6 frame.pgm template.pgm 2>&1
try -q --max-memory 200K --max-time-per-frame 3600 frame.pgm template.pgm
for seconds in 0 -1 nan 1e999 2s ''; do
    fail --max-time-per-frame "$seconds" a b
done
