'use strict';
// The script "run" is [run, template...]. Each script of class "frames" has a line for each
// frame: [file, width, height, pair...], and the one of class "thumbs" after it a line with
// each frame's thumbnail. Only the thumbnails that come into view are read.
const byId = id => document.getElementById(id);
const make = (name, className, text) => {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
};
const thumbs = [...document.querySelectorAll('script.thumbs')];
const [run, ...templates] = JSON.parse(byId('run').textContent);
const frames = [];
const better = (a, b) => run.distance ? a < b : a > b;

// Four digits, as in drawings; exactly 1 or 0 is "1" or "0", and 0.99999 is "1.0000".
const format = score => Number.isInteger(score) ? String(score)
  : Math.abs(score) < 100 ? score.toFixed(4) : score.toPrecision(6).replace(/\.?0+$/, '');
const count = (n, word) => `${n.toLocaleString('en')} ${word}${n === 1 ? '' : word.endsWith('ch') ? 'es' : 's'}`;

function readFrame(line) {
  const [file, width, height, ...pairs] = JSON.parse(line);
  const frame = { file, width, height, name: pairs[0].frame, matches: [], faults: [] };
  frame.whole = pairs[0].index === undefined; // else it is one of a file's pictures, of which a browser shows the first
  if (typeof file !== 'string' || typeof frame.name !== 'string') throw new TypeError('no frame');
  pairs.forEach((pair, template) => {
    const color = templates[template].color;
    if (pair.error) frame.faults.push(pair.error);
    else for (const m of pair.matches) frame.matches.push({ ...m, template, color, weak: pair.weak === true || m.weak === true });
    if (pair.best) frame.matches.push({ ...pair.best, template, color, w: pair.template_size[0], h: pair.template_size[1], near: true });
  });
  return frame;
}

document.querySelectorAll('script.frames').forEach((script, chunk) => {
  script.textContent.trim().split('\n').forEach((line, place) => {
    let frame;
    try {
      frame = readFrame(line);
    } catch {
      // One row must not take the others with it.
      const name = /"frame":("(?:[^"\\]|\\.)*")/.exec(line);
      frame = { file: '', width: 0, height: 0, name: name ? name[1].slice(1, -1) : `row ${frames.length + 1}`, whole: true, matches: [],
        faults: ['This row of the report is damaged. Make the report again.'] };
    }
    frames.push(Object.assign(frame, { chunk, place, order: frames.length }));
  });
});
const single = frames.length === 1;

// The folder that all names share is left out where there is little room.
function shortener(names) {
  let folder = names.length ? names[0].slice(0, names[0].lastIndexOf('/') + 1) : '';
  while (!names.every(name => name.startsWith(folder))) folder = folder === '/' ? '' : folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1);
  return name => name.slice(folder.length);
}
const shortFrame = shortener(frames.map(f => f.name));
const baseOf = name => name.slice(name.lastIndexOf('/', name.length - 2) + 1);
const shortTemplate = new Set(templates.map(t => baseOf(t.name))).size === templates.length ? baseOf : shortener(templates.map(t => t.name));

// What is shown of each frame under the chosen template. A frame is of one kind: by its best
// match, or by there being none.
let chosenTemplate = -1;
function judge(frame) {
  frame.shown = frame.matches.filter(m => chosenTemplate < 0 || m.template === chosenTemplate);
  frame.best = null;
  for (const m of frame.shown)
    if (!frame.best || (frame.best.near && !m.near) || (frame.best.near === m.near && better(m.score, frame.best.score))) frame.best = m;
  frame.kind = frame.best && !frame.best.near ? (frame.best.weak ? 'weak' : 'match') : frame.faults.length ? 'error' : 'none';
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make('textarea');
    area.value = text;
    button.parentElement.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  const label = button.textContent;
  button.textContent = 'Copied';
  setTimeout(() => { button.textContent = label; }, 1200);
}

