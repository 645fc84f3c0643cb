# SPDX-License-Identifier: MIT
# Every algorithm makes the same map.
data camera.png
tmatch --device cpu --algorithm direct --domain full --map direct.npy camera.png 'camera.png[90x70+20+30]'
tmatch --device cpu --algorithm fft --domain full --map fft.npy camera.png 'camera.png[90x70+20+30]'
cmp direct.npy fft.npy
tmatch -v --device cpu --algorithm auto camera.png 'camera.png[8x8+20+30]' 2>&1 |
    grep -c '^tmatch: camera.png: direct.* on cpu, .* kernels, up to .*: as asked; estimates: direct .* ms'
