# SPDX-License-Identifier: MIT
# needs: libavformat
# runs: ffmpeg
# where: ! grep -q __asan_init "$TMATCH" # there the CPU takes seconds for a short movie, too
# By itself a movie goes to a device where matching its frames on the CPU would take seconds: by the duration that it
# states, here a lie, or where there is none, once it has taken one.
data coffee.png
export TMATCH_PLUGIN_DIR="$TMATCH_FAKE_PLUGIN_DIR"
command ffmpeg -v error -nostdin -bitexact -f lavfi -i testsrc2=s=160x96:r=25:d=8 -c:v mpeg4 -q:v 2 short.mkv
python3 - <<'PYTHON'
import struct
data = open("short.mkv", "rb").read()
at = data.index(b"\x44\x89\x88") + 3  # Duration, in milliseconds
open("long.mkv", "wb").write(data[:at] + struct.pack(">d", 36e6) + data[at + 8:])
PYTHON
count() {
    tmatch -q --threads 2 --format json "$@" 'coffee.png[24x20+200+100]' >results
    echo "$(wc -l <results) frames, $(grep -c '"device":"cpu"' results | sed 's/^200$/all/; s/^[1-9].*/some/') by the CPU"
    sed 's/,"algorithm".*//; s/"frame":"[a-z.]*#/"frame":"#/' results | cmp - all
}
tmatch -q --device cpu --format json short.mkv 'coffee.png[24x20+200+100]' |
    sed 's/,"algorithm".*//; s/"frame":"[a-z.]*#/"frame":"#/' >all
count short.mkv
count long.mkv
count --device cpu long.mkv
count --every 1 --in-flight 3 long.mkv