// The head: what was run, and the templates.
function fitInto(width, height, roomX, roomY, most) {
  const scale = Math.min(roomX / width, roomY / height, most);
  return [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
}

function showTemplates() {
  templates.forEach((t, i) => {
    const several = templates.length > 1 && !single;
    const card = make(several ? 'button' : 'div', 'template'), model = make('span', 'model'), about = make('span', 'about');
    card.style.borderLeftColor = t.color;
    card.title = t.name;
    if (t.data) {
      const image = make('img');
      [image.width, image.height] = fitInto(...t.size, 84, 64, 4);
      if (image.width < t.size[0]) image.style.imageRendering = 'auto';
      image.alt = '';
      image.src = t.data;
      model.append(image);
    }
    const all = frames.flatMap(f => f.matches.filter(m => m.template === i)), found = all.filter(m => !m.near);
    const bestOf = list => list.reduce((a, b) => a && !better(b.score, a.score) ? a : b, null), best = bestOf(found), near = bestOf(all);
    about.append(make('b', '', shortTemplate(t.name)));
    if (t.error) about.append(make('small', 'bad', t.error));
    else about.append(make('small', '', `${t.size[0]} × ${t.size[1]} pixels`),
      make('small', '', best ? `${count(found.length, found.every(m => m.weak) ? 'weak match' : 'match')}, ${found.length > 1 ? 'the best' : 'score'} ${format(best.score)}`
        : near ? `no match, the nearest ${format(near.score)}` : 'no match'));
    card.append(model, about);
    if (several) {
      card.type = 'button';
      card.setAttribute('aria-pressed', false);
      card.addEventListener('click', () => { chooseTemplate(chosenTemplate === i ? -1 : i); });
    }
    byId('templates').append(card);
  });
}

function chooseTemplate(template) {
  chosenTemplate = template;
  [...byId('templates').children].forEach((card, i) => card.setAttribute('aria-pressed', i === template));
  update();
}

function showRun() {
  document.body.classList.toggle('stored', run.stored_orientation);
  byId('date').textContent = `${run.date} · tmatch ${run.version}`;
  byId('cut-short').hidden = !byId('interrupted');
  byId('command').firstChild.textContent = run.command;
  byId('command').lastElementChild.addEventListener('click', event => copy(run.command, event.target));
  const where = single && templates.length === 1 ? '' : ' of each frame and template';
  const most = run.number === 0 ? 'all matches' : run.number === 1 ? 'the best match' : `up to ${run.number} matches`;
  const least = templates.map(t => t.least).filter(s => s !== undefined), low = Math.min(...least), high = Math.max(...least);
  byId('threshold').textContent = least.length
    ? `score of ${low === high ? low : `${low} to ${high}, by the templates' sizes,`} or more, which -n 0 takes where --min-score sets none`
    : run.min_score === null
    ? `none: ${most}${where}, however weak (--min-score sets one)`
    : `${run.metric === 'lcc' ? 'score' : run.metric} of ${run.min_score} or ${run.distance ? 'less' : 'more'}, ${most}${where}`;
  byId('threshold').title = `metric: ${run.metric}`;
  const matches = frames.reduce((sum, f) => sum + f.matches.filter(m => !m.near).length, 0);
  byId('totals').textContent = `${count(frames.length, 'frame')}, ${count(matches, 'match')}`;
  document.title = `tmatch: ${byId('totals').textContent}`;
}

const kinds = [['all', 'All'], ['match', 'Found'], ['weak', 'Weak'], ['none', 'Not found'], ['error', 'Failed']];
const controls = { sort: byId('sort'), low: byId('low'), high: byId('high'), search: byId('search') };
let list = [], selected = -1, bounds = [0, 1], kind = 'all';

function showKinds() {
  byId('kinds').replaceChildren();
  for (const [value, label] of kinds) {
    const n = value === 'all' ? frames.length : frames.filter(f => f.kind === value).length;
    if (!n && value !== kind) continue;
    const button = make('button', '', `${label} ${n.toLocaleString('en')}`);
    button.type = 'button';
    button.dataset.kind = value;
    button.setAttribute('aria-pressed', value === kind);
    button.addEventListener('click', () => {
      kind = value;
      update();
      byId('kinds').querySelector('[aria-pressed=true]').focus();
    });
    byId('kinds').append(button);
  }
}

function showLegend() {
  const legend = byId('legend'), entry = (className, text) => {
    const item = make('span');
    item.append(make('i', className), text);
    legend.append(item);
  };
  legend.replaceChildren();
  if (frames.some(f => f.shown.some(m => m.weak))) entry('weak', 'weak: scores no better than frames without the template often do');
  if (frames.some(f => f.shown.some(m => m.near))) entry('near', 'below the threshold: the best place that there was');
  legend.hidden = !legend.childElementCount;
}

function range() {
  const low = controls.low.value === '' ? -Infinity : Number(controls.low.value);
  const high = controls.high.value === '' ? Infinity : Number(controls.high.value);
  return [low, high];
}

function update() {
  const [low, high] = range(), words = controls.search.value.toLowerCase(), ranged = low > -Infinity || high < Infinity;
  const before = list[selected], rank = f => !f.best ? 2 : f.best.near ? 1 : 0;
  frames.forEach(judge);
  if (!single) {
    showKinds();
    showLegend();
    drawHistogram(low, high);
  }
  list = frames.filter(f => (kind === 'all' || f.kind === kind) &&
    (!ranged || (f.best && f.best.score >= low && f.best.score <= high)) && f.name.toLowerCase().includes(words));
  const sign = controls.sort.value === 'best' ? 1 : -1;
  if (controls.sort.value === 'name') list.sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : a.order - b.order);
  else if (controls.sort.value !== 'order')
    list.sort((a, b) => rank(a) !== rank(b) ? rank(a) - rank(b)
      : !a.best || a.best.score === b.best.score ? a.order - b.order : better(a.best.score, b.best.score) ? -sign : sign);
  selected = list.indexOf(before);
  byId('nothing').hidden = list.length > 0;
  if (!single) layout(true);
}

