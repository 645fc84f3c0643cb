# SPDX-License-Identifier: MIT
# needs: libavformat
# runs: ffmpeg
# where: ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# Appearances as chapters and as an edit decision list.
data coffee.png
ffmpeg() {
    command ffmpeg -v error -nostdin -bitexact "$@"
}
ffmpeg -i coffee.png -vf crop=48:40:200:100 'a=&.png'
make_clip() { # RATE FILE: seen in frames 6 to 8 and 21 to 31 of 40
    ffmpeg -f lavfi -i testsrc2=s=160x120:r=$1:d=2 -framerate $1 -loop 1 -i 'a=&.png' -filter_complex \
        "[0][1]overlay=x='20+2*n':y=60:enable='between(n,5,7)+between(n,20,30)':shortest=1" -frames 40 -c:v ffv1 -g 8 "$2"
}
make_clip 25 clip.mkv
set -- -q --min-score 0.9 --device cpu
tmatch "$@" --gap 0.2 --chapters clip.ffmeta --edl clip.edl clip.mkv 'a=&.png' | grep -c none:
cat clip.ffmeta clip.edl
tmatch "$@" --gap 0.2 --intervals --chapters clip.vtt clip.mkv 'a=&.png' | sed 's/ best=[0-9.]*//'
cat clip.vtt
# As ffmpeg reads them, and puts them into a movie.
for clip in new.mp4 new.mkv; do
    ffmpeg -i clip.mkv -i clip.ffmeta -map 0 -map_chapters 1 -c:v mpeg4 $clip
    ffmpeg -i $clip -f ffmetadata - | sed -n '/TIMEBASE\|START\|END\|title/p' | paste -sd ' '
done
# The same when it was gone on with, and when there is nothing to be printed.
cp clip.ffmeta expected
tmatch "$@" --resume log clip.mkv 'a=&.png' | grep -c none:
tmatch "$@" --gap 0.2 --resume log --chapters clip.ffmeta clip.mkv 'a=&.png'
cmp clip.ffmeta expected
ffmpeg -i clip.mkv -pix_fmt yuv444p -strict -1 clip.y4m
for shard in 1 2; do
    tmatch -q --min-score 0.9 --resume $shard.log --shard $shard/2 clip.y4m 'a=&.png' >/dev/null
done
tmatch --merge -q --format json --gap 0.2 --chapters clip.ffmeta [12].log | grep -c '"matches":\[{'
cmp clip.ffmeta expected
# Rates: frames are counted, also where there are fewer than 30 a second by a thousandth.
make_clip 30000/1001 ntsc.mkv
tmatch "$@" --gap 0.2 --from 0.5 --edl clip.edl ntsc.mkv 'a=&.png' >/dev/null
cat clip.edl
fail "$@" --intervals --edl clip.edl -t 'a=&.png' clip.mkv ntsc.mkv | sed 's/ best=[0-9.]*//'
cp clip.mkv other.mkv
tmatch "$@" --gap 0.2 --edl clip.edl clip.mkv other.mkv -t 'a=&.png' >/dev/null
sed -n '$p; /^00/p; /CLIP/p' clip.edl
tmatch "$@" --gap 0.2 --edl none.edl --chapters none.ffmeta --to 0.2 clip.mkv 'a=&.png' >/dev/null
cat none.edl none.ffmeta
fail "$@" --chapters clip.ffmeta -t 'a=&.png' clip.mkv other.mkv
fail "$@" --chapters clip.html clip.mkv 'a=&.png'
fail "$@" --edl clip.txt clip.mkv 'a=&.png'
fail "$@" --edl missing/clip.edl clip.mkv 'a=&.png'
fail "$@" --chapters clip.vtt --intervals coffee.png 'a=&.png'
