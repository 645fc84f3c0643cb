# SPDX-License-Identifier: MIT
# What is written into folders replaces neither an input nor what a link leads to.
cp "$TMATCH_DATA_DIR/camera.png" camera.png
try --crops crops camera.png 'camera.png[20x20+101+202]'
# A crop is the template for the same place: the crop of that would be itself.
cp crops/camera.png.101+202.png before.png
fail --crops crops camera.png crops/camera.png.101+202.png
cmp crops/camera.png.101+202.png before.png
# It is one whatever its name, and also where it is a frame, a mask or a list.
ln crops/camera.png.101+202.png hard.png
fail --crops crops camera.png hard.png
fail --crops crops -t before.png camera.png hard.png
echo camera.png >list
mv list crops/camera.png.t2.101+202.png
fail --crops crops -t 'camera.png[9x9+7+8]' -t before.png --files-from crops/camera.png.t2.101+202.png
cat crops/camera.png.t2.101+202.png
# Beside the frame there is room for one; the second time it is replaced.
try -q --crops . camera.png before.png
try -q --crops . camera.png before.png
rm -r crops camera.png.101+202.png
# A link in the folder is not followed, wherever it leads; the folder itself may be one.
mkdir out real elsewhere
echo precious >file
ln -s ../file out/camera.png
ln -s ../file out/camera.png.101+202.png
ln -s ../missing out/b.png
cp camera.png b.png
fail -o out/ camera.png before.png
fail --crops out camera.png before.png
fail -o out/ b.png before.png
mkdir frames frames/sub
cp camera.png frames/sub/a.png
ln -s ../elsewhere out/sub
fail -r -o out frames before.png
cat file
ls elsewhere missing 2>&1
ln -s real link
try -q -o link/ camera.png before.png
ls real
# Nor is there anything else in the way.
mkfifo real/b.png
mkdir real/c.png
cp b.png c.png
fail -o link/ b.png before.png
fail -o link/ c.png before.png
ls -R out real