const bins = 64;
function drawHistogram(low, high) {
  const scored = frames.filter(f => f.best), svg = byId('histogram');
  let least = Infinity, most = -Infinity;
  for (const f of scored) { least = Math.min(least, f.best.score); most = Math.max(most, f.best.score); }
  byId('histogram-box').hidden = frames.length < 6 || !(most > least);
  if (!(most > least)) return;
  bounds = [least, most];
  const counts = new Array(bins).fill(0), below = new Array(bins).fill(0);
  for (const f of scored) (f.best.near ? below : counts)[Math.min(bins - 1, Math.floor((f.best.score - least) / (most - least) * bins))]++;
  const peak = Math.max(1, ...counts.map((n, i) => n + below[i])), width = 640 / bins, node = (name, values) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const key in values) element.setAttribute(key, values[key]);
    svg.append(element);
    return element;
  };
  // A root, so that a bin of one frame beside one of thousands is seen.
  const tall = n => n ? Math.max(2, 60 * Math.sqrt(n / peak)) : 0;
  svg.replaceChildren();
  counts.forEach((n, i) => {
    const middle = least + (i + 0.5) / bins * (most - least), out = middle < low || middle > high ? ' out' : '';
    const all = tall(n + below[i]), gray = n ? all * below[i] / (n + below[i]) : all;
    for (const [name, y, height, m] of [['bar', 64 - all, all - gray, n], ['below', 64 - gray, gray, below[i]]]) {
      if (name === 'below' && !m) continue;
      const bar = node('rect', { class: name + out, x: i * width + 0.5, y, width: width - 1, height });
      const title = document.createElementNS('http://www.w3.org/2000/svg', 'title');
      title.textContent = `${count(m, 'frame')} near ${format(middle)}${name === 'below' ? ', below the threshold' : ''}`;
      bar.append(title);
    }
  });
  const place = s => Math.max(0, Math.min(640, (s - least) / (most - least) * 640));
  if (low > -Infinity || high < Infinity) node('rect', { class: 'range', x: place(low), y: 0, width: Math.max(1, place(high) - place(low)), height: 64 });
  if (run.min_score !== null && run.min_score >= least && run.min_score <= most)
    node('rect', { class: 'threshold', x: place(run.min_score) - 0.5, y: 0, width: 1, height: 64 });
  byId('axis-low').textContent = format(least);
  byId('axis-high').textContent = format(most);
}

