# SPDX-License-Identifier: MIT
# needs: libavformat
# runs: ffmpeg
# where: ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# Frames that are the one before them once more get its results and are not matched; -v matches each, and prints the same.
data coffee.png camera.png
export TMATCH_PLUGIN_DIR="$TMATCH_FAKE_PLUGIN_DIR"
ffmpeg() {
    command ffmpeg -v error -nostdin -bitexact "$@"
}
ffmpeg -i coffee.png -vf crop=48:40:200:100 a.png
ffmpeg -i camera.png -vf crop=40:48:220:90 b.png
# Ten pictures, each shown three times, the last one thirty times; a is in the third to the fifth, and in the last two.
ffmpeg -f lavfi -i testsrc2=s=320x180:r=5:d=2 -loop 1 -r 5 -i a.png -filter_complex \
    "[0][1]overlay=x='40+20*n':y=60:enable='between(n,2,4)+gte(n,8)':shortest=1" -c:v ffv1 pictures.mkv
ffmpeg -i pictures.mkv -vf fps=15,tpad=stop_mode=clone:stop=27 -c:v ffv1 -g 12 clip.mkv
# Nor how it was searched, which auto chooses by what the frames matched before took.
untimed() {
    sed 's/,"algorithm".*//' "$@"
}
for options in "" "--min-score 0.9" "-n 3 --subpixel" "-n 0 --format json" "--format csv" "--intervals" "--color" \
    "--from 0.4 --every 2" "--max-memory 64M" "--in-flight 1" "--device cuda:0,2" "--angle 0:90:45"; do
    # shellcheck disable=SC2086 # options are words
    tmatch -q $options --threads 3 -t a.png -t b.png clip.mkv | untimed >short
    # shellcheck disable=SC2086
    tmatch -v $options --threads 3 -t a.png -t b.png clip.mkv 2>messages | untimed >long
    cmp short long
    echo "$options: $(wc -l <short) lines, $(grep -c 'estimates:' messages) matched with -v"
done
echo "not matched:"
for threads in 1 4; do
    tmatch -q --device cpu --threads $threads --format json clip.mkv a.png | grep -c '"match":0.000}'
done
TMATCH_FAKE_SLOW=0:5 tmatch -q --device cuda:0,2 --format json clip.mkv a.png | grep -c '"match":0.000}'
echo "with pictures:"
tmatch -q -o seen/ --min-score 0.9 clip.mkv a.png >/dev/null
tmatch -v -o each/ --min-score 0.9 clip.mkv a.png >/dev/null 2>&1
diff -r seen each && find seen -type f | wc -l
for name in seen each; do
    option=-q
    [ $name = seen ] || option=-v
    tmatch $option -o $name.mkv clip.mkv a.png >/dev/null 2>&1
    ffmpeg -i $name.mkv -f framemd5 $name.md5
done
cmp seen.md5 each.md5 && echo "a movie: the same"
echo "an error, of each of them:"
fail -q --depth float --verify clip.mkv a.png 2>&1 | grep -c 'compares bits'
echo "resumed in the middle of a picture's frames:"
tmatch -q --resume whole clip.mkv a.png >lines
head -n 20 whole >log
tmatch -q --resume log clip.mkv a.png >rest
cmp log whole && tail -n +21 lines | cmp - rest && wc -l <rest
