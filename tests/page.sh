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
cp "$TMATCH_DATA_DIR/camera.png" 'script><s>.png'
cp "$TMATCH_DATA_DIR/rocket.jpg" "100% #1?.jpg"
cp "$TMATCH_DATA_DIR/astronaut.png" "$(printf 'caf\351.png')"
echo nonsense >broken.png
head -c 3000 "$TMATCH_DATA_DIR/camera.png" >cut.png
for i in $(seq 300); do ln -s "$TMATCH_DATA_DIR/brick.png" "z$i.png"; done
cd ..
"$TMATCH" -q --device cpu --report report.html -t "$TMATCH_DATA_DIR/camera.png[60x60+220+90]" \
    -t "$TMATCH_DATA_DIR/brick.png[30x20+5+6]" 'frames & "co" <' >/dev/null 2>&1

# Opens a page after a change of it, with a script that has a place in the page's policy, and
# prints the TAP that it leaves in the document.
open_page() { # PAGE SCRIPT
    local hash
    { echo; cat "$2"; } >script
    hash="'sha256-$(openssl dgst -sha256 -binary script | base64)'"
    {
        sed "s|script-src |script-src $hash |" "$1"
        printf '<script>'
        cat script
        echo '</script>'
    } >tested.html
    timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$folder/profile" \
        --window-size=1280,860 --virtual-time-budget=20000 --dump-dom "file://$folder/tested.html" >dom.html 2>chromium.log
    if ! sed -n '/<pre id="tap">/,/<\/pre>/p' dom.html | sed 's/<[^>]*>//g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g; /^$/d' >tap ||
        ! grep -q 'ok ' tap; then
        sed 's/^/# /' chromium.log | tail -n 5
        echo "Bail out! the browser left no results"
        exit 1
    fi
    cat tap >>all
}

open_page report.html "$here/page.js"

# One frame, nothing reaches the threshold; its template has a folder and the frame has none.
cp "$TMATCH_DATA_DIR/camera.png" .
"$TMATCH" -q --device cpu --report one.html --min-score 0.99 camera.png \
    "$TMATCH_DATA_DIR/astronaut.png[60x60+220+90]" >/dev/null 2>&1
cat >one.js <<'END'
open_check('one frame is shown at once', document.body.classList.contains('single') && byId('bar').hidden && picture.src.endsWith('camera.png'));
open_check('what was not found is said', byId('verdict').textContent.startsWith('Not found'), byId('verdict').textContent);
open_check('how near it came is said', byId('verdict').textContent.includes(format(frames[0].best.score)) && !byId('near-note').hidden && byId('stage').querySelector('.box.near') && byId('copy-rows').hidden);
open_check('the threshold is said', byId('threshold').textContent.startsWith('score of 0.99 or more'), byId('threshold').textContent);
END

# Rows as other versions write them, one that is damaged, and what has no place in the policy.
"$TMATCH" -q --device cpu --report rows.html -t camera.png camera.png camera.png ./camera.png "$PWD/camera.png" >/dev/null
awk '/^\["/ { n++ }
    /^\["/ && n == 1 { sub(/"matches":\[[^]]*\]/, "\"matches\":[],\"best\":{\"x\":1,\"y\":2,\"score\":0.5}") }
    /^\["/ && n == 2 { sub(/\}\]\}\]/, "}],\"weak\":true}]") }
    /^\["/ && n == 3 { sub(/"matches":\[/, "\"mat\001") }
    { print }' rows.html >changed
echo '<script>document.title = "foreign";</script><img src="x" onerror="document.title = 1"><style>#grid { display: none }</style>' >>changed
mv changed rows.html
cat >rows.js <<'END'
open_check('a damaged row is one frame', frames.length === 4 && frames[2].kind === 'error' && frames[3].kind === 'match' && frames[2].name === './camera.png', frames.map(f => f.kind));
open_check('what came near is shown', frames[0].kind === 'none' && cells.get(0).querySelector('.box.near') && cells.get(0).textContent.includes('best 0.5000'));
open_check('a weak match is marked', frames[1].kind === 'weak' && cells.get(1).querySelector('.box.weak') && byId('legend').textContent.includes('weak'));
select(0); open(0);
open_check('and explained', !byId('near-note').hidden && byId('weak-note').hidden && byId('verdict').textContent.includes('0.5000 at x 1, y 2'), byId('verdict').textContent);
open_check('no other script or style is run', !/foreign|1$/.test(document.title) && getComputedStyle(grid).display === 'block', document.title);
END
# A match that is turned clockwise by 30 degrees.
"$TMATCH" -q --device cpu --dump-template t.png --angle 30 camera.png 'camera.png[60x40+220+90]' >/dev/null
"$TMATCH" -q --device cpu --report poses.html --angle -60:0:30 --scale 1:1.2:0.2 camera.png t.30deg.1x.png >/dev/null
cat >poses.js <<'END'
const turned = frames[0].best, box = byId('stage').querySelector('.box.turned');
open_check('a turned box is drawn turned', turned.angle === -30 && /^rotate\(0\.523/.test(box.style.transform), [turned, box && box.style.transform]);
open_check('about its middle', Math.abs(parseFloat(box.style.left) + parseFloat(box.style.width) / 2 - (turned.center[0] + 0.5) * byId('stage').clientWidth / 512) < 0.1, box.style.cssText);
open_check('its pose is said', byId('verdict').textContent.includes('turned by -30\u00b0, size \u00d7 1,'), byId('verdict').textContent);
open_check('and in its row', byId('rows').rows[0].cells.length === 7 && byId('rows').rows[0].cells[5].textContent === '-30\u00b0' && !byId('angle-head').hidden && !byId('scale-head').hidden);
open_check('it is shown upright beside its template', byId('zoom-caption').textContent === 'match, turned upright', byId('zoom-caption').textContent);
END

# A movie of 40 frames of 25 a second: one noise in frames 6 to 8 and 21 to 31, others in the others.
noise() { # FIRST BYTE
    tail -c "+$1" "$TMATCH_DATA_DIR/rocket.jpg" | head -c 3072
}
mkdir movie
{
    echo 'YUV4MPEG2 W64 H48 F25:1 Ip Cmono'
    for n in $(seq 40); do
        echo FRAME
        case $n in [6-8] | 2[1-9] | 3[01]) noise 1001 ;; *) noise $((n * 700 + 5000)) ;; esac
    done
} >'movie/clip <1>.y4m'
"$TMATCH" -q --device cpu --report movie.html --min-score 0.9 --gap 0.2 -t 'movie/clip <1>.y4m#6[20x16+30+20]' -t camera.png \
    'movie/clip <1>.y4m' >/dev/null 2>&1