let dragged = null;
const scoreAt = event => {
  const box = byId('histogram').getBoundingClientRect();
  return bounds[0] + Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * (bounds[1] - bounds[0]);
};
byId('histogram').addEventListener('pointerdown', event => { dragged = scoreAt(event); });
addEventListener('pointermove', event => {
  if (dragged === null) return;
  const now = scoreAt(event);
  controls.low.value = Number(Math.min(dragged, now).toPrecision(5));
  controls.high.value = Number(Math.max(dragged, now).toPrecision(5));
  update();
});
addEventListener('pointerup', () => { dragged = null; });

// The grid: only the cells in view, and a row around, are in the document.
const grid = byId('grid'), gap = 12, cells = new Map();
let columns = 1, cellWidth = 200, cellHeight = 170;

function thumbOf(frame) {
  const script = thumbs[frame.chunk];
  if (!script) return '';
  script.lines ||= script.textContent.trim().split('\n');
  const data = script.lines[frame.place];
  return data && data !== '-' ? 'data:image/jpeg;base64,' + data : '';
}

const limitOf = m => run.min_score ?? templates[m.template].least ?? 'the threshold';
const kindOf = m => m.near ? ' near' : m.weak ? ' weak' : '';

function placeBox(parent, frame, m, chosen, least) {
  const scale = parent.clientWidth / frame.width, box = make('div', (chosen ? 'box' : 'box other') + kindOf(m));
  const w = Math.max(m.w * scale + 4, least), h = Math.max(m.h * scale + 4, least);
  box.style.cssText = `left:${(m.x + m.w / 2) * scale - w / 2}px;top:${(m.y + m.h / 2) * scale - h / 2}px;width:${w}px;height:${h}px;border-color:${m.color}`;
  box.title = `${shortTemplate(templates[m.template].name)}: ${m.score}`;
  parent.append(box);
  return box;
}

function captionOf(frame) {
  const parts = [], best = frame.best, found = frame.shown.filter(m => !m.near).length;
  if (found > 1) {
    parts.push(make('span', 'mark', `×${found}`));
    parts[0].title = count(found, 'match');
  }
  if (frame.kind === 'weak') {
    parts.push(make('span', 'mark weak', 'weak'));
    parts.at(-1).title = 'scores no better than frames without the template often do';
  }
  const score = make('span', 'score ' + frame.kind,
    frame.kind === 'error' ? 'failed' : !best ? 'no match' : best.near ? `best ${format(best.score)}` : format(best.score));
  if (best) score.title = best.near ? `Nothing reached ${limitOf(best)}: the best was ${best.score}` : String(best.score);
  parts.push(score);
  return parts;
}

function makeCell(frame, index) {
  const cell = make('div', 'cell'), thumb = make('div', 'thumb'), caption = make('div', 'caption');
  cell.id = 'cell' + index;
  cell.setAttribute('role', 'option');
  cell.setAttribute('aria-selected', index === selected);
  cell.title = frame.name;
  cell.append(thumb, caption);
  const holder = make('span', 'name');
  holder.append(make('bdi', '', shortFrame(frame.name)));
  caption.append(holder, ...captionOf(frame));
  cell.style.cssText = `left:${index % columns * (cellWidth + gap)}px;top:${Math.floor(index / columns) * (cellHeight + gap)}px;width:${cellWidth}px;height:${cellHeight}px`;
  grid.append(cell);
  if (frame.width) {
    const frameBox = make('div', 'frame'), image = make('img');
    const room = [cellWidth - 2, cellHeight - 32], scale = Math.min(room[0] / frame.width, room[1] / frame.height);
    frameBox.style.width = frame.width * scale + 'px';
    frameBox.style.height = frame.height * scale + 'px';
    image.alt = '';
    image.loading = 'lazy';
    image.onerror = () => { image.replaceWith(make('div', 'no-picture', 'no picture to show here')); };
    image.src = thumbOf(frame) || (frame.whole ? frame.file : '');
    frameBox.append(image);
    thumb.append(frameBox);
    frame.shown.forEach(m => placeBox(frameBox, frame, m, m === frame.best, 12));
  }
  if (frame.faults.length) thumb.append(make('div', 'fault', frame.faults[0]));
  cell.addEventListener('click', () => { select(index); open(index); });
  return cell;
}

