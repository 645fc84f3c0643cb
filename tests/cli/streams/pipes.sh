# SPDX-License-Identifier: MIT
# No more is read from pipes and devices than there is room for, and no list waits for one.
data camera.png
printf 'P5 2 2 255 abcd' >t.pgm
yes '1 2 3 4' | fail --max-memory 64M - t.pgm
yes '1 2 3 4' | fail --max-pixels 1000 - t.pgm
(printf 'P5 100000 100000 255 '; cat /dev/zero) 2>/dev/null | fail --max-memory 64M - t.pgm
(cat camera.png; printf 'P5 100000 100000 255 '; cat /dev/zero) 2>/dev/null |
    try -q --max-memory 8M - 'camera.png[20x20+1+2]' 2>&1
fail --max-memory 64M /dev/zero t.pgm
fail --max-memory 64M t.pgm /dev/zero
fail - t.pgm </dev/zero
fail --mask /dev/zero camera.png t.pgm
mkfifo pipe
printf 'pipe\ncamera.png\n' | try -q --files-from - -t 'camera.png[20x20+1+2]' 2>&1
cat camera.png camera.png camera.png camera.png >all
for memory in 2M 20M; do
    cat all | tmatch -q --max-memory $memory - 'camera.png[20x20+1+2]'
done
# With --max-time-per-frame no named pipe is waited for without an end: nobody writes to it, or only half a picture.
fail --max-time-per-frame 0.1 pipe t.pgm
fail --max-time-per-frame 0.1 camera.png pipe
fail --max-time-per-frame 0.1 --mask pipe camera.png t.pgm
exec 9<>pipe
printf 'P5 2 2 255 ab' >&9
fail --max-time-per-frame 0.1 pipe t.pgm
fail --max-time-per-frame 0.1 camera.png pipe
exec 9>&-
