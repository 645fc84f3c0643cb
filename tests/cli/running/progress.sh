# SPDX-License-Identifier: MIT
# where: python3 -c 'import pty; pty.openpty()' && ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# On a terminal: a bar below the results, and some colour; neither in files and pipes. The
# terminal is one that knows the few codes that are used, and nothing else.
cat >terminal.py <<'END'
import fcntl, os, pty, re, struct, sys, termios

columns, outputs, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    if outputs != "terminal":
        os.dup2(os.open(outputs, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    os.execvp(command[0], command)
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
text = seen.decode()

# What is on the screen after each piece; no line is ever broken here.
screen, x, bars, above, widest = [""], 0, 0, True, 0
is_bar = re.compile(r"(\[=*>? *\] )? *\d+%  \d+/\d+")
for piece in re.findall(r"\r|\n|\x1b\[[0-9;]*[A-Za-z]|[^\r\n\x1b]+|\x1b", text):
    if piece == "\r":
        x = 0
    elif piece == "\n":
        screen.append("")
    elif piece == "\x1b[K":
        screen[-1] = screen[-1][:x]
    elif re.fullmatch(r"\x1b\[[0-9;]*m", piece):
        continue
    elif piece[0] == "\x1b":
        print("a code that is not known:", repr(piece))
    else:
        screen[-1] = screen[-1][:x] + piece + screen[-1][x + len(piece):]
        x += len(piece)
        if is_bar.match(screen[-1]):
            bars += 1
            widest = max(widest, len(screen[-1]))
        above = above and not any(is_bar.search(line) for line in screen[-3:-1])
print("a bar" if bars else "no bar", "below all" if above else "between results",
      "within the line" if widest < columns else "wider than the line",
      "colours" if re.search(r"\x1b\[[0-9;]*m", text) else "no colours")
results = [line for line in screen if re.search(r": x=\d+ y=\d+ w=20 h=20 score=\S+$", line)]
print(len(results), "results")
print(*(re.sub(";.*| \\(PNG.*", "", line) for line in screen if line and line not in results), sep="\n")
END
mkdir frames
for i in $(seq 100); do ln -s "$TMATCH_DATA_DIR/astronaut.png" frames/$i.png; done
echo nonsense >frames/7.jpg
set -- --device cpu --threads 1 --cpu-features none -t "$TMATCH_DATA_DIR/astronaut.png[20x20+100+100]"
export TERM=xterm
python3 terminal.py 80 out tmatch "$@" frames
wc -l <out
python3 terminal.py 80 terminal tmatch "$@" frames
NO_COLOR=1 python3 terminal.py 20 terminal tmatch "$@" frames
TERM=dumb python3 terminal.py 40 terminal tmatch "$@" frames
python3 terminal.py 80 terminal tmatch -q "$@" frames/1*
# One colour for errors, one for what may be wrong, and one for scores.
python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' tmatch --device cpu -t 'frames/1.png[20x20+9+8]' \
    frames/1.png frames/7.jpg "$TMATCH_DATA_DIR/brick.png" </dev/null | sed "s|$TMATCH_DATA_DIR/||; s/\x1b/ESC/g; s/\r//; s/; [0-9].*//; s/ (PNG.*//"
tmatch "$@" frames/7* frames/8* 2>&1 >/dev/null | sed 's/; [0-9].*//; s/ (PNG.*//'
