# SPDX-License-Identifier: MIT
# What --merge finds wrong, and what it writes.
mkdir frames
for i in 1 2 3 4 5 6 7 8 9; do
    tmatch -q --dump-template frames/$i.png "$TMATCH_DATA_DIR/camera.png" \
        "$TMATCH_DATA_DIR/camera.png[90x90+${i}0+${i}5]" >/dev/null
done
cp frames/1.png one.png
cp frames/2.png two.png
set -- -q --device cpu -t 'one.png[20x20+1+2]' -t two.png frames
shard() { # I/N LOG OPTION...
    part=$1
    log=$2
    shift 2
    tmatch --shard $part --resume $log "$@" >/dev/null
}
merge() {
    tmatch --merge "$@" 2>&1 >merged
    echo "status $?"
    cat merged
}
all() {
    merge a b c
}
shard 1/3 a "$@"
shard 2/3 b "$@"
shard 3/3 c "$@"
all
# A shard is missing, there twice, not finished; a log is no shard's, of another number of shards, not there.
merge a c
merge a b b c
merge a a
head -n -1 b >short
merge a short c
tmatch --resume whole "$@" >/dev/null
merge a whole c
shard 2/4 b4 "$@"
merge a b4 c
merge a gone c frames
echo diary >diary
merge a b c diary
flock b -c 'tmatch --merge a b c; echo "status $?"' 2>&1
# Lines are damaged, torn or gone. The shard mends that when it is run again.
cp b whole.b
for script in '3d' '2s/"x":/"y":/' '1d' '4s/.*/\x00/' '$s/"status"/"satus"/'; do
    sed "$script" whole.b >b
    all
    shard 2/3 b "$@" 2>&1
    all | head -n 2
done
head -c -5 whole.b >b
all
shard 2/3 b "$@"
all | tail -n 1
# So it does where its first line is torn already.
head -c 40 whole.b >b
shard 2/3 b "$@"
all | tail -n 1
# Another folder.
mkdir elsewhere
head -n -1 b >short
(cd elsewhere && tmatch --merge ../a ../short ../c 2>&1) | sed "s#$PWD#PWD#"
# Other options, another template, a template of another name.
shard 2/3 b1 "$@" -n 3
merge a b1 c
shard 2/3 b2 -q --device cpu -t one.png -t two.png frames
merge a b2 c
cp two.png three.png
shard 2/3 b3 -q --device cpu -t 'one.png[20x20+1+2]' -t three.png frames
merge a b3 c
# A log with other options before them: only the last count.
shard 2/3 b1 "$@"
tmatch -q "$@" >one.out
tmatch -q --merge a b1 c | cmp - one.out && echo as one run
# So it is with the lines of another shard.
shard 3/3 b6 "$@"
shard 2/3 b6 "$@"
for logs in 'a b6 c' 'b6 c a'; do
    # shellcheck disable=SC2086 # a list of words
    tmatch -q --merge $logs | cmp - one.out && echo as one run
done
# A shard that could not write a picture has failed, though it has all results.
for i in 1 2 3 4 5 6 7 8 9; do
    mkdir -p out/$i.png
done
for i in 1 2 3; do
    shard $i/3 o$i "$@" -o out 2>/dev/null
done
merge o1 o2 o3 | head -n 5
rm -r out
# How fast, where and how it is told may differ.
rm b
shard 2/3 b -v --threads 1 --format json "$@" 2>/dev/null
tmatch -q --merge a b c | cmp - one.out && echo as one run
# A frame comes before the others: all shards have to know.
cp one.png frames/0.png
shard 2/3 b "$@"
all
shard 1/3 a "$@"
shard 3/3 c "$@"
tmatch -q "$@" >one.out
tmatch -q --merge a b c | cmp - one.out && echo as one run
# A frame changes, and changes back: the log has lines of both. The last run counts.
cp -p frames/3.png three.before
for i in 1 2 3; do
    case $i in
    1 | 3) cp -p three.before frames/3.png ;;
    2) cp one.png frames/3.png ;;
    esac
    shard 1/3 a "$@"
    shard 2/3 b "$@"
    shard 3/3 c "$@"
    tmatch -q "$@" >one.out
    tmatch -q --merge a b c | cmp - one.out && echo as one run
done
# A log of one run is gone on with by shards, and theirs, put together, by one run.
rm a b c whole
tmatch --resume whole "$@" >/dev/null
for i in 1 2 3; do
    cp whole shard.$i
    tmatch --shard $i/3 --resume shard.$i "$@"
done
tmatch -q --merge shard.* --resume merged.log | cmp - one.out && cmp whole merged.log && echo as one run
tmatch --resume merged.log "$@" && wc -l <merged.log
fail --merge shard.* --resume merged.log
fail --merge shard.* --resume no/log
# The report is that of one run, though templates and frames fail.
echo nonsense >frames/broken.png
ln -s gone.png frames/link.png
printf 'P2 2 2 255 7 7 7 7\n' >flat.pgm
rm shard.*
without_date() {
    sed '/"date":/d' "$1"
}
for i in 1 2 3; do
    tmatch --shard $i/3 --resume=shard.$i --report part.html "$@" -t flat.pgm >/dev/null 2>&1
done
tmatch --report one.html "$@" -t flat.pgm >/dev/null 2>&1
try -q --merge shard.* --report all.html >/dev/null 2>&1
without_date one.html >one.page
without_date all.html | cmp - one.page && echo as one run
sed -n '/"command"/s/.*"command":\("[^"]*"\).*/\1/p' all.html
# It wants the frames and templates as they were.
mv frames/9.png .
fail -q --merge shard.* --report gone.html 2>&1 | tail -n 1
mv 9.png frames
cp three.png two.png
printf 'P2 2 2 255 7 7 7 8\n' >flat.pgm
fail -q --merge shard.* --report gone.html 2>&1 | tail -n 1
(cd elsewhere && tmatch -q --merge ../shard.* --report ../gone.html 2>&1 >/dev/null | tail -n 1)
fail --merge shard.* --report page.htm
# Standard output fails.
tmatch -q --merge shard.* 2>&1 >/dev/full | tail -n 1
# The list may come through a pipe.
for i in 1 2; do
    printf '%s\n' frames/1.png frames/2.png frames/3.png | shard $i/2 list.$i -t one.png --device cpu -q --files-from -
done
printf '%s\n' frames/1.png frames/2.png frames/3.png | try --merge list.1 list.2 --report list.html 2>&1
# What only one run can read is not shared out.
head -c 100 one.png | fail --shard 1/2 -t one.png -
# A template that cannot be used is named, once, as one run does; a frame that cannot, by its own name.
rm -rf frames shard.*
mkdir frames
cp one.png frames/1.png
cp one.png frames/2.png
echo nonsense >frames/3.png
for i in 1 2; do
    shard $i/2 shard.$i -q --device cpu -t flat.pgm -t gone.png -t one.png frames 2>/dev/null
done
tmatch -q --device cpu -t flat.pgm -t gone.png -t one.png frames 2>&1 >one.out | sort >one.err
tmatch -q --merge shard.1 shard.2 2>&1 >merged | sort | diff one.err - && cmp one.out merged && cat one.err
