# SPDX-License-Identifier: MIT
# Killed again and again, and resumed: the log comes to be that of one run, line for
# line. tests/soak/kills.py does it at length.
mkdir frames
for i in $(seq 40); do
    ln -s "$TMATCH_DATA_DIR/camera.png" frames/$i.png
    ln -s "$TMATCH_DATA_DIR/rocket.jpg" frames/$i.jpg
done
for i in 1 2 3 4; do
    echo "nonsense $i" >frames/broken$i.png
done
set -- -q --device cpu -t "$TMATCH_DATA_DIR/camera.png[20x20+1+2]" frames
tmatch --resume whole "$@" >/dev/null 2>&1
# The hundredths of a second until the kill.
for delay in 2 3 5 1 4 6 2 7 3 5 8 4; do
    # In the foreground, because timeout would kill itself too, and not wait for the end.
    timeout --foreground -s KILL 0.0$delay tmatch --resume log "$@" >/dev/null 2>&1
done
tmatch --resume log "$@" >/dev/null 2>&1
sort whole >a
sort log >b
cmp a b && wc -l <whole
