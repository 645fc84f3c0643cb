# SPDX-License-Identifier: MIT
# The page of --report; tests/page.sh opens it in a browser.
mkdir -p frames/sub pages
cp "$TMATCH_DATA_DIR/camera.png" "$TMATCH_DATA_DIR/rocket.jpg" frames
cp "$TMATCH_DATA_DIR/brick.png" 'frames/sub/a b<.png'
echo nonsense >frames/broken.png
set -- -q --device cpu -t 'frames/camera.png[20x20+1+2]' -r
lines() { # the frames', without thumbnails
    sed -n '/class="frames"/,/<.script>/p' "$1" | grep '^\['
}
try "$@" --report pages/all.html frames 2>/dev/null
lines pages/all.html
grep -c '^/9j/' pages/all.html
# Links are relative to the page, wherever that is.
(cd pages && ln -s ../frames linked && tmatch -q -t ../frames/camera.png --report one.html linked/sub >/dev/null; lines one.html)
# A resumed run shows what was done before too.
tmatch "$@" --resume log --report none.html frames/sub >/dev/null
tmatch "$@" --resume log --report all.html frames >/dev/null 2>&1
lines all.html
grep -c '^-$' all.html
fail "$@" --report page.htm frames
fail "$@" --report no/page.html frames
# A full disk.
ln -s /dev/full full.html
fail "$@" --report full.html frames/camera.png
(
    trap '' XFSZ
    ulimit -f 40
    fail "$@" --report large.html frames/camera.png frames/camera.png frames/camera.png
)
ls
