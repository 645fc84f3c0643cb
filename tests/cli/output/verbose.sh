# SPDX-License-Identifier: MIT
data camera.png
tmatch -v --device cpu --algorithm direct camera.png 'camera.png[20x20+1+2]' 2>err
# What was read is exact; how it was computed depends on the machine.
sed -n '1,2p' err
sed -n '3p' err | grep -c '^tmatch: camera.png: direct.* on cpu'
wc -l <err
tmatch --time camera.png 'camera.png[20x20+1+2]' 2>&1 >/dev/null |
    grep -c '^tmatch: camera.png: read=[0-9.]* to_device=[0-9.]* kernel=[0-9.]* from_device=[0-9.]* match=[0-9.]* total=[0-9.]* ms$'
tmatch -v -q camera.png 'camera.png[20x20+1+2]'
