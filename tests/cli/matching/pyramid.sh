# SPDX-License-Identifier: MIT
# where: ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# Poses by a pyramid: where the best match is found its bits are those of the other searches.
data astronaut.png camera.png
frame='camera.png[240x200+150+40]'
template='camera.png[71x64+225+100]'

for angle in 0:360 -20:20:0.5; do
    for how in '' '-n 3' '--subpixel' '--domain full' '--min-score 0.9' '--scale 0.9:1.1:0.1 --support full'; do
        tmatch -q --search pyramid --angle $angle $how "$frame" "$template" | head -n 1 >pyramid
        tmatch -q --search auto --angle $angle $how "$frame" "$template" | head -n 1 >auto
        cmp pyramid auto || echo "$angle $how"
    done
done
cat pyramid

echo "# What json says."
tmatch --search pyramid --format json --angle 0:350:10 "$frame" "$template" |
    grep -o '"search":"pyramid"'
tmatch -q --search pyramid --verify --angle -30:30 --color --min-score 0.9 'astronaut.png[160x170+90+300]' 'astronaut.png[50x60+140+350]'
tmatch -v --search pyramid --threads 2 --angle 0:350:10 "$frame" "$template" 2>&1 >/dev/null | grep -o '[0-9]* poses by a pyramid.*cells'

echo "# Nothing there."
try -n 0 --min-score 0.9 --search pyramid --angle 0:350:10 "$frame" 'astronaut.png[60x60+200+100]'

echo "# A log of another search is not gone on with."
tmatch -q --search pyramid --resume log --angle 0:270:90 "$frame" "$template" | wc -l
tmatch -q --search pyramid --resume log --angle 0:270:90 "$frame" "$template" | wc -l
tmatch -q --search auto --resume log --angle 0:270:90 "$frame" "$template" | wc -l
