# SPDX-License-Identifier: MIT
# Annotated pictures and crops of a folder: its tree comes back.
mkdir -p frames/sub
cp "$TMATCH_DATA_DIR/camera.png" frames/a.png
cp "$TMATCH_DATA_DIR/brick.png" frames/sub/b.png
cp "$TMATCH_DATA_DIR/rocket.jpg" 'frames/sub/two words.jpg'
printf 'P5 40 30 255\n' >frames/c.pgm
head -c 1200 "$TMATCH_DATA_DIR/camera.png" >>frames/c.pgm
echo nonsense >frames/broken.png
set -- -q --device cpu -t 'frames/a.png[20x20+1+2]'
try "$@" -r -o seen --crops crops/of/them frames
find seen crops -type f | LC_ALL=C sort
tmatch "$@" seen/a.png
# A crop is what was found.
tmatch -q --min-score 1 frames/a.png crops/of/them/a.png.1+2.png
# Again: the files are replaced, and own outputs are not inputs.
try "$@" -r -o frames/seen --crops frames/crops/ frames | wc -l
try "$@" -r -o frames/seen --crops frames/crops/ frames | wc -l
rm -r frames/seen frames/crops
# Several templates: one picture with all matches, crops by number.
rm -r seen crops
tmatch "$@" -t 'frames/sub/b.png[30x30+9+9]' --min-score 0.9 -o seen/ --crops crops frames/a.png frames/sub/b.png >/dev/null
find seen crops -type f | LC_ALL=C sort
rm -r seen crops
tmatch "$@" -t 'frames/a.png[30x30+90+90]' -o seen.png frames/a.png
# One frame into a folder.
mkdir seen
tmatch "$@" -o seen frames/a.png && ls seen
# No two frames may have one output, and none may replace a frame.
cp -r frames more
fail "$@" -r -o out frames more
fail "$@" -o out frames/a.png more/a.png
fail "$@" --crops out frames/a.png frames/a.png
fail "$@" -r -o frames frames
try "$@" -o . frames/a.png frames/c.pgm
cp frames/a.png .
fail "$@" -o . a.png frames/c.pgm
fail "$@" -o . 'a.png[400x400+0+0]' frames/c.pgm
fail -q -t a.png -o . frames
fail "$@" --mask a.png -o . frames
fail "$@" --frame-mask a.png -o . frames
cmp a.png frames/a.png
fail "$@" -o file.png frames
fail "$@" -o frames/a.png frames
fail "$@" --crops a.png frames
# A variable that is not set is not the root.
fail "$@" --crops '' frames/none
fail "$@" -o '' frames/none frames/none2
ls
# Folders that cannot be made are told of frame by frame; the rest goes on.
mkdir seen2
echo >seen2/sub
try "$@" -r -o seen2 frames 2>&1 | cut -d: -f1-2
find seen2 -type f | LC_ALL=C sort
