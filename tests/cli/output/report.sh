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
# A resumed run shows what was done before as if it had done it, thumbnails too.
tmatch "$@" --resume log --report none.html frames/sub >/dev/null
tmatch "$@" --resume log --report all.html frames >/dev/null 2>&1
lines all.html
grep -c '^-$' all.html
without_date() {
    sed '/"date":/d' "$1"
}
without_date all.html >resumed
tmatch "$@" --report all.html frames >/dev/null 2>&1
without_date all.html | cmp - resumed && echo the same
# What was run, as a shell reads it; templates with what is wrong with them.
printf 'P2 2 2 255 7 7 7 7\n' >"it's flat.pgm"
odd=$(printf 'caf\351\033.pgm')
cp "it's flat.pgm" "$odd"
tmatch -q --device cpu --report all.html -t 'frames/camera.png[20x20+1+2]' -t "it's flat.pgm" -t "$odd" --min-score .75 \
    -n 0 frames/camera.png 2>/dev/null
sed -n '/id="run"/,/<.script>/p' all.html | sed 's/"date":"[^"]*"/DATE/; s/"version":"[^"]*"/VERSION/; s/"color":"#[0-9a-f]*"/COLOR/; s/base64,[^"]*/.../'
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