function layout(fresh) {
  const width = grid.clientWidth, narrowest = width < 560 ? 150 : 210;
  const fits = Math.max(1, Math.min(Math.floor((width + gap) / (narrowest + gap)), Math.max(list.length, 3)));
  const wide = Math.floor((width - (fits - 1) * gap) / fits);
  if (fits !== columns || wide !== cellWidth) fresh = true;
  columns = fits;
  cellWidth = wide;
  cellHeight = Math.round(wide * 0.66) + 32;
  grid.style.height = Math.ceil(list.length / columns) * (cellHeight + gap) + 'px';
  const top = -grid.getBoundingClientRect().top, row = cellHeight + gap;
  const first = Math.max(0, (Math.floor(top / row) - 1) * columns);
  const last = Math.min(list.length, (Math.ceil((top + innerHeight) / row) + 1) * columns);
  for (const [index, cell] of cells)
    if (fresh || index < first || index >= last) { cell.remove(); cells.delete(index); }
  for (let i = first; i < last; i++) if (!cells.has(i)) cells.set(i, makeCell(list[i], i));
}

function select(index) {
  if (index < 0 || index >= list.length) return;
  cells.get(selected)?.setAttribute('aria-selected', false);
  selected = index;
  const row = Math.floor(index / columns) * (cellHeight + gap), top = grid.getBoundingClientRect().top + row;
  const bar = byId('bar'), head = getComputedStyle(bar).position === 'sticky' ? bar.offsetHeight : 0;
  if (top < head + gap) scrollBy(0, top - head - gap);
  else if (top + cellHeight > innerHeight) scrollBy(0, top + cellHeight - innerHeight + gap);
  layout(false);
  cells.get(index)?.setAttribute('aria-selected', true);
  grid.setAttribute('aria-activedescendant', 'cell' + index);
}

// One frame, its full picture from its file, and a match beside its template.
const dialog = byId('detail'), picture = byId('picture');
let current = null, chosen = 0;

function verdictOf(frame) {
  const best = frame.best, at = best && `at x ${best.x}, y ${best.y}`;
  if (frame.kind === 'error') return frame.faults[0];
  if (frame.kind === 'match') return `Found ${at}, score ${format(best.score)}`;
  if (frame.kind === 'weak') return `Weak: the best place is ${at}, but it scores only ${format(best.score)}`;
  return best ? `Not found: nothing reached ${limitOf(best)}; the best is ${format(best.score)} ${at}` : 'Not found';
}

