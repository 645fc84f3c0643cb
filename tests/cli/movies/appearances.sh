# SPDX-License-Identifier: MIT
# needs: libavformat
# runs: ffmpeg
# where: ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# A logo that comes and goes twice is found in its frames and in no other, in whatever container.
data coffee.png
ffmpeg() {
    command ffmpeg -v error -nostdin -bitexact "$@"
}
ffmpeg -i coffee.png -vf crop=48:40:200:100 logo.png
ffmpeg -f lavfi -i testsrc2=s=160x90:r=25:d=2 -loop 1 -i logo.png -filter_complex \
    "[0][1]overlay=x='40+2*n':y=40:enable='between(n,5,7)+between(n,20,30)':shortest=1" -c:v ffv1 in.mkv
places() { # without the score, which is the encoder's affair
    tmatch -q --min-score 0.9 "$@" logo.png | sed '/: none: /d; s/ score=[0-9.]*//'
}
places in.mkv
places in.mkv | sed 's/^[^#]*//' >expected
same() {
    places "$@" | sed 's/^[^#]*//' | diff expected - && echo "$*: the same"
}
ffmpeg -i in.mkv -c:v mpeg4 -q:v 2 -bf 2 clip.mp4
ffmpeg -i in.mkv -c:v mpeg4 -q:v 2 clip.avi
ffmpeg -i in.mkv -c:v mpeg2video -q:v 2 -bf 2 clip.ts
ffmpeg -i in.mkv -c:v mpeg2video -q:v 2 -bf 2 clip.mpg
ffmpeg -i in.mkv -c:v mjpeg -q:v 2 clip.mov
ffmpeg -i in.mkv -c:v ffv1 -pix_fmt gbrp rgb.mkv
ffmpeg -i in.mkv -c:v ffv1 -pix_fmt yuv422p10le ten.mkv
ffmpeg -i in.mkv -c:v rawvideo -pix_fmt yuyv422 packed.nut
for clip in clip.mp4 clip.avi clip.ts clip.mpg clip.mov rgb.mkv packed.nut; do
    same $clip
done
# Others have the pixels of MP4.
for clip in clip.mp4 clip.mov rgb.mkv packed.nut; do
    same --color $clip
done
same --depth 8 ten.mkv
same --depth 16 ten.mkv
fail 'ten.mkv#25' logo.png
fail ten.mkv logo.png
# Standard input: a file, and pipes.
same - <clip.mp4
for clip in in.mkv clip.ts; do
    same - <$clip
    cat $clip | same -
done
# As results are printed; a frame by its number, and a part of one as the template.
tmatch -q --min-score 0.9 --format json clip.mp4 logo.png | sed 's/"template".*"matches":\[{/{/; s/,"score.*//' | sed -n '20,22p'
tmatch -q --min-score 0.9 --format csv clip.mp4 logo.png | sed -n '1,7s/,0\.9[0-9]*,/,0.9,/p'
tmatch -q 'in.mkv#25' logo.png | sed 's/ score.*//'
tmatch -q 'clip.mp4#25' 'clip.mp4#25[48x40+90+40]'
fail -q clip.mp4 clip.mp4
fail 'clip.mp4#51' logo.png
fail 'clip.mp4#0' logo.png
# In a folder, beside a picture; what is drawn.
mkdir folder
cp clip.mp4 coffee.png folder
tmatch -t logo.png --min-score 0.9 -o seen --report page.html folder 2>&1 >lines | sed -n '$s/;.*//p'
sed '/: none: /d; s/ score=[0-9.]*//' lines | sed -n '1p;$p'
find seen -type f | sort -V | sed -n '1p;$p'
# Only movies have frames to leave out.
fail --every 2 coffee.png logo.png
cp clip.mp4 'clip.mp4#3'
places 'clip.mp4#3' | head -n 1
