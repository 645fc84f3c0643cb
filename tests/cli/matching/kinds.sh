# SPDX-License-Identifier: MIT
# where: ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# Metrics, masks, colours, 16 bits, arrays.
data camera.png coffee.png chelsea.png

for metric in lcc ccorr_normed ccoeff sqdiff sqdiff_normed; do
    try --verify --metric $metric camera.png 'camera.png[20x20+100+120]'
done
# The least is the best, and is reached from above.
try --metric sqdiff --min-score 0 camera.png 'camera.png[20x20+100+120]'
try --metric sqdiff --min-score 100 'camera.png[80x80+0+0]' 'camera.png[20x20+100+120]'

# A round part of the picture at 150, 100; outside it there is noise.
base64 -d >round.png <<END
iVBORw0KGgoAAAANSUhEUgAAAAgAAAAGCAQAAABUDBdwAAAAUElEQVR42jXK0QmAIACE4R+aJQhaJmiZoGUCxRGaIelNfW4DZzi1knu5+zhgJCko1jwMMNFq+GmGpULSh1ErbO+jww4HfbYYuMh4nXKyctwUlptBEFTSCrsAAAAASUVORK5CYII=
END
try --verify -v camera.png round.png 2>&1 | sed 's/direct on.*/PLAN/; s/fft on.*/PLAN/'
cat >mask.pbm <<END
P1
8 6
1 1 0 0 0 0 1 1
1 0 0 0 0 0 0 1
1 0 0 0 0 0 0 1
1 0 0 0 0 0 0 1
1 0 0 0 0 0 0 1
1 1 0 0 0 0 1 1
END
try camera.png 'camera.png[8x6+150+100]' --mask mask.pbm
try camera.png 'camera.png[9x6+150+100]' --mask mask.pbm
try camera.png 'camera.png[8x6+150+100]' --mask gone.png
# The same where what counts has 1 of 65535, or a little blue.
sed '1,2d' mask.pbm | tr 01 10 >numbers
(echo P2 8 6 65535; cat numbers) >faint.pgm
(echo P3 8 6 255; sed 's/[01]/0 0 &/g' numbers) >blue.ppm
for mask in faint.pgm blue.ppm; do
    try camera.png 'camera.png[8x6+150+100]' --mask $mask
    try camera.png 'camera.png[4x4+142+91]' --roi 140,90,8,6 --frame-mask $mask
done
# The place itself is forbidden, then everything is.
awk 'BEGIN { print "P2 512 512 1"; for (y = 0; y < 512; y++) { for (x = 0; x < 512; x++)
    printf "%d ", !(x == 152 && y == 103); print "" } }' >places.pgm
try --verify --frame-mask places.pgm camera.png 'camera.png[8x6+150+100]'
try --frame-mask places.pgm --roi 150,100,10,6 camera.png 'camera.png[8x6+150+100]'
printf 'P1\n4 4\n0 0 0 0 1 1 1 1 1 1 1 1 0 0 0 0\n' >small.pbm
printf 'P2\n4 4\n255\n1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 17\n' >frame.pgm
printf 'P2\n2 2\n255\n6 7 10 11\n' >patch.pgm
try --frame-mask small.pbm frame.pgm patch.pgm

# Colours tell apart what luma does not.
try --verify --color coffee.png 'coffee.png[20x20+300+200]'
try --color coffee.png 'camera.png[20x20+100+120]'
try --color camera.png 'coffee.png[20x20+300+200]'

# Colours of one luma: nothing to normalize.
echo P3 2 1 255 100 100 5 100 100 9 >luma.ppm
try --color --dump-template luma.txt coffee.png luma.ppm

# 16 bits
awk 'BEGIN { print "P2 40 30 65535"; for (i = 0; i < 1200; i++) print i * i * 77 % 65536 }' >deep.pgm
try --verify deep.pgm 'deep.pgm[7x5+11+13]'
try -v deep.pgm 'deep.pgm[7x5+11+13]' 2>&1 | head -3 | sed 's/direct on.*/PLAN/'
try deep.pgm patch.pgm
try --depth 8 deep.pgm patch.pgm
try --depth 16 --verify deep.pgm patch.pgm
try --depth 12 deep.pgm patch.pgm
printf '\223NUMPY\001\000\072\000%-57s\n\001\002\003\377\007\010' \
    "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3)}" >array.npy
try array.npy 'array.npy[2x2+1+0]'
