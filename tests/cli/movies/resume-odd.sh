# SPDX-License-Identifier: MIT
# needs: libavformat
# runs: ffmpeg
# Movies of variable rate, turned, torn and damaged ones are gone on with as even ones are: same lines, same log, same
# status. What holds no pictures stays an error.
data coffee.png
ffmpeg() {
    command ffmpeg -v error -nostdin -bitexact "$@"
}
ffmpeg -i coffee.png -vf crop=24:20:200:100 logo.png
# The clock's ticks are no milliseconds.
ffmpeg -f lavfi -i testsrc2=s=128x96:r=30000/1001:d=4 -vf "select='not(between(n,8,15))*not(eq(mod(n,7),3))'" -vsync vfr \
    -c:v mpeg4 -q:v 3 -g 20 -bf 2 -video_track_timescale 90000 -movflags +faststart uneven.mp4
ffmpeg -i uneven.mp4 -c copy uneven.mkv
ffmpeg -i uneven.mp4 -c:v mpeg2video -q:v 3 -g 15 -bf 2 uneven.ts
python3 - <<'PYTHON'
def write(name, data):
    open(name, "wb").write(data)

mp4, mkv, ts = (open("uneven." + ending, "rb").read() for ending in ("mp4", "mkv", "ts"))
at = mp4.index(b"tkhd") + 44
turned = b"".join(n.to_bytes(4, "big", signed=True) for n in [-1 << 16, 0, 0, 0, -1 << 16, 0, 0, 0, 1 << 30])
write("turned.mp4", mp4[:at] + turned + mp4[at + 36:])
write("torn.mp4", mp4[:len(mp4) * 3 // 4])
write("torn.mkv", mkv[:len(mkv) * 3 // 4])
write("hurt.ts", ts[:30000] + b"x" * 3000 + ts[33000:])
PYTHON
resume() { # FILE
    tmatch -q --device cpu --resume log "$1" logo.png 2>err
    echo "status $?" >status
    sed -i 's/damaged: .*/damaged: .../' err
}
for clip in uneven.mp4 uneven.mkv uneven.ts turned.mp4 torn.mp4 torn.mkv hurt.ts; do
    rm -f log
    resume $clip >all
    cat err status
    mv log whole
    cp err all.err
    cp status all.status
    for lines in 19 40; do
        head -n $lines whole >log
        resume $clip >rest
        tail -n +$((lines + 1)) all | cmp - rest
        cmp err all.err
        cmp status all.status
        # which of a codec's complaints comes first is its threads' affair
        sed 's/"error".*//' whole >expected
        sed 's/"error".*//' log | cmp - expected
    done
    resume $clip
    [ "$(wc -l <all)" = "$(grep -vc '"error"' whole)" ] && [ "$(wc -l <all)" -gt 60 ] && echo "$clip: gone on"
done
ffmpeg -f lavfi -i sine=d=1 -c:a aac sound.m4a
rm log
for i in 1 2; do
    fail --resume log sound.m4a logo.png
done
