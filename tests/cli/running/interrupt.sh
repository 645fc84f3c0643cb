# SPDX-License-Identifier: MIT
# where: ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# SIGINT and SIGTERM let the frames in flight finish, and no other begin; a second one does
# not wait. The frame in flight is one that takes a second by the slowest way there is.
for name in a b c slow; do ln -s "$TMATCH_DATA_DIR/camera.png" $name.png; done
start() {
    : >out
    env --default-signal=INT,TERM,HUP tmatch --device cpu --threads 1 --algorithm reference \
        -t 'a.png[40x40+1+2]' "$@" 'a.png[90x90+0+0]' 'slow.png[400x400+0+0]' 'b.png[90x90+0+0]' \
        'c.png[90x90+0+0]' >out 2>err &
    pid=$!
    wait_until [ -s out ]
}
end() {
    wait $pid 2>/dev/null
    echo "status $?"
}
is_taken() { # the first signal
    grep -q '^ShdPnd:[[:space:]]*0*$' /proc/$pid/status
}
for signal in INT TERM; do
    start --resume log --report page.html
    kill -$signal $pid
    end
    cat out
    sed 's/; [0-9].*//' err
    wc -l <log
    grep -c '^\["' page.html
    grep -c 'id="interrupted"' page.html
    rm log page.html
done
start
kill -INT $pid
wait_until is_taken
sleep 0.1
kill -TERM $pid
end
cat out err
# HUP does not wait: there is nobody to see the totals.
start
kill -HUP $pid
end
cat out err
# On a terminal somebody wants to know that the signal was taken.
python3 - <<'PYTHON'
import os, pty, signal
pid, terminal = pty.fork()
if pid == 0:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ["TERM"] = "xterm"
    os.execvp("tmatch", "tmatch --device cpu --threads 1 --algorithm reference -t a.png[40x40+1+2] a.png[90x90+0+0] slow.png[400x400+0+0] b.png[90x90+0+0]".split())
seen, sent = b"", False
try:
    while part := os.read(terminal, 1000):
        seen += part
        if not sent and b"score=" in seen:
            os.write(terminal, b"\x03")
            sent = True
except OSError:
    pass
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen.count(b"ends when the frames that are begun are done; once more ends it at once"))
PYTHON