function open(index) {
  current = list[index];
  chosen = Math.max(0, current.shown.indexOf(current.best));
  byId('detail-name').textContent = byId('detail-name').title = current.name;
  byId('detail-link').href = current.file;
  byId('detail-link').hidden = !current.file;
  byId('verdict').textContent = verdictOf(current);
  byId('verdict').className = current.kind;
  byId('copy-note').hidden = true;
  const small = thumbOf(current);
  picture.onerror = () => {
    picture.onerror = null;
    if (small) picture.src = small;
    byId('copy-note').hidden = !small;
  };
  // Browsers pass over EXIF data that stand behind a PNG's samples: the thumbnail is upright.
  picture.onload = () => {
    const sized = picture.naturalWidth === current.width && picture.naturalHeight === current.height;
    if (current.width && !sized && small && picture.src !== small) picture.src = small;
    else showMatch();
  };
  picture.src = current.whole && current.file || small;
  const rows = byId('rows');
  rows.replaceChildren();
  current.shown.forEach((m, i) => {
    const row = rows.insertRow(), name = row.insertCell(), swatch = make('i');
    row.className = kindOf(m).trim();
    swatch.style.background = m.color;
    name.append(swatch, shortTemplate(templates[m.template].name));
    name.title = templates[m.template].name;
    row.insertCell().textContent = m.x;
    row.insertCell().textContent = m.y;
    for (const value of [m.score, m.margin]) {
      const cell = row.insertCell();
      cell.textContent = value == null ? '' : format(value);
      cell.title = value == null ? '' : String(value);
    }
    if (m.weak || m.near) row.cells[3].append(' ', make('span', m.weak ? 'mark weak' : 'mark', m.weak ? 'weak' : 'below'));
    row.addEventListener('click', () => { chosen = i; showMatch(); });
  });
  for (const fault of new Set(current.faults)) {
    const cell = rows.insertRow().insertCell();
    cell.colSpan = 5;
    cell.textContent = fault;
    cell.className = 'fault';
  }
  byId('view').classList.toggle('one-match', current.shown.length < 2);
  rows.parentElement.hidden = !current.shown.length && new Set(current.faults).size < 2;
  byId('copy-rows').hidden = !current.shown.some(m => !m.near);
  byId('margin-note').hidden = !current.shown.some(m => m.margin != null);
  byId('weak-note').hidden = !current.shown.some(m => m.weak);
  byId('near-note').hidden = !current.shown.some(m => m.near);
  if (!single && !dialog.open) { dialog.showModal(); dialog.focus(); }
  showMatch();
}

function fit() {
  if (single) document.body.style.setProperty('--head', document.querySelector('header').offsetHeight + 24 + 'px');
  const full = byId('full'), stage = byId('stage');
  const width = current.width || picture.naturalWidth || 1, height = current.height || picture.naturalHeight || 1;
  const scale = Math.min((full.clientWidth - 24) / width, (full.clientHeight - (byId('copy-note').hidden ? 24 : 56)) / height, 8);
  stage.style.width = width * scale + 'px';
  stage.style.height = height * scale + 'px';
  picture.style.imageRendering = scale * width / (picture.naturalWidth || 1) >= 3 ? 'pixelated' : 'auto';
}

// Both at one scale, with as much around the match as around the template.
function paint(canvas, image, x, y, w, h, unit, color) {
  const size = 520, side = Math.max(w, h) * 1.25, scale = size / side, context = canvas.getContext('2d');
  canvas.width = canvas.height = size;
  context.imageSmoothingEnabled = scale < 3;
  if (!image.naturalWidth) return;
  const u = image.naturalWidth / unit;
  context.drawImage(image, (x + w / 2 - side / 2) * u, (y + h / 2 - side / 2) * u, side * u, side * u, 0, 0, size, size);
  for (const [style, width] of [['#000a', 7], [color, 4]]) {
    context.strokeStyle = style;
    context.lineWidth = width;
    context.strokeRect((side / 2 - w / 2) * scale, (side / 2 - h / 2) * scale, w * scale, h * scale);
  }
}

function showMatch() {
  if (!current) return;
  fit();
  const stage = byId('stage'), m = current.shown[chosen];
  stage.querySelectorAll('.box').forEach(box => box.remove());
  byId('full').hidden = !current.width;
  byId('pair').hidden = !m;
  if (current.width)
    current.shown.forEach((other, i) => placeBox(stage, current, other, i === chosen, 10).addEventListener('click', () => { chosen = i; showMatch(); }));
  [...byId('rows').rows].forEach((row, i) => row.classList.toggle('chosen', i === chosen && !!m));
  if (!m) return;
  const color = m.near ? '#d0d0d0' : m.color;
  byId('zoom-caption').textContent = m.near ? 'best place' : 'match';
  paint(byId('zoom'), picture, m.x, m.y, m.w, m.h, current.width, color);
  const model = templates[m.template];
  if (!model.image) {
    model.image = new Image();
    model.image.onload = showMatch;
    model.image.src = model.data || '';
  }
  paint(byId('model'), model.image, 0, 0, m.w, m.h, m.w, color);
}

