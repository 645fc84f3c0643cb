# SPDX-License-Identifier: MIT
# The header says the shape, the elements are the scores.
printf '0 0 0 0\n0 9 0 0\n0 0 0 0\n' >frame.txt
printf '0 0\n0 1\n' >template.txt
for domain in valid same full; do
    for metric in lcc ccorr; do
        tmatch --domain $domain --metric $metric --map $domain-$metric.npy frame.txt template.txt
        head -c 128 $domain-$metric.npy | tail -c +11 | tr -d '\n' | sed 's/ *$//'
        echo
        case $metric in
        lcc) tail -c +129 $domain-$metric.npy | od -An -v -tf4 ;;
        ccorr) tail -c +129 $domain-$metric.npy | od -An -v -td8 ;;
        esac
    done
done
# In colour.
data camera.png
try --heatmap map.png --map map2.npy camera.png 'camera.png[20x20+101+202]'
try -n 3 --heatmap full.jpg --domain full camera.png 'camera.png[20x20+101+202]'
fail --heatmap map.npy camera.png 'camera.png[20x20+101+202]'
fail --heatmap map.png -o map.png camera.png 'camera.png[20x20+101+202]'
fail --heatmap camera.png camera.png 'camera.png[20x20+101+202]'
fail --heatmap map.png camera.png camera.png -t 'camera.png[20x20+101+202]'
# Over the frame, as large as that; of a region too.
try --heatmap over.png --heatmap-style overlay -n 2 camera.png 'camera.png[20x20+101+202]'
try --heatmap part.png --heatmap-style overlay --roi 90,190,100,80 --metric sqdiff camera.png 'camera.png[20x20+101+202]'
for picture in map.png full.jpg over.png part.png; do
    tmatch -v $picture 'camera.png[20x20+101+202]' 2>&1 | grep -o "tmatch: $picture: [PJ].*x[0-9]*"
done
fail --heatmap-style overlay camera.png 'camera.png[20x20+101+202]'
fail --heatmap map.png --heatmap-style blot camera.png 'camera.png[20x20+101+202]'
fail --heatmap never.png --heatmap-style overlay --max-memory 100K camera.png 'camera.png[20x20+101+202]'
ls
# The best of all poses: one row or column of each quarter turn, at the pixel left of or above a centre between pixels.
printf '0 0 0 0\n0 9 0 0\n0 5 0 0\n' >turned.txt
tmatch --angle 0:270:90 --map turned.npy turned.txt 'turned.txt[1x2+1+1]'
head -c 128 turned.npy | tail -c +11 | tr -d '\n' | sed 's/ *$//'
echo
tail -c +129 turned.npy | od -An -v -w16 -tf4
tmatch -q camera.png 'camera.png[60x50+100+200]' --crops in >cut.out
try --angle 0:90:45 --scale 1:1.1 --heatmap turned.png --heatmap-style overlay -n 2 in/*.png 'camera.png[20x20+120+215]'
tmatch -v turned.png 'camera.png[20x20+101+202]' 2>&1 | grep -o "tmatch: turned.png: [PJ].*x[0-9]*"
