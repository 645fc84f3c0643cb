# SPDX-License-Identifier: MIT
# needs: libavformat
# A movie that arrives in a watched folder is told of, not passed over.
data camera.png
mkdir in
tmatch --device cpu --watch in -t 'camera.png[20x20+1+2]' >out 2>err &
pid=$!
is_watching() {
    grep -qs '^inotify' /proc/$pid/fdinfo/*
}
is_told() {
    [ -s err ]
}
wait_until is_watching
cp camera.png in/clip.mp4
wait_until is_told
kill $pid
wait $pid 2>wait.err # where the shell may tell of the signal, or not
echo "status $?"
cat out
sed 's/; [0-9].*//' err
