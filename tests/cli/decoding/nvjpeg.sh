# SPDX-License-Identifier: MIT
# where: test -e "$TMATCH_EMULATED_DIR/nvidia/fake-nvjpeg.so"
# JPEG frames that the device decodes which matches them: the fake nvJPEG has libjpeg's samples, so all is the same.
data patch.jpg button.png
fake_nvidia
part='patch.jpg[12x10+40+30]'
for i in $(seq 7); do
    tmatch -q -o "frame$i.jpg" patch.jpg "patch.jpg[9x${i}+$((2 * i))+$((11 * i))]" >drawn
done
ln -s "$(realpath button.png)" other.png
head -c 1500 frame2.jpg >cut.jpg
printf 'no picture' >text.jpg
{ head -c 1200 frame3.jpg; printf '\377\252\252\252\252\252'; tail -c +1220 frame3.jpg; } >torn.jpg
# Its marker says that it is coded arithmetically.
LC_ALL=C sed 's/\xff\xc0\x00\x11/\xff\xc9\x00\x11/' frame4.jpg >arithmetic.jpg
ls frame*.jpg other.png cut.jpg text.jpg torn.jpg >list
set -- -t "$part" -t 'button.png[30x20+40+13]' --files-from list --roi 1,2,80,40
for extra in '' '-n 3 --min-score 0.1' '--format json' '--domain same --metric ccoeff'; do
    # shellcheck disable=SC2086
    tmatch -q --device cuda $extra "$@" 2>err1 | without_times >libjpeg
    # shellcheck disable=SC2086
    tmatch -q --device cuda --decoder nvjpeg $extra "$@" 2>err2 | without_times |
        sed 's/damaged JPEG, says nvJPEG/damaged JPEG: premature end of data segment/' | cmp - libjpeg
    # shellcheck disable=SC2086
    FAKE_NVJPEG='no hardware' tmatch -q --threads 3 --device cuda --decoder auto $extra "$@" 2>err3 |
        without_times | cmp - libjpeg
    grep -c . libjpeg
done
cat err1
cat err2
cat err3
# What each frame was decoded by.
tmatch -v --device cuda --decoder nvjpeg -t "$part" frame1.jpg other.png frame2.jpg 2>&1 >results | grep -F -e 'JPEG' -e PNG
FAKE_NVJPEG='no hardware refuses' tmatch -v --device cuda --decoder auto -t "$part" frame1.jpg other.png 2>&1 >results |
    grep -F -e JPEG -e PNG
for decoder in nvjpeg auto; do
    try --device cuda --decoder $decoder arithmetic.jpg "$part" 2>&1 | sort
    FAKE_NVJPEG='no hardware refuses' try --device cuda --decoder $decoder frame1.jpg "$part" 2>&1
done
# Turned pictures, and what is drawn, is the same.
turned() { # ORIENTATION JPEG
    head -c 2 "$2"
    printf '\377\341\0\042Exif\0\0MM\0*\0\0\0\010\0\001\001\022\0\003\0\0\0\001\0'
    # shellcheck disable=SC2059
    printf "\\0$(printf %02o "$1")\\0\\0\\0\\0\\0\\0"
    tail -c +3 "$2"
}
for o in 1 2 3 4 5 6 7 8; do
    turned $o frame5.jpg >turned$o.jpg
done
for extra in '' --ignore-orientation; do
    tmatch -q --roi 2,3,50,45 $extra --device cpu -t 'turned3.jpg[9x11+20+10]' turned*.jpg >libjpeg
    tmatch -q --roi 2,3,50,45 $extra --device cuda --decoder nvjpeg -t 'turned3.jpg[9x11+20+10]' turned*.jpg | cmp - libjpeg
done
tmatch -q --device cuda --decoder nvjpeg -o here --crops crops --report r.html -t "$part" frame1.jpg turned6.jpg
tmatch -q --device cuda -o there -t "$part" frame1.jpg turned6.jpg
cmp here/turned6.jpg there/turned6.jpg
tmatch -q --device cuda --decoder nvjpeg --map map.npy frame1.jpg "$part"
tmatch -q --device cpu --map cpu.npy frame1.jpg "$part"
cmp map.npy cpu.npy
# Two devices, frames through a pipe.
export TMATCH_EMULATED_DEVICES=2
cat frame*.jpg frame*.jpg | tmatch -q --device cuda - "$part" >libjpeg
cat frame*.jpg frame*.jpg | tmatch -q --device cuda --decoder nvjpeg - "$part" | cmp - libjpeg
cat frame*.jpg frame*.jpg | tmatch -q --device cuda --decoder nvjpeg --in-flight 1 - "$part" | cmp - libjpeg
