# SPDX-License-Identifier: MIT
# There is no such device here, nor will there soon be.
data camera.png
tmatch --device cuda:63 camera.png 'camera.png[20x20+1+2]' 2>err
echo "status $?"
wc -l <err
grep -c '^tmatch: .*CUDA' err
