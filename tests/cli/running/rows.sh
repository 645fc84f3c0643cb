# SPDX-License-Identifier: MIT
# where: ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# Rows of the score map, each part with a log, put together: what one run finds.
D=$TMATCH_DATA_DIR
without_how() {
    sed 's/,"algorithm":.*/}/' "$1"
}
parts() { # "SEAM..." ARGUMENT...
    rm -rf logs
    mkdir logs
    from=0
    for to in $1 ''; do
        tmatch -q --rows "$from:$to" --resume "logs/$from" $2 >>parts.out 2>&1
        from=$to
    done
}
same() { # NAME SEAMS ARGUMENTS: parts are as one run, in all formats, with its log, and its exit status
    parts "$2" "$3"
    for format in text csv json; do
        tmatch -q --format $format $3 >one.out 2>one.err
        echo "status $?" >>one.out
        tmatch -q --format $format --merge logs/* >merged.out 2>merged.err
        echo "status $?" >>merged.out
        without_how one.out | cmp - merged.out || return
        cmp one.err merged.err || return
    done
    rm -f one.log merged.log
    tmatch -q --resume one.log $3 >/dev/null 2>&1
    tmatch -q --merge --resume merged.log logs/* >/dev/null 2>&1
    cmp one.log merged.log || return
    echo "$1: as one run"
}
a=$D/astronaut.png
ln -s "$D/patch.jpg" t.jpg
same best '100 330' "--device cpu $a t.jpg"
same seam '342 343 344' "--device cpu $a t.jpg"
same several '7 80 200 201 400' "--device cpu -n 6 --subpixel $a t.jpg"
same weak '200' "--device cpu -n 3 $D/camera.png t.jpg"
same all '50 343' "--device cpu -n 0 $a t.jpg"
same none '50 343' "--device cpu --min-score 0.999 $a t.jpg"
same threshold '111 222 333' "--device cpu -n 0 --min-score 0.2 --overlap 0 $a t.jpg"
same distance '300' "--device cpu -n 4 --metric sqdiff $a t.jpg"
same integers '300' "--device cpu -n 4 --metric ccorr $a t.jpg"
same same '1 60 500' "--device cpu -n 4 --domain same $a t.jpg"
same full '1 60 590' "--device cpu -n 4 --domain full $a t.jpg"
same color '300' "--device cpu -n 4 --color $a t.jpg"
same deep '300' "--device cpu -n 4 --depth 16 $a t.jpg"
same limited '100 200 300 400' "--device cpu -n 4 --max-memory 4M $a t.jpg"
# A template of 30 rows has positions where one of 84 has none; a frame fails; flat ones are all ties.
tmatch -q --dump-template part.png "$a" "$a[40x30+200+200]" >/dev/null
head -c 3000 /dev/zero | (printf 'P5 60 50 255\n'; cat) >flat.pgm
echo nonsense >broken.png
mkdir frames
cp "$a" broken.png frames
same 'two templates' '100 450' "--device cpu -n 2 -t t.jpg -t part.png frames $D/camera.png"
same flat '1 2 3 20' "--device cpu -n 5 flat.pgm $a[8x9+10+10]"
# Masks
(printf 'P5 512 512 255\n'; head -c 175000 /dev/zero; head -c 87144 /dev/zero | tr '\0' '\377') >mask.pgm
same masked '100 300 341 342' "--device cpu -n 3 --frame-mask mask.pgm $a t.jpg"

# What is printed of a part, and what is wrong.
try --rows 330: --device cpu --format json "$a" t.jpg | sed 's/"frame":"[^"]*"/"frame":"a"/; s/,"algorithm.*/}/'
try --rows 0:100 --device cpu --min-score 0.5 "$a" t.jpg 2>&1 | sed 's#[^ ]*/##g'
fail() {
    try "$@" 2>&1 | sed "s#$D/##g; s#$PWD/##g"
}
fail --rows 429: --device cpu "$a" t.jpg
fail --rows 0:9 --device cpu "$a[100x100+0+0]" t.jpg
fail --rows 5:5 a b
fail --rows 5 a b
fail --rows :5 a b
fail --rows 5:x a b
fail --rows -1:5 a b
fail --rows 0:99999999999999999999 a b
for other in '--shard 1/2' '--roi 0,0,9,9' '--angle 0:90' '--depth float' '-o o.png' '--map m.npy' '--verify' '--report r.html'; do
    fail --rows 0:5 $other a b
done
# The frame is another one between two parts.
cp "$a" changed.png
tmatch -q --rows 0:100 --resume changed.1 --device cpu changed.png t.jpg >/dev/null
touch -d '2001-02-03 04:05:06' changed.png
tmatch -q --rows 100: --resume changed.2 --device cpu changed.png t.jpg >/dev/null
try --merge changed.1 changed.2 2>&1
cp "$D/chelsea.png" changed.png
tmatch -q --rows 100: --resume changed.3 --device cpu changed.png t.jpg >/dev/null
try -q --merge changed.1 changed.3 2>&1
parts '100 300' "--device cpu $a t.jpg"
mkdir some
cp logs/0 logs/300 some
fail --merge some/*
rm some/300
fail --merge some/*
cp logs/100 some
fail --merge some/*
cp logs/0 some/again
fail --merge logs/* some/again
tmatch -q --shard 1/1 --resume shard.log --device cpu "$a" t.jpg >/dev/null
fail --merge logs/0 shard.log
sed -i '$d' logs/100
fail --merge logs/* | sed 's#tmatch -q.*#COMMAND#'
