# SPDX-License-Identifier: MIT
# Pictures one after the other on standard input, or through a pipe, are frames.
data astronaut.png camera.png rocket.jpg
crop='camera.png[20x20+100+200]'
totals() { # without times
    sed 's/; .*frames.s.*//'
}
plain='P2 3 2 9 1 2 3 9 9 9
'
cat camera.png rocket.jpg camera.png | try -t "$crop" - 2>&1 | totals
# As a file on standard input, from its middle, as an operand that is a pipe, and among others.
cat camera.png rocket.jpg camera.png >all
try -q -t "$crop" - <all
{
    read -r _
    try -q -t 'camera.png[2x2+100+200]' -
} <<FILE
passed over
$(printf '%s%s' "$plain" "$plain")
FILE
mkfifo pipe
cat all >pipe &
tmatch -q -t "$crop" camera.png pipe astronaut.png
(cat camera.png; printf '\n\n') | tmatch -q -t "$crop" camera.png - astronaut.png
printf 'camera.png\n-\n' >list
tmatch -q -t "$crop" --files-from list <all
# A crop is every picture's; raw and plain PNM; what index and time say.
cat camera.png camera.png | tmatch -q -- '-[100x100+50+150]' "$crop"
printf '%sP1 2 2 10 01P6 1 1 255 abcP5 2 2 65535 aabbccdd%s' "$plain" "$plain" >pnm
cat pnm | tmatch --format json --depth 8 -t 'camera.png[1x1+0+0]' - 2>/dev/null | cut -d, -f1-3
movie() { # FRAMES: of 40x30 pixels
    echo 'YUV4MPEG2 W40 H30 F25:2 C420jpeg'
    for n in $(seq "$1"); do
        echo FRAME
        tail -c +$((n * 1000)) camera.png | head -c 1800
    done
}
movie 3 >clip.y4m
part='clip.y4m#2[9x9+8+7]'
cat clip.y4m | tmatch -q --min-score 0.9 -n 0 - "$part"
cat clip.y4m | tmatch -q --format json - "$part" | without_times | cut -c 1-60
cat clip.y4m | tmatch -q --format csv - "$part" | head -n 2
cat clip.y4m | tmatch -q --color -t "$part" -t 'clip.y4m#1[5x5+1+1]' -
tmatch -q clip.y4m "$part"
tmatch -q 'clip.y4m#3' "$part"
mkdir folder
cp clip.y4m folder
try folder "$part" 2>&1 | totals
fail 'clip.y4m#4' "$part"
fail 'clip.y4m#0' "$part"
fail 'camera.png#2' "$part"
fail camera.png clip.y4m
fail camera.png - <clip.y4m
cat clip.y4m | fail camera.png -
cat all | fail --mask - camera.png "$crop"
# A name that is there is that file's.
cp camera.png 'camera.png#7'
tmatch 'camera.png#7' "$crop"
# Outputs: a file is for one picture, a folder for as many as there are.
cat all | try -q -o seen --crops cuts --report page.html - "$crop"
find seen cuts | sort
rm -r seen cuts page.html
cat all | fail -o seen.png - "$crop"
cat all | fail --map map.npy - "$crop"
cat camera.png | try -o one.png --map map.npy - "$crop"
cat camera.png | try -o seen/ - "$crop"
ls
ls seen
fail --watch folder -t "$crop" - <pipe & cat all >pipe 2>/dev/null
wait
# Each result comes when its frame has: the reader has seen two when the third is not there.
: >out
{
    cat camera.png rocket.jpg
    printf '\n'
    tail -c +1 camera.png | head -c 20000
    wait_until grep -q -s -e '-#2' out
    tail -c +20001 camera.png
} | tmatch -q - "$crop" >out
cat out
# The end is torn, or there is something else. What was complete is matched.
head -c 300000 all | try - "$crop" 2>&1 | totals
(cat camera.png camera.png; echo no picture; cat camera.png) | try --algorithm direct --format json - "$crop" 2>err | without_times
totals <err
(cat camera.png; echo no picture; cat camera.png) | try - "$crop" 2>&1 | totals
(cat rocket.jpg; echo what cameras add) | try - "$crop" 2>&1
printf 'YUV4MPEG2 W40 H30 C420\n' | fail - "$crop"
printf 'YUV4MPEG2 W40 H30 C999\nFRAME\nabc' | fail - "$crop"
printf 'YUV4MPEG2 W40 Hx\nFRAME\nabc' | fail - "$crop"
printf 'YUV4MPEG2 W40 H30 C420\nFRAME\nabc' | fail - "$crop"
(cat camera.png; printf '\211PNG\r\n\032\n\377\377\377\377IDAT') | try -q - "$crop" 2>&1
# The reader goes away; and the interrupt of a run whose frames do not end.
(while cat camera.png; do :; done) 2>/dev/null | tmatch - "$crop" 2>err | head -n 2
cat err
mkfifo endless
(while cat camera.png; do :; done) >endless 2>/dev/null &
env --default-signal=INT tmatch - "$crop" <endless >out 2>err &
pid=$!
has_lines() {
    [ "$(wc -l <out)" -ge 5 ]
}
wait_until has_lines
kill -INT $pid
wait $pid
echo "status $?"
head -n 2 out
sed 's/[0-9][0-9]* frames: [0-9]* matches/N frames: N matches/' err | totals
# In a folder no file is looked through beforehand, but nothing is passed over in silence.
mkdir many
printf '%s%s' "$plain" "$plain" >many/both.pgm
try -t 'many/both.pgm#1[2x2+1+0]' many 2>&1 | totals
