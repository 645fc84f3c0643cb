# SPDX-License-Identifier: MIT
# needs: libavformat
# runs: ffmpeg
# A movie is gone on with where it was, also after kills; the log comes to be that of one run, in its order.
data coffee.png
command ffmpeg -v error -nostdin -f lavfi -i testsrc2=s=320x180:r=25:d=12 -c:v mpeg4 -q:v 2 -g 30 -bf 2 clip.mp4
set -- -q --device cpu clip.mp4 'coffee.png[24x20+200+100]'
tmatch --resume whole "$@" >all
wc -l <whole
for lines in 1 77 299 300; do
    head -n $lines whole >log
    tmatch --resume log "$@" | cat - >rest
    cmp log whole && tail -n +$((lines + 1)) all | cmp - rest && echo "gone on after $lines"
done
tmatch --resume log --format json "$@"
rm log
for delay in 12 20 15 25 10 18; do
    # In the foreground, because timeout would kill itself too, and not wait for the end.
    timeout --foreground -s KILL 0.$delay tmatch --resume log "$@" >/dev/null 2>&1
done
tmatch --resume log "$@" >/dev/null
cmp log whole && echo "killed and gone on"
# One of several frames; from some time on.
head -n 100 whole >log
tmatch --resume log --every 5 "$@" | wc -l
tmatch --resume log --every 5 "$@" | wc -l
tmatch --resume log --from 11 "$@" | wc -l
tmatch --resume log --from 11 "$@" | wc -l
# A report shows what was done before, too.
head -n 200 whole >log
tmatch --resume log --report page.html "$@" | wc -l
cmp log whole && grep -c 'clip.mp4#12",' page.html
