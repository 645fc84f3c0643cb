# SPDX-License-Identifier: MIT
# Every score equals the definition's, bit for bit.
data brick.png gravel.png
for domain in valid same full; do
    for metric in lcc ccorr; do
        tmatch --verify --domain $domain --metric $metric 'brick.png[90x70+10+10]' 'gravel.png[19x24+5+8]'
    done
done
tmatch --verify --format json --device cpu --algorithm direct 'brick.png[90x70+10+10]' 'brick.png[9x7+50+40]' |
    without_times
tmatch --verify --format csv 'brick.png[90x70+10+10]' 'brick.png[9x7+50+40]' 2>&1
# Also when nothing is found, and with a map.
tmatch --verify --min-score 1 --map map.npy 'brick.png[90x70+10+10]' 'gravel.png[19x24+5+8]'
echo "status $?"
