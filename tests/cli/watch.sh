# SPDX-License-Identifier: MIT
# Frames that arrive while it runs, complete ones only; ended by SIGINT.
mkdir in elsewhere
cp "$TMATCH_DATA_DIR/camera.png" .
cp camera.png in/before.png
mkfifo done
until_lines() { # COUNT
    for n in $(seq 600); do
        [ "$(wc -l <out)" -ge "$1" ] && return
        sleep 0.05
    done
    echo "no line $1"
}
: >out
env --default-signal=INT tmatch --device cpu --watch in -o seen -t 'camera.png[20x20+1+2]' in >out 2>err &
pid=$!
until_lines 1
# Renamed to its place; written in two parts; a link; what is no picture or hidden.
cp camera.png elsewhere/moved.png
mv elsewhere/moved.png in
until_lines 2
{
    head -c 5000 camera.png
    sleep 0.2
    tail -c +5001 camera.png
} >in/slow.png
until_lines 3
ln -s ../camera.png in/link.png
until_lines 4
cp camera.png in/.hidden.png
cp camera.png in/notes.txt
mkdir in/folder.png
echo nonsense >in/broken.png
cp camera.png in/last.png
until_lines 5
# The same name again is another frame.
cp "$TMATCH_DATA_DIR/brick.png" elsewhere/last.png
mv elsewhere/last.png in
until_lines 6
kill -INT $pid
wait $pid
echo "status $?"
cat out
sed 's/; [0-9].*//' err
find seen -type f | sort
# The folder goes away.
(sleep 0.3 && rm -r in) &
try --device cpu --watch in -t 'camera.png[20x20+1+2]' 2>&1 | sed 's/; [0-9].*//'
wait
fail --watch gone -t 'camera.png[20x20+1+2]'
fail --watch camera.png -t 'camera.png[20x20+1+2]'
