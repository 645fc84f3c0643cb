# SPDX-License-Identifier: MIT
# Frames that arrive while it runs, complete ones only; ended by SIGINT.
mkdir in elsewhere
cp "$TMATCH_DATA_DIR/camera.png" .
cp camera.png in/before.png
has_lines() { # COUNT
    [ "$(wc -l <out)" -ge "$1" ]
}
: >out
env --default-signal=INT tmatch --device cpu --watch in -o seen -t 'camera.png[20x20+1+2]' in >out 2>err &
pid=$!
wait_until has_lines 1
# Renamed to its place; written in two parts; a link; what is no picture or hidden.
cp camera.png elsewhere/moved.png
mv elsewhere/moved.png in
wait_until has_lines 2
{
    head -c 5000 camera.png
    sleep 0.2
    tail -c +5001 camera.png
} >in/slow.png
wait_until has_lines 3
ln -s ../camera.png in/link.png
wait_until has_lines 4
cp camera.png in/.hidden.png
cp camera.png in/notes.txt
mkdir in/folder.png
echo nonsense >in/broken.png
cp camera.png in/last.png
wait_until has_lines 5
# The same name again is another frame.
cp "$TMATCH_DATA_DIR/brick.png" elsewhere/last.png
mv elsewhere/last.png in
wait_until has_lines 6
kill -INT $pid
wait $pid
echo "status $?"
cat out
sed 's/; [0-9].*//' err
find seen -type f | sort
# What is written there would be a frame.
fail --watch in -o in -t 'camera.png[20x20+1+2]'
fail --watch in --crops elsewhere/../in -t 'camera.png[20x20+1+2]'
# The folder goes away.
tmatch --device cpu --watch in -t 'camera.png[20x20+1+2]' >out 2>&1 &
pid=$!
is_watching() {
    grep -qs '^inotify' /proc/$pid/fdinfo/*
}
wait_until is_watching
rm -r in
wait $pid
status=$?
sed 's/; [0-9].*//' out
echo "status $status"
fail --watch gone -t 'camera.png[20x20+1+2]'
fail --watch camera.png -t 'camera.png[20x20+1+2]'
# Subfolders are not looked into.
mkdir new
fail --watch new -r -t 'camera.png[20x20+1+2]'
