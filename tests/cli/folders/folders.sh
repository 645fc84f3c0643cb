# SPDX-License-Identifier: MIT
# A folder stands for its pictures, in the order of their names' bytes.
mkdir -p frames/sub frames/a frames/.hidden empty
for name in b.png B.JPG a.png a-b.png a/z.png sub/x.png .dot.png .hidden/y.png; do
    cp "$TMATCH_DATA_DIR/camera.png" "frames/$name"
done
cp frames/b.png frames/notes.txt
cp "$TMATCH_DATA_DIR/brick.png" frames/sub/brick.png
printf 'P5 2 2 255 abcd' >frames/tiny.pgm
echo nonsense >frames/broken.png
mkdir frames/folder.png
mkfifo frames/pipe.png
ln -s ../frames frames/loop
ln -s loop.png frames/loop.png
ln -s gone.png frames/dangling.png
ln -s ../b.png frames/sub/link.png
set -- -t 'frames/b.png[20x20+1+2]' --device cpu
totals() { # without times
    sed -n 's/; .*//; /frames\{0,1\}:/p'
}
try "$@" frames 2>&1 | sed 's/; [0-9].*//'
# Below it too: links to folders are not followed, or this would not end.
try "$@" -r frames/ 2>/dev/null
# With or without more operands, from a list as well.
tmatch -q "$@" frames/sub frames/a.png frames/sub
printf 'frames/sub\nframes/b.png[30x30+0+0]\n\nframes/a.png' | tmatch -q "$@" --files-from -
printf 'frames/sub\0frames/a.png\0' >list
tmatch -q "$@" -0 --files-from list
# In order, whatever the number of threads.
for n in 1 2 5; do
    tmatch -q "$@" -r --threads $n frames 2>/dev/null | cksum
done
tmatch -q "$@" -r --threads 7 --in-flight 3 frames 2>/dev/null | cksum
# A folder of templates.
mkdir templates
for at in 10 20 30; do
    tmatch -q --dump-template templates/$at.png frames/b.png "frames/b.png[25x25+$at+40]" >/dev/null
done
tmatch -q --min-score 0.99 -t templates frames/b.png frames/sub
fail "$@" empty
fail "$@" -r empty
fail "$@" --files-from gone
# -0 was forgotten: the names after the first are not passed over.
printf 'frames/a.png\0frames/b.png\0' >list0
fail "$@" --files-from list0
rm list0
fail --files-from list frames
