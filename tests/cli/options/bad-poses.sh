# SPDX-License-Identifier: MIT
# No file is looked at.
for range in '' fast nan 0:nan inf 30: :30 0:90: 0:90:fast 0:90:1:2 0:90,5 1e3:1e5 -4000 90:0 0:720 0:90:0 0:90:-5 \
    0:90:1e-9 0:90:nan 0:90:180; do
    fail --angle "$range" a b
done
for range in 0 -1 0.04:1 1:21 125% 2:1 1:2:0 1:2:-0.1 nan 1x2 1:1.2:0.21; do
    fail --scale "$range" a b
done
fail --support disk --angle 0:90 a b
fail --support disc a b
fail --upright --crops c a b
fail --upright --angle 0:90 a b
fail --angle 0:90 --depth float a b
fail --bench --angle 0:90 100x100,10x10
fail --search pyramid a b
fail --search pyramid --angle 0:90 --map map.npy a b
fail --search pyramid --scale 1:2 --heatmap map.png a b
fail --search pyramid --angle 0:90 --device cuda a b
fail --search pyramid --angle 0:90 --algorithm fft a b
fail --rotate 5 a b
fail --zoom 2 a b
# STEP may be auto; so the pictures are looked at, of which there are none.
fail --angle -10:10:auto --scale 1.25 a b
# A step as long as the range, which rounding makes shorter.
fail --scale 1:1.2:0.2 a b
