# SPDX-License-Identifier: MIT
# where: ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# Shards, and their logs put together. tests/soak/shards.py kills them.
mkdir -p frames/sub templates
odd=$(printf 'caf\351 \033')
for i in 1 2 3 4 5 6 7 8 9 10; do
    tmatch -q --dump-template frames/$i.png "$TMATCH_DATA_DIR/camera.png" \
        "$TMATCH_DATA_DIR/camera.png[150x140+180+${i}0]" >/dev/null
    tmatch -q --dump-template "frames/sub/$i.png" "$TMATCH_DATA_DIR/camera.png" \
        "$TMATCH_DATA_DIR/camera.png[60x60+${i}0+${i}5]" >/dev/null
done
echo nonsense >frames/broken.png
cp frames/1.png "frames/$odd.png"
cp frames/2.png "frames/=a \"b\",c.png"
for i in 1 2 3 4 5 6 7; do
    printf 'P5 40 30 255\n'
    head -c 1200 /dev/zero | tr '\0' "$i"
done >frames/film.pgm
cp "$TMATCH_DATA_DIR/patch.jpg" "templates/$odd.jpg"
cp frames/sub/3.png templates/a.png
set -- --device cpu -r -t templates -t 'frames/1.png[20x20+30+40]' frames
without_how() {
    sed 's/,"algorithm":.*/}/' "$1"
}
# Which frames a shard has never changes: logs are gone on with by later versions.
for i in 1 2 3 4; do
    echo "shard $i/4:" $(tmatch -q --shard $i/4 --format csv "$@" 2>/dev/null | sed '1d; s/,.*//' | uniq | cat -v)
done
one() { # FORMAT: what one run prints, how it ends, and what it says of frames that fail
    tmatch -q --format "$@" >one.out 2>one.err
    echo "status $?" >>one.out
}
merge() {
    tmatch -q --format "$1" --merge log.* >merged.out 2>merged.err
    echo "status $?" >>merged.out
    without_how one.out | cmp - merged.out && uniq one.err >one.said && uniq merged.err | cmp - one.said && echo "$1: as one run"
}
shards() { # COUNT OPTION...
    rm -f log.*
    count=$1
    shift
    for i in $(seq $count); do
        tmatch -q --shard $i/$count --resume log.$i "$@" >/dev/null 2>&1
    done
}
shards 4 "$@"
for format in text csv json; do
    one $format "$@"
    merge $format
done
tmatch --merge log.* 2>&1 >/dev/null | tail -n 1
# Places between pixels, poses, thresholds, scores that are integers, and of floats, which transforms round otherwise.
for more in '--subpixel -n 3' '--angle -10:10:10 --scale 1:1.2:0.2 --min-score 0.9' '--metric sqdiff -n 2' '--min-score 0.99' \
    '--color --depth float --metric ccorr --algorithm direct'; do
    shards 3 "$@" $more
    for format in text csv json; do
        one $format "$@" $more
        merge $format
    done | sed 's/^[a-z]*: as/as/' | uniq
done
# Times of a movie's frames, which text has with fewer digits.
(
    echo 'YUV4MPEG2 W40 H30 F30000:1001 Cmono'
    for i in $(seq 50); do
        echo FRAME
        head -c 1200 /dev/zero | tr '\0' "\\$((i % 8 + 60))"
    done
) >film.y4m
set -- --device cpu -t 'frames/1.png[8x8+30+40]' film.y4m
shards 5 "$@"
for format in text csv json; do
    one $format "$@"
    merge $format
done
# A hint that one run has no reason for, each frame being another shard's only one.
set -- --device cpu -t frames/1.png frames/sub/1.png frames/sub/2.png frames/sub/3.png
shards 3 "$@"
one text "$@"
merge text
# More shards than frames.
try --shard 1/2 --resume few.1 --device cpu -t 'frames/1.png[8x8+30+40]' frames/1.png frames/2.png frames/3.png 2>&1 | sed 's/;.*//'
try --shard 1/9 -q --device cpu -t 'frames/1.png[8x8+30+40]' frames/1.png
for i in 1 2; do try --shard $i/2 --device cpu -t "frames/1.png[8x8+30+40]" frames/1.png 2>&1; done
