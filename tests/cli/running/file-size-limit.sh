# SPDX-License-Identifier: MIT
# where: ! grep -q __asan_init "$TMATCH" # long under sanitizers, which see the same code in other tests
# Beyond a limit on the size of files, writing is an error as on a full disk, and nothing is left
# behind. Shells count the limit in blocks of 512 or 1024 bytes.
data camera.png
template='camera.png[50x50+1+2]'
limited() {
    (ulimit -f 8 && fail -q "$@")
}
for output in '-o seen.png' '-o seen.jpg' '--heatmap heat.png' '--map map.npy' \
    '--dump-template dump.txt' '--report page.html'; do
    # shellcheck disable=SC2086 # two words
    limited $output camera.png "$template"
done
ls -A
# A log keeps what was written before, without half a line.
mkdir frames
for i in $(seq 60); do ln -s "$TMATCH_DATA_DIR/camera.png" frames/$i.png; done
set -- -q --resume log -t "$template" frames
(ulimit -f 8 && tmatch "$@" >lines 2>err; echo "status $?")
sort -u err
[ "$(tail -c 1 log)" = '' ] && grep -c '"sum":"[0-9a-f]*"}$' log | sed 's/^[1-9][0-9]$/some lines/'
try "$@" | tail -n 1
wc -l <log
# Standard output may be such a file as well.
yes camera.png | head -n 300 >list
(ulimit -f 8 && exec tmatch -q --files-from list -t 'camera.png[10x10+1+2]' >lines)
echo "status $?"
