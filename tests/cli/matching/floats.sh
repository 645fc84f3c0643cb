# SPDX-License-Identifier: MIT
# Float matrices and arrays.
awk 'BEGIN { for (y = 0; y < 24; y++) { for (x = 0; x < 30; x++)
    printf "%d.%d ", 1000000 + (x * x * 37 + y * 13) % 7, (x * y * 11) % 4 * 25; print "" } }' >frame.txt
sed -n 6,10p frame.txt | cut -d' ' -f9-15 >patch.txt
for metric in lcc ccorr ccorr_normed ccoeff sqdiff sqdiff_normed; do
    try --metric $metric frame.txt patch.txt
done
try -v --threads 1 frame.txt patch.txt 2>&1 |
    sed 's/, [a-z0-9.]* kernels/, KERNELS/; s/; estimates:.*//'
try --algorithm reference frame.txt patch.txt
try --domain full -n 3 --min-score 0.5 frame.txt patch.txt
try --metric sqdiff --min-score 0 frame.txt 'frame.txt[5x4+3+2]'
try -n 1 --subpixel --format json frame.txt patch.txt | without_times

# The same by FFT.
for metric in lcc sqdiff; do
    tmatch -v --algorithm fft --threads 1 --metric $metric frame.txt patch.txt 2>err >fft.out
    sed -n 's/.*\(fft on cpu\).*\(, [0-9]* of [0-9]* windows[^,]*\).*/\1\2/p' err
    cat fft.out
done

# The map of sums is of floats too; the others take it as a frame.
try --metric sqdiff --map map.npy --heatmap heat.png -o out.png frame.txt patch.txt
head -c 70 map.npy | tail -c 60; echo
try map.npy 'map.npy[6x6+5+2]'
try out.png 'out.png[20x20+0+0]'

# What has to be said, and what is refused.
printf '6 7\n8 11\n' >whole.txt
try frame.txt whole.txt
try --depth float frame.txt whole.txt
try --depth 8 frame.txt patch.txt
printf '1 2.5\n3 nan\n' >nan.txt
printf '1 2.5\n-inf 3\n' >inf.txt
try nan.txt patch.txt
try frame.txt inf.txt
printf '\223NUMPY\001\000\110\000{%s}              \n\0\0\200\077\0\0\300\177' \
    "'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)" >nan.npy
try nan.npy 'nan.npy[1x1+0+0]' --metric ccorr
for shape in '(2, 2)     ' '( 2 ,2 ) ' '(2,2,1)    ' '(1, 2, 2,)' '(2, 2, 1,1)' '(2,2,1 ,1)' '(2 2)      ' '(4,)       ' '2, 2       ' '2, 2)      ' '(2, 2)     '; do
    printf "\223NUMPY\001\000\110\000{'descr': '|u1', 'fortran_order': False, 'shape': %s}" "$shape" >head
    { head -c 81 head; printf '%81s\n' | head -c $((82 - $(head -c 81 head | wc -c))); printf abcd; } >shape.npy
    try shape.npy 'shape.npy[1x1+0+0]' --metric ccorr
done
sed 's/False/Falsy/' shape.npy >order.npy
try order.npy 'order.npy[1x1+0+0]' --metric ccorr
printf '2.5 2.5\n2.5 2.5\n' >flat.txt
try frame.txt flat.txt
try --mask frame.txt frame.txt patch.txt
try --verify frame.txt patch.txt

# On devices, of which the tests have some that pretend.
TMATCH_PLUGIN_DIR="$TMATCH_FAKE_PLUGIN_DIR"
export TMATCH_PLUGIN_DIR
try --device cuda:0 -v frame.txt patch.txt 2>&1 | sed 's/; estimates:.*//; s/=[0-9.]* /=N /g'
try --device cuda --metric sqdiff --map pieces.npy -n 3 --min-score 100 frame.txt patch.txt
try --algorithm reference --metric sqdiff --map map.npy frame.txt patch.txt
cmp map.npy pieces.npy
awk 'BEGIN { for (y = 0; y < 5; y++) print "255 255 0 255 255 255 255" }' >mask.txt
try --device cuda --algorithm fft --mask mask.txt frame.txt patch.txt
