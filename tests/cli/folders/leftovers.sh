# SPDX-License-Identifier: MIT
# What a killed run leaves is removed by the next one that writes there, but not what a
# run that lives is writing, nor what others have called so.
data camera.png
mkdir out
touch .camera.png.abc12z.tmatch.tmp out/.camera.png.0123ab.tmatch.tmp out/..xxxxxx.tmatch.tmp \
    out/.camera.png.0123AB.tmatch.tmp out/camera.png.0123ab.tmatch.tmp out/.camera.png.0123ab.tmp \
    out/.camera.png.123ab.tmatch.tmp
mkdir out/.folder.abcdef.tmatch.tmp
ln -s camera.png out/.link.abcdef.tmatch.tmp
touch out/.held.abcdef.tmatch.tmp
exec 8>out/.held.abcdef.tmatch.tmp
flock 8
tmatch -q -o out camera.png 'camera.png[20x20+7+9]'
ls -A . out
exec 8>&-
tmatch -q -o out/second.png --map map.npy camera.png 'camera.png[20x20+7+9]'
ls -A . out
rm -r out
# A run in the middle of its page.
mkfifo slow.png
names() {
    ls -A | sed 's/[0-9a-z]\{6\}\(.tmatch.tmp\)/XXXXXX\1/'
}
tmatch -q --device cpu --threads 1 -t 'camera.png[20x20+1+2]' --report page.html \
    camera.png slow.png >lines &
pid=$!
exec 3>slow.png
wait_until [ -s lines ]
tmatch -q --report other.html camera.png 'camera.png[20x20+7+9]'
names
kill -KILL $pid
wait $pid 2>/dev/null
exec 3>&-
tmatch -q --report other.html camera.png 'camera.png[20x20+7+9]'
names
