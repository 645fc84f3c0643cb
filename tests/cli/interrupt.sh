# SPDX-License-Identifier: MIT
# SIGINT and SIGTERM let the frames in flight finish, and no other begin; a second one does
# not wait. The frame in flight is one that comes slowly.
for name in a b c; do ln -s "$TMATCH_DATA_DIR/camera.png" $name.png; done
mkfifo slow.png
start() {
    : >out
    env --default-signal=INT,TERM,HUP tmatch --device cpu --threads 1 -t 'a.png[20x20+1+2]' "$@" \
        a.png slow.png b.png c.png >out 2>err &
    pid=$!
    # Opened when tmatch opens it to read: it is in flight from now on.
    exec 3>slow.png
    wait_until [ -s out ]
}
end() {
    wait $pid 2>/dev/null
    echo "status $?"
    exec 3>&-
}
# The signal was taken, and every thread waits for something again.
is_settled() {
    grep -q '^ShdPnd:[[:space:]]*0*$' /proc/$pid/status && ! cat /proc/$pid/task/*/stat | grep -qv ') S '
}
for signal in INT TERM; do
    start --resume log --report page.html
    kill -$signal $pid
    wait_until is_settled
    cat a.png >&3
    exec 3>&-
    end
    cat out
    sed 's/; [0-9].*//' err
    wc -l <log
    grep -c '^\["' page.html
    rm log page.html
done
start -o seen
kill -INT $pid
wait_until is_settled
kill -TERM $pid
end
cat out err
# HUP does not wait: there is nobody to see the totals.
start
kill -HUP $pid
end
cat out err
