# SPDX-License-Identifier: MIT
# Frames that --max-memory has no room for are read, matched and written by rows.
data astronaut.png camera.png chelsea.png patch.jpg
crop='camera.png[20x20+101+202]'
tmatch --max-memory 100K -v camera.png "$crop" 2>err
sed 's/ms waited.*/ms waited/; s/, [0-9]* ms/, N ms/; s/direct.* on cpu.*; in/direct on cpu; in/' err
tmatch --max-memory 1GiB -v camera.png "$crop" 2>&1 >/dev/null | grep -c ' bands of '
fail --max-memory 100K camera.png 'camera.png[200x300+10+20]'
fail --max-memory 100K camera.png chelsea.png
tmatch --max-memory 300K 'camera.png[400x400+100+100]' "$crop"
tmatch --max-memory 150k -t "$crop" -t 'camera.png[9x9+300+400]' camera.png
tmatch --max-memory 200K --min-score 0.9 camera.png patch.jpg
echo "status $?"
tmatch --max-memory 100K --format json camera.png "$crop" | without_times
# The same map, in every domain.
for domain in valid same full; do
    tmatch --domain $domain --map whole.npy camera.png "$crop"
    tmatch --domain $domain --max-memory 400K --map rows.npy camera.png "$crop"
    cmp whole.npy rows.npy
done
fail --max-memory 20K camera.png "$crop"
fail --max-memory 32767 camera.png "$crop"
tmatch --max-memory 32768 camera.png "$crop"
fail --max-memory 39327 camera.png 'camera.png[20x24+101+202]'
tmatch --max-memory 39328 camera.png 'camera.png[20x24+101+202]'
fail --max-memory 100K -o out.png camera.png "$crop"
fail --max-memory 100K --verify camera.png "$crop"
fail --max-memory 100K -n 0 camera.png "$crop"
fail --max-memory 400K --map no/where.npy camera.png "$crop"
fail --max-memory 0 camera.png "$crop"
fail --max-memory 5X camera.png "$crop"
fail --max-memory 5MB camera.png "$crop"
fail --max-gpu-memory -1 camera.png "$crop"
head -c 90000 camera.png >cut.png
fail --max-memory 100K cut.png "$crop"
fail --max-memory 400K --map cut.npy cut.png "$crop"
ls cut.npy 2>&1
# Part of a frame that has no room keeps its colours, its depth and its mask; and what
# a pixel takes counts.
part='chelsea.png[120x100+150+60]'
bitmap 20 20 1 >hole.pbm
bitmap 120 100 1 >holes.pbm
for options in --color '--depth 16' '--mask hole.pbm' '--frame-mask holes.pbm'; do
    # shellcheck disable=SC2086
    for memory in 1G 200K; do
        tmatch --max-memory $memory $options "$part" 'astronaut.png[20x20+200+100]'
    done
done
tmatch --max-memory 400K chelsea.png 'astronaut.png[20x20+200+100]'
for options in --color '--depth 16' '--depth float'; do
    # shellcheck disable=SC2086
    fail --max-memory 400K $options chelsea.png 'astronaut.png[20x20+200+100]'
done
# Matched plane by plane, in bands of rows, or where not one row has room, not at all.
for height in 20 60; do
    bitmap 4 $height 1 >mask.pbm
    try --max-memory 860K --threads 1 --algorithm fft --mask mask.pbm --depth 16 camera.png \
        "camera.png[4x$height+101+202]" 2>&1
done
# A row that has no room, of a file of 58 bytes.
printf '\211PNG\015\012\032\012\000\000\000\015IHDR\177\377\377\377\000\000\000\001\010\000\000\000\000\205]l\001\000\000\000\001IDATxv\346\204\346\000\000\000\000IEND\256B`\202' >wide.png
fail --max-memory 64M wide.png "$crop"
fail --max-memory 64M --max-pixels 3000000000 wide.png "$crop"
# Devices with little memory, and a fault on the way.
export TMATCH_PLUGIN_DIR="$TMATCH_FAKE_PLUGIN_DIR"
tmatch --max-memory 100K --max-gpu-memory 20K --device cuda:0,1 camera.png "$crop"
TMATCH_FAULT=0:20:719 tmatch --max-memory 100K --device cuda:0,1 camera.png "$crop"
# Templates that cannot be compared keep no others from it.
(echo P5 20 20 65535; seq 1000 | head -c 800) >deep.pgm
tmatch --max-memory 150K -t "$crop" -t deep.pgm camera.png 2>&1
echo "status $?"
# Nor do those with transparent pixels, which a frame that comes by rows is not compared with.
printf '\211PNG\015\012\032\012\000\000\000\015IHDR\000\000\000\003\000\000\000\003\010\004\000\000\000\374!}\064\000\000\000\036IDATx\332c``P\375\357\365\237!\372\177\303\377\245\377\031\266\375\277\375\237\341?\000e\244\013y\343\352\032\134\000\000\000\000IEND\256B`\202' >clear.png
tmatch --max-memory 150K -t "$crop" -t clear.png camera.png 2>&1
echo "status $?"
