// Run in the report page by page.sh, after the page's own script.
const results = [];
function check(what, good, seen) {
  results.push(`${good ? 'ok' : 'not ok'} ${results.length + 1} - ${what}${good ? '' : ` (${JSON.stringify(seen)})`}`);
}
const press = key => dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
const set = (control, value) => { controls[control].value = value; controls[control].dispatchEvent(new Event('input')); };
const loaded = image => new Promise(done => {
  if (image.complete) done();
  for (const end of ['load', 'error']) image.addEventListener(end, done, { once: true });
});
const show = name => byId('kinds').querySelector(`[data-kind=${name}]`).click();
const pause = ms => new Promise(done => setTimeout(done, ms));

async function test() {
  addEventListener('error', event => check('no error in the page', false, event.message));
  check('all frames are there', frames.length === 305, frames.length);
  check('only what is in view is made', cells.size > 4 && cells.size < 60, cells.size);
  check('thumbnails are pictures', await loaded(cells.get(0).querySelector('img')).then(() => cells.get(0).querySelector('img').naturalWidth > 50));
  check('a name is text', frames.some(f => f.name.endsWith('<\/script><s>.png')) && !document.querySelector('s'));
  check('a caption leaves out the folder of all', cells.get(0).querySelector('.name').textContent === list[0].name.slice(list[0].name.indexOf('/') + 1), list[0].name);
  check('a command is quoted', byId('command').textContent.includes(`'frames & "co" <'`), byId('command').textContent);
  check('no threshold', byId('threshold').textContent.startsWith('none: the best match'), byId('threshold').textContent);
  check('totals', byId('totals').textContent === '305 frames, 606 matches', byId('totals').textContent);
  const cards = [...byId('templates').children];
  check('templates are shown', cards.length === 2 && cards[0].textContent.includes('60 × 60') && cards[0].querySelector('img').naturalWidth === 60, cards[0].textContent);
  check('each in its colour', templates[0].color !== templates[1].color && cells.get(0).querySelectorAll('.box').length === 2 &&
    getComputedStyle(cards[1]).borderLeftColor === getComputedStyle(cells.get(0).querySelectorAll('.box')[1]).borderTopColor);
  check('scores are rounded', /^(1|0\.\d{4})$/.test(cells.get(0).querySelector('.score').textContent), cells.get(0).querySelector('.score').textContent);
  check('and exact below', Number(cells.get(0).querySelector('.score').title) === list[0].best.score);
  check('errors are counted', byId('errors').textContent.includes('2 frames with errors'), byId('errors').textContent);
  byId('errors').open = true;
  await pause(100);
  check('errors are listed', byId('errors').querySelectorAll('li').length === 2 && byId('errors').textContent.includes('truncated'));
  byId('errors').open = false;

  set('sort', 'best');
  check('best first', list[0].best.score === 1 && list[list.length - 1].kind === 'error', list[0].best);
  set('sort', 'worst');
  check('worst first', list.slice(0, 300).every((f, i) => i === 0 || !f.best || f.best.score >= list[i - 1].best.score));
  set('sort', 'name');
  check('by name', list.every((f, i) => i === 0 || f.name >= list[i - 1].name));
  set('sort', 'order');
  show('error');
  check('only errors', list.length === 2, list.length);
  show('all');
  cards[0].click();
  set('low', '0.9');
  check('by score and template', list.length === 1 && list[0].name.includes('script'), list.length);
  cards[0].click();
  set('low', '');
  set('search', 'z29');
  check('by name', list.length === 11, list.length);
  byId('reset').click();
  check('reset', list.length === 305, list.length);
  const svg = byId('histogram'), box = svg.getBoundingClientRect();
  const bars = [...svg.querySelectorAll('.bar')].reduce((sum, bar) => sum + (Number(bar.getAttribute('height')) > 0), 0);
  check('a histogram', bars > 1, bars);
  const drag = (name, x) => svg.dispatchEvent(new PointerEvent(name, { clientX: box.left + box.width * x, clientY: box.top + 5, bubbles: true }));
  drag('pointerdown', 0.9); drag('pointermove', 1); drag('pointerup', 1);
  check('a range of it', list.length >= 300 && list.length < 305 && Number(controls.low.value) > 0.9, [list.length, controls.low.value]);
  byId('reset').click();

  press('ArrowRight'); press('ArrowRight'); press('ArrowDown');
  check('arrows move', selected === 1 + columns, selected);
  press('End');
  check('to the end', selected === 304 && cells.has(304) && cells.size < 60, selected);
  press('Home');
  check('and back', selected === 0 && cells.has(0), selected);
  grid.focus();
  press('Enter');
  check('opens a frame', dialog.open && document.activeElement === dialog, document.activeElement.id);
  for (const frame of frames.slice(0, 4)) {
    select(frame.order); open(frame.order);
    if (!frame.width) continue;
    await loaded(picture);
    await pause(200);
    check(`the full picture of ${frame.order}`, picture.naturalWidth === frame.width && !picture.src.startsWith('data:'), [picture.src, picture.naturalWidth]);
  }
  const camera = frames.findIndex(f => f.name.includes('script'));
  select(camera); open(camera);
  await loaded(picture);
  await pause(500);
  check('matches of both templates', byId('rows').rows.length === 2 && byId('stage').querySelectorAll('.box').length === 2);
  check('the match beside its template', byId('zoom').width === 520 && templates[current.shown[chosen].template].image.naturalWidth > 0);
  press('ArrowDown');
  check('the next match', chosen === 1, chosen);
  check('margins are explained', !byId('margin-note').hidden && byId('rows').rows[0].cells[4].textContent.startsWith('0.'));
  const before = selected;
  press('ArrowRight');
  check('the next frame', selected === before + 1 && current === list[selected], selected);
  byId('close').click();
  check('closes', !dialog.open);
}

test().catch(error => check('the test ends', false, String(error))).then(() => {
  const pre = document.createElement('pre');
  pre.id = 'tap';
  pre.textContent = `\n1..${results.length}\n${results.join('\n')}\n`;
  document.body.replaceChildren(pre);
});
