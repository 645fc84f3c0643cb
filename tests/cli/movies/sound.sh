# SPDX-License-Identifier: MIT
# needs: libavformat
# runs: ffmpeg
# where: ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# An annotated movie has the sound of the one that it is made of, packet by packet, at the same times.
data coffee.png
ffmpeg() {
    command ffmpeg -v error -nostdin -bitexact "$@"
}
ffmpeg -f lavfi -i testsrc2=s=160x90:r=25:d=2 -f lavfi -i sine=440:r=48000:d=2.5 -c:v mpeg4 -q:v 2 -c:a pcm_s16le clip.mov
ffmpeg -i clip.mov -c:v copy -c:a mp2 -b:a 64k clip.mkv
sound() { # the time of each packet in seconds, and its hash
    ffmpeg -i "$1" -map 0:a -c copy -f framemd5 - |
        awk -F'[:, ]+' '/^#tb/ { unit = $3 } /^[^#]/ { split(unit, u, "/"); printf "%.3f %s\n", $3 * u[1] / u[2], $NF }'
}
annotate() {
    tmatch -q --device cpu "$@" 'coffee.png[48x40+200+100]' >/dev/null
}
sound clip.mkv >whole
annotate -o seen.mkv clip.mkv
annotate -o seen.mp4 clip.mkv
annotate -o thin.mkv --every 5 clip.mkv
for name in seen.mkv seen.mp4 thin.mkv; do
    sound $name | cmp - whole && echo "$name: the same sound"
done
annotate -o part.mkv --from 0.5 --to 1.5 clip.mkv
sound part.mkv >part
# It begins with the frame at 0.53.
awk '$1 >= 0.53 && $1 < 1.5 { print $2 }' whole >expected
awk '{ print $2 }' part | cmp - expected && echo "a part: $(wc -l <part) of $(wc -l <whole) packets, the first at $(sed -n '1s/ .*//p' part)"
head -c 60000 clip.mkv >torn.mkv
fail -q --device cpu -o torn.mp4 torn.mkv 'coffee.png[48x40+200+100]' | tail -n 1
head -n 5 whole >expected
sound torn.mp4 | head -n 5 | cmp - expected && echo "torn: the same, as far as it goes"
ffmpeg -i clip.mkv -an mute.mkv
annotate -o mute.mp4 mute.mkv && sound mute.mp4 2>/dev/null | wc -l
echo "what the container does not take:"
tmatch --device cpu -o seen.webm clip.mkv 'coffee.png[48x40+200+100]' 2>&1 >/dev/null | grep sound
sound seen.webm 2>/dev/null | wc -l
