# SPDX-License-Identifier: MIT
# A folder goes away while tmatch runs: the frames that it had fail, one by one. The
# first frame is one that comes slowly.
mkdir frames
for i in 1 2 3; do cp "$TMATCH_DATA_DIR/camera.png" frames/$i.png; done
mkfifo slow.png
tmatch --device cpu --threads 1 --resume log -t "$TMATCH_DATA_DIR/camera.png[20x20+1+2]" slow.png frames >out 2>err &
# It waits for somebody to write; by then it has seen the folder.
exec 3>slow.png
rm -r frames
cat "$TMATCH_DATA_DIR/camera.png" >&3
exec 3>&-
wait $!
echo "status $?"
cat out
sed 's/; [0-9].*//' err
sed 's/"template":"[^"]*"/T/; s/,"sum":"[^"]*"//' log
