# SPDX-License-Identifier: MIT
# needs: libavformat
# runs: ffmpeg
# where: test -e "$TMATCH_EMULATED_DIR/nvidia/fake-nvcuvid.so"
# Movies that the device decodes which matches them. The fake NVDEC decodes Motion-JPEG by libjpeg: so the movie is what its
# frames are as JPEG files.
fake_nvidia
ffmpeg() { # which has no such driver
    LD_LIBRARY_PATH='' command ffmpeg -v error -nostdin -bitexact "$@"
}
ffmpeg -f lavfi -i testsrc2=s=90x66:r=10:d=0.5 -c:v mjpeg -pix_fmt yuvj420p -q:v 3 clip.mkv
mkdir frames
ffmpeg -i clip.mkv -c copy frames/%d.jpg
part='frames/2.jpg[12x9+30+20]'
places() { # what was matched, but for names and times
    sed 's/^[^:]*[#/]\([0-9]*\)\(.jpg\)*: /\1 /; s/ time=.*//'
}
nvdec() {
    tmatch -q --device cuda --decoder nvdec "$@"
}
for extra in '' '--roi 3,5,60,40 --metric sqdiff -n 2' '--depth 16 --to 0.2' '--angle 0:5:5 --to 0.2' '--subpixel --max-memory 1G --to 0.2'; do
    # shellcheck disable=SC2086
    tmatch -q --device cpu ${extra% --to*} -t "$part" frames | places >wanted
    # shellcheck disable=SC2086
    nvdec $extra -t "$part" clip.mkv | places >found
    head -n "$(grep -c . found)" wanted | cmp - found
    grep -c . found
done
tmatch -v --device cuda --decoder nvdec --to 0.1 clip.mkv "$part" 2>&1 | grep -F -e ', by '
# The others are decoded, too, where frames are drawn, also upright.
nvdec --min-score 0.9 -o seen/ --to 0.2 clip.mkv "$part"
ls seen
nvdec --color --to 0.1 clip.mkv "$part" | cut -d' ' -f1-5
ffmpeg -i clip.mkv -c copy -metadata:s:v rotate=90 turned.mov
tmatch -q --device cpu --to 0.1 turned.mov 'turned.mov#1[16x20+26+30]' | cut -d' ' -f1-5
nvdec --to 0.1 turned.mov 'turned.mov#1[16x20+26+30]' | cut -d' ' -f1-5
nvdec --to 0.1 --ignore-orientation turned.mov 'clip.mkv#1[20x16+30+20]' | cut -d' ' -f1-5
# From a pipe, two movies, few frames at a time, two devices; a log goes on.
nvdec - "$part" <clip.mkv | places >wanted
nvdec clip.mkv "$part" | places | cmp - wanted
nvdec --in-flight 1 -t "$part" clip.mkv clip.mkv | places | uniq -c | head -n 2
TMATCH_EMULATED_DEVICES=2 nvdec -t "$part" clip.mkv frames/1.jpg clip.mkv | places | sort -n | uniq -c | head -n 2
nvdec --resume log --to 0.3 clip.mkv "$part" | places
nvdec --resume log clip.mkv "$part" | grep -c .
tmatch -q --resume log clip.mkv "$part" | grep -c .
# What it does not decode is an error by name; Y4M and single frames need no decoder of movies.
try --device cuda --decoder nvdec 'clip.mkv#3' "$part" 2>&1 | cut -d' ' -f1-5
ffmpeg -i clip.mkv -c:v mpeg4 -q:v 2 other.mp4
ffmpeg -i clip.mkv -pix_fmt yuv420p clip.y4m
fail --device cuda --decoder nvdec other.mp4 "$part"
FAKE_NVDEC_REFUSES=1 tmatch --device cuda --decoder nvdec clip.mkv "$part" 2>&1 | sed 's/\(NVDEC does not decode it\): .*/\1: .../'
tmatch -q --device cpu clip.y4m "$part" >host
nvdec clip.y4m "$part" | cmp - host
rm nvidia/libnvcuvid.so.1
ln -s /dev/null nvidia/libnvcuvid.so.1
tmatch --device cuda --decoder nvdec clip.mkv "$part" 2>&1 | sed 's/\(NVDEC does not decode it\): .*/\1: .../'
# Pictures are decoded as ever.
try --device cuda --decoder nvdec frames/2.jpg "$part"
