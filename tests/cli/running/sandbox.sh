# SPDX-License-Identifier: MIT
# needs: libseccomp
# where: grep '^Seccomp:' /proc/self/status
# Decoded in processes that can do nothing else, pictures give the same lines, files, messages and status.
data camera.png chelsea.png rocket.jpg parts.jpg
head -c 9000 rocket.jpg >torn.jpg
echo nonsense >broken.png
: >empty.png
: >stream
head -c 30 camera.png >cut.png
compare() { # OPTION...
    try "$@" <stream 2>&1 | sed 's/ failed; .*/ failed/' >plain
    try --sandbox "$@" <stream 2>&1 | sed 's/ failed; .*/ failed/' >boxed
    diff plain boxed && tail -n 1 boxed
}
set -- --device cpu --threads 3
compare "$@" -t 'camera.png[50x50+1+2]' -t 'rocket.jpg[40x40+300+100]' camera.png torn.jpg rocket.jpg broken.png \
    empty.png cut.png missing.png chelsea.png .
compare "$@" --color --format csv 'chelsea.png[60x50+100+90]' 'chelsea.png[20x20+120+100]'
compare "$@" --depth float --map map.npy rocket.jpg 'camera.png[20x20+100+100]'
compare "$@" --mask camera.png --frame-mask rocket.jpg rocket.jpg 'camera.png[20x20+100+100]'
compare "$@" --max-memory 200K rocket.jpg 'camera.png[20x20+100+100]'
compare "$@" -o seen.png parts.jpg 'parts.jpg[30x30+50+50]'
cat camera.png rocket.jpg broken.png >stream
compare "$@" - 'camera.png[20x20+100+100]'
# A log that it began is taken up without it, and the other way round.
tmatch -q "$@" --sandbox --resume log -t camera.png rocket.jpg broken.png >/dev/null 2>&1
try -q "$@" --resume log -t camera.png rocket.jpg broken.png chelsea.png 2>&1
try -q "$@" --sandbox --resume log -t camera.png rocket.jpg broken.png chelsea.png 2>&1
tmatch -v --sandbox camera.png 'camera.png[50x50+1+2]' 2>&1 |
    sed -n -e 's/Landlock ABI [0-9]*/LANDLOCK/' -e 's/no Landlock in this kernel/LANDLOCK/' -e 's/allows [0-9]*/allows N/' \
        -e 's/memory and //' -e '/sandbox:/p'
# A file that takes too long does not have to look at the clock.
fail -q --sandbox --max-time-per-frame 1e-6 rocket.jpg camera.png
# Without seccomp it is an error, not left out in silence.
for kind in no vain; do
    LD_PRELOAD=$TMATCH_FAKE_PLUGIN_DIR/lib$kind-seccomp.so \
        ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 fail --sandbox camera.png rocket.jpg
done
# Nobody else starts these processes.
fail --sandboxed-decoder
