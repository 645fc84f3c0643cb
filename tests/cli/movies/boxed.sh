# SPDX-License-Identifier: MIT
# needs: libavformat
# runs: ffmpeg
# where: "$TMATCH" --version | grep libseccomp && grep "^Seccomp:" /proc/self/status
# With --sandbox movies are refused by name, and libavformat, which would look at their bytes, is not even opened.
data camera.png
ffmpeg -v error -nostdin -bitexact -f lavfi -i testsrc2=s=64x48:r=25:d=1 -c:v mpeg4 clip.mp4
ffmpeg -v error -nostdin -bitexact -i clip.mp4 -f nut clip.nut
cp clip.mp4 clip.png
ffmpeg -v error -nostdin -bitexact -i clip.mp4 -f matroska clip.mkv
boxed() { # OPTION...
    LD_DEBUG=files tmatch -q --device cpu --sandbox "$@" 2>err | sed 's/ score=.*//'
    grep '^tmatch: ' err | sed 's/(\(PNG\|PNM\),.*/(FORMATS)/'
    grep -c 'libav[a-z]*\.so' err
}
template='camera.png[20x20+100+100]'
for frame in clip.mp4 clip.nut clip.png 'clip.mp4#2' .; do
    boxed -t "$template" $frame
done
cat clip.mkv | boxed - "$template"
cat clip.nut | boxed - "$template"
boxed camera.png 'clip.mp4#1'
printf 'clip.mp4\n' >list
boxed --files-from list -t "$template"
boxed -o seen.mp4 camera.png "$template"
true