cat >movie.js <<'END'
const lanes = document.querySelectorAll('.lane'), stills = document.querySelectorAll('.seen-card');
open_check('a movie has a timeline', !byId('movies').hidden && movies.length === 1 && document.querySelector('.movie h2').textContent.startsWith('movie/clip <1>.y4m'), byId('movies').textContent);
open_check('appearances are there, to the frame', JSON.stringify(movies[0].seen.map(a => [a.start, a.end, a.first.index, a.last.index])) === '[[0.2,0.32,6,8],[0.8,1.24,21,31]]', movies[0].seen);
open_check('a lane for each template', lanes.length === 2 && lanes[0].querySelectorAll('.seen').length === 2 && lanes[1].querySelectorAll('.seen').length === 0);
const [, second] = lanes[0].querySelectorAll('.seen');
open_check('at their times', Math.abs(second.getAttribute('x') - 300) < 0.1 && Math.abs(second.getAttribute('width') - 165) < 0.1, second.outerHTML);
open_check('the score is drawn', /^M0 /.test(lanes[0].querySelector('.scores').getAttribute('d')));
open_check('a still of each', stills.length === 2 && stills[1].textContent.includes('0:00.800') && stills[1].frame.index === 21, stills.length);
const box = lanes[0].querySelector('svg').getBoundingClientRect();
lanes[0].querySelector('.field').dispatchEvent(new PointerEvent('pointermove', { clientX: box.left + box.width * 0.53, clientY: box.top + 5 }));
open_check('a still is the whole frame, as a file', stills[1].frame.file === './movie.stills/clip%20%3C1%3E.y4m%2321.jpg' && stills[1].frame.whole, stills[1].frame.file);
open_check('time, frame and score are said', lanes[0].querySelector('.lane-time').textContent === '0:00.840 \u00b7 #22 \u00b7 1', lanes[0].textContent);
lanes[0].querySelector('.field').dispatchEvent(new MouseEvent('click', { clientX: box.left + box.width * 0.53, clientY: box.top + 5 }));
open_check('a click opens the frame', dialog.open && current.index === 22 && byId('detail-name').textContent.endsWith('0:00.840'), byId('detail-name').textContent);
dialog.close();
controls.search.value = 'nothing';
update();
stills[0].click();
open_check('a still opens its frame, whatever is chosen', dialog.open && current.index === 6 && picture.getAttribute('src').startsWith('./movie.stills/'), picture.getAttribute('src'));
dialog.close();
byId('templates').children[1].click();
open_check('of the chosen template', document.querySelectorAll('.lane').length === 1 && document.querySelectorAll('.seen-card').length === 0);
END
for name in one rows poses movie; do
    {
        echo 'const seen = [];'
        echo 'function open_check(what, good, value) { seen.push(`${good ? "ok" : "not ok"} - ${what}${good ? "" : ` (${JSON.stringify(value)})`}`); }'
        cat $name.js
        echo 'const pre = make("pre"); pre.id = "tap"; pre.textContent = "\n" + seen.join("\n") + "\n"; document.body.replaceChildren(pre);'
    } >whole.js
    open_page $name.html whole.js
done

# EXIF data behind a PNG's samples, which the browser passes over: orientation 6.
{
    head -c -12 "$TMATCH_DATA_DIR/text.png"
    printf '\000\000\000\032eXIfMM\000*\000\000\000\010\000\001\001\022\000\003\000\000\000\001\000\006\000\000\000\000\000\000\326gKi'
    tail -c 12 "$TMATCH_DATA_DIR/text.png"
} >turned.png
"$TMATCH" -q --device cpu --report turned.html turned.png 'turned.png[60x40+100+300]' >/dev/null
cat >whole.js <<'END'
setTimeout(() => {
  const good = current.width === 172 && picture.src.startsWith('data:') && picture.naturalHeight > picture.naturalWidth;
  const pre = make('pre');
  pre.id = 'tap';
  pre.textContent = `\n${good ? 'ok' : 'not ok'} - what the browser does not turn is shown as its thumbnail (${current.width}, ${picture.naturalWidth})\n`;
  document.body.replaceChildren(pre);
}, 3000);
END
open_page turned.html whole.js
awk '/^(not )?ok / { n++; sub(/^ok [0-9]* ?- /, "ok " n " - "); sub(/^not ok [0-9]* ?- /, "not ok " n " - "); print }
    END { print "1.." n }' all
! grep -q '^not ok' all
