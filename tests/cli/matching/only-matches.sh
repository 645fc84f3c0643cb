# SPDX-License-Identifier: MIT
# status: 1
# Where nothing reaches the threshold, nothing is said of what comes nearest; what reaches it is as without.
data camera.png text.png rocket.jpg
crop='text.png[24x18+100+50]'
for options in '' '-n 2' '-n 0' '--format csv' '--format json' '--subpixel --verify' '--search exhaustive' '--search certified' '--search pyramid'; do
    echo "== $options"
    tmatch --only-matches --min-score 0.9 --threads 1 --angle 0:90:30 $options camera.png "$crop" 2>&1 |
        sed 's/,"scored".*/}/; s/,"algorithm".*/}/'
done
for options in '' '-n 3' '-n 0' '--format csv'; do
    echo "== found, $options"
    tmatch --min-score 0.7 --angle 0:90:30 $options camera.png 'camera.png[24x24+101+202]' >without
    tmatch --only-matches --min-score 0.7 --angle 0:90:30 $options camera.png 'camera.png[24x24+101+202]' | diff without - && wc -l <without
done
echo '== not turned, a folder, a log'
tmatch --only-matches --min-score 0.9 -t "$crop" camera.png rocket.jpg
tmatch --only-matches --min-score 0.9 -q --angle 0:90:30 --resume log.jsonl -t "$crop" camera.png rocket.jpg
sed 's/.*"poses"/"poses"/; s/,"id".*/}/' log.jsonl
tmatch --only-matches --min-score 0.9 -q --angle 0:90:30 --resume log.jsonl -t "$crop" camera.png rocket.jpg
echo '== thresholds of -n 0'
tmatch --only-matches -n 0 --angle 0:90:30 camera.png "$crop" 2>&1
fail --only-matches camera.png "$crop" 2>&1
fail --only-matches -n 0 --metric sqdiff camera.png "$crop" 2>&1
tmatch -q --only-matches --min-score 0.9 camera.png "$crop"
echo '== shards'
for i in 1 2; do
    tmatch --only-matches --min-score 0.9 -q --angle 0:90:30 --shard $i/2 --resume shard$i.jsonl -t "$crop" camera.png rocket.jpg >/dev/null
done
for format in text csv json; do
    tmatch -q --only-matches --min-score 0.9 --angle 0:90:30 --format $format -t "$crop" camera.png rocket.jpg | sed 's/,"algorithm".*/}/' >one
    tmatch --merge --format $format shard1.jsonl shard2.jsonl | sed 's/,"algorithm".*/}/; s/,"id".*/}/' | diff one - && echo "$format: as one run"
done
fail --only-matches --min-score 0.9 --rows 0:100 camera.png "$crop" 2>&1
tmatch -q --only-matches --min-score 0.9 camera.png "$crop"
