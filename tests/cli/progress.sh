# SPDX-License-Identifier: MIT
# A bar where standard error is a terminal, and only there.
cat >terminal.py <<'END'
import os, pty, re, sys
pid, terminal = pty.fork()
if pid == 0:
    os.dup2(os.open("out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    os.execvp(sys.argv[1], sys.argv[1:])
seen = b""
while True:
    try:
        some = os.read(terminal, 4096)
    except OSError:
        break
    if not some:
        break
    seen += some
os.waitpid(pid, 0)
bars = re.findall(rb"\[=*>? *\] +\d+%  \d+/\d+  [\d.]+ frames/s  \d+:\d\d left", seen)
print("a bar" if bars else "no bar", "escapes" if b"\x1b" in seen else "no escapes")
print(*(line.decode() for line in re.findall(rb"tmatch: [^;\r]*", seen)))
END
mkdir frames
for i in $(seq 300); do ln -s "$TMATCH_DATA_DIR/astronaut.png" frames/$i.png; done
set -- --device cpu --threads 1 --cpu-features none -t "$TMATCH_DATA_DIR/astronaut.png[20x20+100+100]"
python3 terminal.py tmatch "$@" frames
NO_COLOR=1 python3 terminal.py tmatch "$@" frames
python3 terminal.py tmatch -q "$@" frames
wc -l <out
tmatch "$@" frames 2>&1 >/dev/null | sed 's/; [0-9].*//'
