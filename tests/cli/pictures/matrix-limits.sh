# SPDX-License-Identifier: MIT
# Text matrices and NumPy arrays are measured before they are read: what is beyond --max-pixels or
# --max-memory is refused without the time and the memory that reading it takes.
data camera.png
matrix() { # FORMAT: 600 x 600 numbers that differ from place to place
    awk -v format="$1" 'BEGIN {
        for (y = 0; y < 600; y++)
            for (x = 0; x < 600; x++)
                printf format "%s", (x * x * 7 + y * y * 3 + x * y) % 251, x < 599 ? " " : "\n"
    }'
}
matrix %d >whole.txt
matrix %.1f >points.txt
matrix %d.5 >floats.txt
tr '\n' ' ' <whole.txt >row.txt
printf '\223NUMPY\1\0\166\0%-117s\n' \
    "{'descr': '|u1', 'fortran_order': False, 'shape': (600, 600), }" >array.npy
matrix '%d\n' | awk '{ printf "%c", 32 + $1 % 90 }' | head -c 360000 >>array.npy
# Of 8 bits, arrays are read by rows where they are too large.
printf '\223NUMPY\1\0\166\0%-117s\n' \
    "{'descr': '<u2', 'fortran_order': False, 'shape': (600, 600), }" >deep.npy
matrix '%d\n' | awk '{ printf "%c%c", 32 + $1 % 90, 32 + $1 % 70 }' | head -c 720000 >>deep.npy
echo '1.5 2 9 4.25' >template.txt
# What is beyond the limit is not looked at: here it is no matrix.
echo 'and so on' | cat whole.txt - >tale.txt
echo 'and so on' | cat row.txt - >tail.txt
for frame in tale.txt tail.txt; do
    fail --max-pixels 300000 $frame 'camera.png[9x1+100+0]'
    fail $frame 'camera.png[9x1+100+0]'
done
for frame in whole.txt points.txt; do
    try --max-pixels 360000 $frame 'whole.txt[9x9+100+200]'
done
try --depth float --max-pixels 360000 floats.txt 'floats.txt[9x9+100+200]'
for frame in whole.txt points.txt floats.txt row.txt; do
    fail --max-pixels 359999 $frame 'camera.png[9x1+100+0]'
done
# 2 bytes a pixel where all are whole numbers up to 255, else 8; five eighths of the memory are for
# pixels.
for frame in whole.txt points.txt row.txt; do
    fail --max-memory 500K $frame 'camera.png[9x1+100+0]'
    try -q --max-memory 1300K $frame 'camera.png[9x1+100+0]'
done
fail --max-memory 500K deep.npy 'camera.png[9x1+100+0]'
try -q --depth 8 --max-memory 2M deep.npy 'camera.png[9x1+100+0]'
tmatch -q array.npy 'array.npy[30x20+200+311]' >whole.out
tmatch -q --max-memory 500K array.npy 'array.npy[30x20+200+311]' | cmp - whole.out && echo by rows as whole
fail --max-memory 4M --depth float floats.txt template.txt
try -q --max-memory 5M --depth float floats.txt template.txt
# Rows of different lengths are no large matrix, whatever the first row and the number of rows are.
{ printf '%32768s\n' '' | tr ' ' 7 | sed 's/7/7 /g'; printf '%32768s' '' | tr ' ' 7 | sed 's/7/7\n/g'; } >ragged.txt
fail --max-pixels 300000 ragged.txt template.txt
fail --max-memory 500K ragged.txt template.txt
