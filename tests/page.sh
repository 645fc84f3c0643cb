#!/bin/bash
# SPDX-License-Identifier: MIT
# The report page in a real browser, as TAP. Skipped, and it says so, where there is
# no Chromium: TMATCH_CHROMIUM names one.
set -u
: "${TMATCH:?is the path of the program}" "${TMATCH_DATA_DIR:?is the folder of the pictures}"
chromium=${TMATCH_CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}
if [ -z "$chromium" ]; then
    echo "1..0 # SKIP no chromium to open the report page in"
    exit 0
fi
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d) || exit 99
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 99

# Names that want care in JSON, in HTML and in a link.
mkdir 'frames & "co" <'
cd 'frames & "co" <' || exit 99
cp "$TMATCH_DATA_DIR/camera.png" 'script><b>.png'
cp "$TMATCH_DATA_DIR/rocket.jpg" "100% #1?.jpg"
cp "$TMATCH_DATA_DIR/astronaut.png" "$(printf 'caf\351.png')"
echo nonsense >broken.png
head -c 3000 "$TMATCH_DATA_DIR/camera.png" >cut.png
for i in $(seq 300); do ln -s "$TMATCH_DATA_DIR/brick.png" "z$i.png"; done
cd ..
"$TMATCH" -q --device cpu --report report.html -t "$TMATCH_DATA_DIR/camera.png[60x60+220+90]" \
    -t "$TMATCH_DATA_DIR/brick.png[30x20+5+6]" 'frames & "co" <' >/dev/null 2>&1

# The test runs in the page and leaves its results in the document.
{
    cat report.html
    echo '<script>'
    cat "$here/page.js"
    echo '</script>'
} >tested.html
timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$folder/profile" \
    --window-size=1280,860 --virtual-time-budget=20000 --dump-dom "file://$folder/tested.html" >dom.html 2>chromium.log
if ! sed -n '/<pre id="tap">/,/<\/pre>/p' dom.html | sed 's/<[^>]*>//g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g; /^$/d' >tap ||
    ! grep -q '^1\.\.' tap; then
    sed 's/^/# /' chromium.log | tail -n 5
    echo "Bail out! the browser left no results"
    exit 1
fi
cat tap
! grep -q '^not ok' tap
