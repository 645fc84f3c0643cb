# SPDX-License-Identifier: MIT
# SIGINT lets the frames in flight finish, and no other begin; a second one does not
# wait. The frame in flight is one that comes slowly.
for name in a b c; do ln -s "$TMATCH_DATA_DIR/camera.png" $name.png; done
mkfifo slow.png
start() {
    : >out
    env --default-signal=INT tmatch --device cpu --threads 1 -t 'a.png[20x20+1+2]' "$@" \
        a.png slow.png b.png c.png >out 2>err &
    pid=$!
    for n in $(seq 600); do
        [ -s out ] && break
        sleep 0.05
    done
}
start
kill -INT $pid
sleep 0.2
cat a.png >slow.png
wait $pid 2>/dev/null
echo "status $?"
cat out
sed 's/; [0-9].*//' err
start -o seen
kill -INT $pid
sleep 0.2
kill -INT $pid
wait $pid 2>/dev/null
echo "status $?"
cat out err
# TERM does not wait either.
start
kill -TERM $pid
wait $pid 2>/dev/null
echo "status $?"
cat out err
