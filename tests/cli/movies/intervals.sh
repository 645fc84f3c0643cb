# SPDX-License-Identifier: MIT
# needs: libavformat
# runs: ffmpeg
# where: ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# When templates are seen: appearances to the frame, of places that move, of several templates and places.
data coffee.png camera.png
ffmpeg() {
    command ffmpeg -v error -nostdin -bitexact "$@"
}
ffmpeg -i coffee.png -vf crop=48:40:200:100 a.png
ffmpeg -i camera.png -vf crop=40:48:220:90 b.png
# a moves right in frames 6 to 8 and 21 to 31, and stands elsewhere in 41 to 60; a copy of it stands in 51 to 55, and b
# in 11 to 60, the last.
ffmpeg -f lavfi -i testsrc2=s=320x180:r=25:d=2.4 -loop 1 -i a.png -loop 1 -i b.png -filter_complex "
    [1]split=3[a1][a2][a3];
    [0][a1]overlay=x='40+4*n':y=60:enable='between(n,5,7)+between(n,20,30)':shortest=1[v1];
    [v1][a2]overlay=x=40:y=130:enable='gte(n,40)':shortest=1[v2];
    [v2][a3]overlay=x=260:y=130:enable='between(n,50,54)':shortest=1[v3];
    [v3][2]overlay=x=240:y=20:enable='gte(n,10)':shortest=1" -c:v ffv1 -g 12 clip.mkv
when() { # without the scores, which are the decoder's affair
    tmatch -q --intervals "$@" | sed 's/ best=[0-9.]*//'
}
when clip.mkv a.png
when --gap 0.4 clip.mkv a.png
when -n 2 --min-score 0.9 -t a.png -t b.png clip.mkv
echo "a frame in five, and some of the time:"
when --every 5 clip.mkv a.png
when --from 0.28 --to 1 clip.mkv a.png
when -n 2 --to 2.16 clip.mkv a.png
echo "as data:"
tmatch -q --intervals --gap 0.4 --min-score 0.9 --format json clip.mkv a.png | sed 's/"score":[0-9.]*/"score":S/g'
tmatch -q --intervals --gap 0.4 --min-score 0.9 --format csv -t a.png -t b.png -t 'camera.png[64x64+300+300]' clip.mkv coffee.png |
    sed 's/\(.*\),0\.[0-9]*,/\1,S,/'
echo "what is not there, and pictures:"
try -q --intervals --min-score 0.9 clip.mkv 'camera.png[64x64+300+300]' | sed 's/best .*time/best … time/'
tmatch -q --intervals --format json clip.mkv 'camera.png[64x64+300+300]' | sed 's/"best".*//'
tmatch -q --intervals -t a.png clip.mkv coffee.png clip.mkv | sed 's/ best=0[0-9.]*//'
tmatch --intervals clip.mkv a.png 2>&1 | sed -n '$s/;.*//p'
echo "through pipes, of other rates, after a kill, in shards:"
when clip.mkv a.png >expected
cat clip.mkv | when - a.png | sed 's/^-/clip.mkv/' | diff expected - && echo "a pipe: the same"
ffmpeg -i clip.mkv -pix_fmt yuv444p -strict -1 clip.y4m
when clip.y4m a.png | sed 's/y4m/mkv/' | diff expected - && echo "Y4M: the same"
set -- -q --device cpu -n 2 -t a.png -t b.png clip.mkv
tmatch --intervals --report one.html --format json "$@" >whole
ls one.stills
tmatch --resume all "$@" >/dev/null
for lines in 1 60 120; do
    head -n $lines all >log
    rm -rf page.stills
    tmatch --resume log --report page.html --intervals --format json "$@" | diff whole - && diff -r one.stills page.stills && echo "gone on after $lines: the same"
done
set -- -q --min-score 0.9 clip.y4m a.png
for shard in 1 2 3; do
    tmatch --resume $shard.log --shard $shard/3 "$@" >/dev/null
done
tmatch --intervals --format csv "$@" >whole
tmatch -q --merge --intervals --format csv [123].log | diff whole - && echo "merged: the same"
ffmpeg -i clip.mkv -vf "select='not(between(n,22,28))',setpts='if(gt(N,24),PTS+0.7/TB,PTS)'" -fps_mode vfr -c:v mpeg4 -q:v 2 odd.mp4
when --gap 0 odd.mp4 a.png
echo "a torn movie:"
head -c 60000 clip.mkv >torn.mkv
try -q --intervals torn.mkv a.png 2>&1 | sed 's/ best=[0-9.]*//; s/damaged:.*/damaged/'
fail --gap 1 clip.mkv a.png
fail --intervals --gap -1 clip.mkv a.png
fail --intervals coffee.png a.png
fail --intervals --metric ccorr clip.mkv a.png
fail --intervals --rows 0:5 clip.mkv a.png
fail --intervals --shard 1/2 clip.y4m a.png
fail --merge --gap 1 1.log 2.log 3.log
