# SPDX-License-Identifier: MIT
# runs: ffmpeg
# where: ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# Movies as ffmpeg writes them, in which a picture comes and goes.
data coffee.png
ffmpeg() {
    command ffmpeg -v error -nostdin "$@"
}
ffmpeg -i coffee.png -vf crop=48:40:200:100 logo.png
ffmpeg -f lavfi -i testsrc2=s=320x180:r=25:d=2 -loop 1 -i logo.png -filter_complex \
    "[0][1]overlay=x='40+2*n':y=60:enable='between(n,20,30)':shortest=1" -c:v ffv1 in.mkv
places() { # without the score, which is the encoder's affair
    tmatch -q --min-score 0.9 - logo.png | sed '/: none: /d; s/ score=[0-9.]*//' | cksum
}
ffmpeg -i in.mkv -f image2pipe -c:v pgm - | tmatch -q --min-score 0.9 - logo.png |
    sed '/: none: /d; s/ score=.*//'
for codec in pgm ppm png mjpeg bmp; do
    ffmpeg -i in.mkv -f image2pipe -c:v $codec -q:v 2 - | places
done
for pixels in yuv420p yuv411p yuv422p yuv444p gray; do
    ffmpeg -i in.mkv -pix_fmt $pixels -f yuv4mpegpipe - | tmatch -q --color --min-score 0.8 - logo.png 2>err |
        sed '/: none: /d; s/ score=[0-9.]*//' | cksum
done
# Samples of more than 8 bits.
for pixels in yuv420p10 yuv422p12 gray10; do
    ffmpeg -i in.mkv -pix_fmt $pixels -strict -1 -f yuv4mpegpipe - |
        tmatch -q --depth 8 --min-score 0.9 - logo.png | sed '/: none: /d; s/ score=[0-9.]*//' | cksum
done
ffmpeg -i in.mkv -f yuv4mpegpipe clip.y4m
tmatch -q --min-score 0.9 --format json clip.y4m logo.png |
    sed -n 's/"matches":\[{\([^}]*\)"score":.*/\1/p' | sed -n '1p;$p'
ffmpeg -i in.mkv -f yuv4mpegpipe - | tmatch --min-score 0.9 -o seen - logo.png 2>&1 >lines | sed -n '$s/;.*//p'
find seen -type f | sort -V | sed -n '1p;$p'
