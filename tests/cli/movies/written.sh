# SPDX-License-Identifier: MIT
# needs: libavformat
# runs: ffmpeg
# where: ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# The annotated output of a movie is a movie: frames, times, size and side of the one that is matched.
data coffee.png
ffmpeg() {
    command ffmpeg -v error -nostdin -bitexact "$@"
}
ffmpeg -i coffee.png -vf crop=48:40:200:100 logo.png
ffmpeg -f lavfi -i testsrc2=s=192x108:r=25:d=1.2 -loop 1 -i logo.png -filter_complex \
    "[0][1]overlay=x='40+2*n':y=60:enable='between(n,5,12)':shortest=1" -c:v ffv1 -pix_fmt yuv420p in.mkv
# The rate varies, and is none of those that clocks tick by.
ffmpeg -i in.mkv -vf "select='not(between(n,8,10))*not(eq(n,20))',setpts='PTS+0.0213/TB*gt(N,3)'" -vsync vfr -c:v ffv1 \
    -time_base 1/1000 clip.mkv
shown() { # numbers and times
    tmatch -q --device cpu "$@" logo.png | sed 's/^[^#]*#\([0-9]*\): .* time=/\1 /'
}
shown clip.mkv >wanted
found() {
    tmatch -q --device cpu --min-score 0.9 "$@" logo.png | sed '/: none/d; s/^[^#]*//; s/ score=[0-9.]*//'
}
found clip.mkv >places
tmatch -q --device cpu --min-score 0.9 -o stills/ clip.mkv logo.png >lines
for name in out.mp4 out.mkv out.mov out.m4v; do
    tmatch -q --min-score 0.9 --threads 2 -o $name clip.mkv logo.png | diff lines - && shown $name | cmp - wanted
    # What is drawn is around the matches.
    found $name | cmp - places
done
# The boxes, and their colours.
tmatch -q --device cpu --color --min-score 0.85 out.mp4 'stills/clip.mkv#7.png[60x52+48+54]' | sed -n '/#7: /s/ score.*//p'
tmatch -v --to 0.04 -o out.mp4 clip.mkv logo.png 2>&1 | grep -c '^tmatch: out.mp4: a movie, encoded by [a-z0-9]*$'
# A part begins at its beginning; so does a movie of frames that are left out.
tmatch -q --min-score 0.9 --from 0.2 --to 0.5 -o part.mp4 clip.mkv logo.png | sed 's/.*time=//' | paste -sd ' '
shown part.mp4 | paste -sd ' '
tmatch -q --min-score 0.9 --every 3 -o part.mkv clip.mkv logo.png | sed 's/.*time=//' | paste -sd ' '
shown part.mkv | paste -sd ' '
# Sizes that are odd; upright, without a match and several at a time; as stored; of Y4M; from pipes.
size() {
    tmatch -q --device cpu --format json "$@" logo.png | sed 's/.*"frame_size":\([^]]*.\).*/\1/' | uniq -c
}
ffmpeg -i in.mkv -vf format=yuv444p,crop=171:95:0:10:exact=1 -c:v ffv1 odd.mkv
ffmpeg -i in.mkv -c:v mpeg4 -q:v 2 lying.mp4
python3 - <<'PYTHON'
data = open("lying.mp4", "rb").read()
at = data.index(b"tkhd") + 44
matrix = b"".join(number.to_bytes(4, "big", signed=True) for number in [0, -1 << 16, 0, 1 << 16, 0, 0, 0, 0, 1 << 30])
open("turned.mp4", "wb").write(data[:at] + matrix + data[at + 36:])
PYTHON
ffmpeg -i in.mkv -f yuv4mpegpipe in.y4m
annotate() {
    tmatch -q --device cpu --min-score 0.9 "$@" logo.png >lines
    echo "status $?, $(wc -l <lines) lines"
}
annotate -o odd.mp4 odd.mkv
size odd.mp4
annotate --in-flight 8 --threads 4 -o upright.mp4 turned.mp4
size upright.mp4
annotate --ignore-orientation -o stored.mp4 turned.mp4
size stored.mp4
annotate -o y4m.mp4 in.y4m
size y4m.mp4
cat clip.mkv | annotate -o pipe.mkv -
size pipe.mkv
cat in.y4m | annotate -o y4m.mkv -
size y4m.mkv
# What cannot be: nothing is left of it.
fail --resume log -o seen.mp4 clip.mkv logo.png
fail -o clip.mkv clip.mkv logo.png
fail -o none/seen.mp4 clip.mkv logo.png
fail -o seen.avi clip.mkv logo.png
fail -o seen.mp4 clip.mkv in.y4m -t logo.png
fail -q -o seen.mp4 coffee.png logo.png
cat coffee.png logo.png | fail -o seen.mp4 - logo.png
ffmpeg -i in.mkv -c:v mpeg2video -q:v 2 -f mpeg2video a
ffmpeg -i odd.mkv -c:v mpeg2video -q:v 2 -f mpeg2video b
cat a b >both
tmatch -q -o seen.mp4 both logo.png 2>&1 >lines
head -c $(($(stat -c %s in.mkv) / 2)) in.mkv >torn
tmatch -q -o torn.mp4 torn logo.png 2>&1 >lines | cut -c 1-40
[ "$(shown torn.mp4 | wc -l)" = "$(wc -l <lines)" ] && echo "what could be decoded"
ln -s /dev/full full.mkv
tmatch -q -o full.mkv clip.mkv logo.png 2>&1 >lines
ls -A | grep seen
true
