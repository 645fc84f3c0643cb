# SPDX-License-Identifier: MIT
# There is no such device here, nor will there soon be.
data camera.png
tmatch --device cuda:63 camera.png 'camera.png[20x20+1+2]' 2>err
echo "status $?"
wc -l <err
grep -c '^tmatch: .*CUDA' err
# Nor for a folder; what stood there stays.
mkdir frames
cp camera.png frames/1.png
cp camera.png frames/2.png
echo before >report.html
tmatch --device cuda:63 -t 'camera.png[20x20+1+2]' --report report.html frames 2>err
echo "status $?"
wc -l <err
cat report.html
