# SPDX-License-Identifier: MIT
# Results that cannot be written are an error.
data camera.png
for format in text json csv; do
    tmatch --format $format camera.png 'camera.png[20x20+1+2]' >/dev/full
    echo "status $?"
done 2>&1
tmatch --help 2>&1 >/dev/full
echo "status $?"
tmatch --version 2>&1 >/dev/full
echo "status $?"
tmatch camera.png 'camera.png[20x20+1+2]' 2>&1 >&-
echo "status $?"
# Nothing else goes there: an output does not take its place.
tmatch --map map.npy camera.png 'camera.png[20x20+1+2]' 2>&1 >&-
echo "status $?"
# A reader that leaves ends the program by SIGPIPE, without a word.
(
    tmatch -t 'camera.png[20x20+1+2]' camera.png camera.png camera.png camera.png camera.png
    echo "status $?" >status
) | true
# It is decided by who is quicker.
grep -c -x -e 'status 141' -e 'status 0' status
# It leaves no temporary files: neither the page's nor a picture's.
mkfifo late.png
mkdir out
rm status
(
    tmatch -q --device cpu --threads 1 -t 'camera.png[20x20+1+2]' -o out --report page.html \
        camera.png late.png
    echo "status $?" >status
) |
    {
        read -r line
        echo "$line"
        exec <&-
        cat camera.png >late.png
    }
cat status
ls -A . out | grep -e tmp -e page
true
