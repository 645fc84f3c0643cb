# SPDX-License-Identifier: MIT
# What --merge finds wrong with the logs of rows.
cp "$TMATCH_DATA_DIR/astronaut.png" a.png
cp "$TMATCH_DATA_DIR/patch.jpg" t.jpg
set -- -q --device cpu a.png t.jpg
part() { # A:B LOG ARGUMENT...
    rows=$1
    log=$2
    shift 2
    tmatch --rows $rows --resume $log "$@" >/dev/null 2>part.err
    echo "status $?"
    cat part.err
}
merge() {
    tmatch --merge "$@" 2>&1 >merged
    echo "status $?"
    cat merged
}
part 0:100 0 "$@"
part 100:300 100 "$@"
part 300: 300 "$@"
merge 300 0 100
# A row is in two logs: of all that go before, the one that goes furthest has it.
part 0:200 0.200 "$@"
part 20:40 20.40 "$@"
part 190:250 190.250 "$@"
part 210: 210 "$@"
merge 20.40 210 190.250 0.200
merge 0 300
# The frame's file was another one between two parts, though of the same pixels.
touch -d '2001-02-03 04:05:06' a.png
part 100:300 later "$@"
merge later 0 300
merge later 300 0 --resume none.log
[ -e none.log ] || echo no log
touch -r later a.png
# Of several failures, that of the first rows is told, as one run has come to it first.
mkdir frames
cp a.png frames/2.png
cp a.png frames/1.png
fails() { # A:B LOG HEADER
    printf '%s\n' "$3" >frames/3.pgm
    touch -r a.png frames/3.pgm
    part $1 $2 -q --device cpu -t t.jpg frames
}
fails 0:100 f.0 'P5 512 512 255'
fails 100:300 f.100 'P5 512 000 255'
fails 300: f.300 'P5 512 512 abc'
merge f.300 f.100 f.0
# Nothing is printed of the frames before the one whose parts do not fit; all such are named.
rm frames/3.pgm f.*
part 0:200 f.0 -q --device cpu -t t.jpg frames
part 200:300 f.200 -q --device cpu -t t.jpg frames
touch -d '2001-02-03 04:05:06' frames/2.png
part 300: f.300 -q --device cpu -t t.jpg frames
merge f.0 f.200 f.300
merge f.0 f.200
mkdir many
for i in 0 1 2 3 4 5 6 7 8 9 10 11; do
    ln a.png many/a$i.png
done
part 0:300 m.0 -q --device cpu -t t.jpg many
merge m.0
# The mask of the frame was another one, or a template was.
(printf 'P5 512 512 255\n'; head -c 262144 /dev/zero | tr '\0' '\377') >mask.pgm
part 0:100 k.0 "$@" --frame-mask mask.pgm
touch -d '2001-02-03 04:05:06' mask.pgm
part 100: k.100 "$@" --frame-mask mask.pgm
merge k.0 k.100
cp "$TMATCH_DATA_DIR/camera.png" t.jpg
part 100: t.100 "$@"
merge 0 t.100
# Two parts in one log; a log twice; a shard's log among those of rows.
cp "$TMATCH_DATA_DIR/patch.jpg" t.jpg
part 0:100 both "$@"
part 100:300 both "$@"
merge both 300
merge 0 100 100 300
tmatch --shard 1/2 --resume shard "$@" >/dev/null
merge shard 0
merge 0 shard
