# SPDX-License-Identifier: MIT
# needs: libavformat
# runs: ffmpeg
# where: ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# When frames are shown, of variable rates too, and which of them are matched: numbers and times, scores and
# places are those of the whole movie.
ffmpeg() {
    command ffmpeg -v error -nostdin -bitexact "$@"
}
data coffee.png
template='coffee.png[16x16+200+100]'
numbers() {
    tmatch -q "$@" "$template" | sed 's/^[^#]*#\([0-9]*\): .* time=\(.*\)/\1 \2/' | paste -sd ' '
}
ffmpeg -f lavfi -i testsrc2=s=64x48:r=30:d=2 -vf "select='eq(n,0)+eq(n,1)+eq(n,5)+eq(n,7)+gt(n,56)'" -vsync vfr \
    -c:v mpeg4 -q:v 2 odd.mp4
numbers odd.mp4
numbers --from 0.1 --to 1.95 odd.mp4
# A movie that does not begin at 0.
ffmpeg -i odd.mp4 -c copy -output_ts_offset 100 odd.mkv
numbers odd.mkv
numbers --from 1.92 odd.mkv
ffmpeg -f lavfi -i testsrc2=s=64x48:r=25:d=12 -c:v mpeg4 -q:v 3 -g 40 -bf 2 clip.mp4
ffmpeg -i clip.mp4 -c:v mpeg2video -q:v 3 -g 15 -bf 2 clip.mpg
ffmpeg -i clip.mp4 -c:v mpeg2video -q:v 3 -g 15 -bf 2 clip.ts
ffmpeg -i clip.mp4 -c copy clip.mkv
ffmpeg -i clip.mp4 -c:v mpeg4 -g 40 clip.avi
ffmpeg -i clip.mp4 -f yuv4mpegpipe clip.y4m
part() { # FILE OPTION...: all lines are lines of the whole
    clip=$1
    shift
    tmatch -q "$@" $clip "$template" >part
    echo "$clip $*: $(wc -l <part) from $(head -n 1 part | cut -d: -f1), $(grep -cvxF -f whole part) others"
}
for clip in clip.mp4 clip.mkv clip.ts clip.mpg clip.avi clip.y4m; do
    tmatch -q $clip "$template" >whole
    part $clip --from 7.3 --to 0:09.1
    part $clip --from 00:00:11.5
    part $clip --every 7 --from 3
    part $clip --to 0:01
    [ $clip = clip.y4m ] || part $clip --key-frames | sed 's/[0-9]* from/N from/'
done
# From a pipe all is decoded.
cat clip.mkv | numbers --from 7.3 --to 7.5 -
cat clip.y4m | numbers --from 7.3 --to 7.5 --every 2 -
cat clip.mkv | numbers --key-frames --to 5 -
numbers --key-frames --to 5 clip.mkv
numbers --key-frames --every 2 clip.mkv
fail --from 12 clip.mp4 "$template"
fail --from 3 --to 3 clip.mp4 "$template"
fail --from 1:60 clip.mp4 "$template"
fail --from 1:2:3:4 clip.mp4 "$template"
fail --to -1 clip.mp4 "$template"
fail --every 0 clip.mp4 "$template"