byId('copy-rows').addEventListener('click', event => {
  const cell = text => /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const lines = current.shown.filter(m => !m.near).map(m => [current.name, templates[m.template].name, m.x, m.y, m.w, m.h, m.score].map(v => cell(String(v))).join(','));
  copy(['frame,template,x,y,w,h,score', ...lines].join('\n') + '\n', event.target);
});

function step(by) {
  const index = selected + by;
  if (index >= 0 && index < list.length) { select(index); open(index); }
}
byId('previous').addEventListener('click', () => step(-1));
byId('next').addEventListener('click', () => step(1));
byId('close').addEventListener('click', () => dialog.close());
dialog.addEventListener('click', event => { if (event.target === dialog) dialog.close(); });
dialog.addEventListener('close', () => { current = null; grid.focus({ preventScroll: true }); });

addEventListener('keydown', event => {
  const typing = /INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName), key = event.key;
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (dialog.open || single) {
    const last = current.shown.length - 1;
    if (key === 'ArrowLeft' && !single) step(-1);
    else if (key === 'ArrowRight' && !single) step(1);
    else if (key === 'ArrowUp' && last > 0) { chosen = Math.max(0, chosen - 1); showMatch(); }
    else if (key === 'ArrowDown' && last > 0) { chosen = Math.min(last, chosen + 1); showMatch(); }
    else return;
    event.preventDefault();
    return;
  }
  if (typing) { if (key === 'Escape') document.activeElement.blur(); return; }
  const page = columns * Math.max(1, Math.floor(innerHeight / (cellHeight + gap)) - 1), at = Math.max(0, selected);
  const moves = { ArrowLeft: at - 1, ArrowRight: selected + 1, ArrowUp: at - columns, ArrowDown: selected < 0 ? 0 : at + columns,
    Home: 0, End: list.length - 1, PageUp: Math.max(at % columns, at - page), PageDown: Math.min(list.length - 1, at + page) };
  if (key in moves) select(moves[key]);
  else if (key === 'Enter' && selected >= 0 && !/^(BUTTON|SUMMARY|A)$/.test(document.activeElement.tagName)) open(selected);
  else if (key === '/') controls.search.focus();
  else return;
  event.preventDefault();
});

const broken = frames.filter(f => f.faults.length);
if (broken.length && !single) {
  byId('errors').hidden = false;
  byId('errors').querySelector('summary').textContent = `${count(broken.length, 'frame')} with errors`;
  // A list of thousands is made when somebody looks at it.
  byId('errors').addEventListener('toggle', () => {
    const ol = byId('errors').querySelector('ol');
    if (ol.childElementCount) return;
    for (const frame of broken) {
      const item = make('li'), name = make('button', '', frame.name);
      name.addEventListener('click', () => { controls.search.value = frame.name; update(); });
      item.append(name, ': ' + [...new Set(frame.faults)].join('; '));
      ol.append(item);
    }
    layout(false);
  });
}
for (const key in controls) controls[key].addEventListener('input', update);
byId('reset').addEventListener('click', () => {
  controls.low.value = controls.high.value = controls.search.value = '';
  kind = 'all';
  chooseTemplate(-1);
});
showRun();
showTemplates();
byId('bar').hidden = single;
byId('view').classList.toggle('one-template', templates.length === 1);
byId('range-label').hidden = frames.length < 6;
update();
if (single) {
  document.body.classList.add('single');
  grid.replaceWith(make('main'));
  document.querySelector('main').append(byId('view'));
  open(0);
}
addEventListener('scroll', () => { if (!single) layout(false); }, { passive: true });
addEventListener('resize', () => { if (!single) layout(false); if (current) showMatch(); });
