# SPDX-License-Identifier: MIT
data camera.png
cp camera.png mine.png
template='camera.png[20x20+1+2]'
mkdir folder.png folder
fail -o no/seen.png camera.png "$template"
fail -o folder.png camera.png "$template"
fail --map camera.png/map.npy camera.png "$template"
fail --dump-template no/dump.txt camera.png "$template"
# A full disk.
ln -s /dev/full full.png
ln -s /dev/full full.jpg
ln -s /dev/full full.npy
ln -s /dev/full full.txt
for file in full.png full.jpg; do
    fail -q -o $file camera.png "$template"
done
fail --map full.npy camera.png "$template"
fail --dump-template full.txt camera.png "$template"
fail --dump-template full.png camera.png "$template"
# An input is never overwritten, whatever its name.
fail -o mine.png mine.png "$template"
fail -o mine.png camera.png 'mine.png[20x20+1+2]'
fail -o folder/../mine.png mine.png "$template"
ln mine.png hard.png
fail -o hard.png mine.png "$template"
ln -s mine.png soft.png
fail -o soft.png mine.png "$template"
fail -o mine.png - "$template" <mine.png
fail -o mine.png --mask mine.png camera.png camera.png
fail -o mine.png --frame-mask mine.png camera.png "$template"
echo camera.png >list.txt
fail --dump-template list.txt -t "$template" --files-from list.txt
fail --dump-template list.txt -t "$template" --files-from - <list.txt
cat list.txt
# Nor is one output by another.
fail -o seen.png --dump-template ./seen.png camera.png "$template"
fail -o seen.png --dump-template folder/../seen.png camera.png "$template"
fail --resume log.html --report log.html camera.png "$template"
fail --resume seen.png -o ./seen.png camera.png "$template"
fail --resume map.npy --map map.npy camera.png "$template"
cmp mine.png camera.png
ls
