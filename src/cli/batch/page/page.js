'use strict';
// Each script of class "frames" has a line for each frame: [file, thumbnail, pair...],
// and the one of class "thumbs" after it a line with each frame's thumbnail. Only the
// thumbnails that come into view are read.
const byId = id => document.getElementById(id);
const distances = ['sqdiff', 'sqdiff_normed'];
const thumbs = [...document.querySelectorAll('script.thumbs')];
const templates = JSON.parse(byId('templates').textContent);
const frames = [];
let distance = false;

document.querySelectorAll('script.frames').forEach((script, chunk) => {
  script.textContent.trim().split('\n').forEach((line, place) => {
    const [file, width, height, ...pairs] = JSON.parse(line);
    const frame = { file, width, height, chunk, place, order: frames.length, name: pairs[0].frame, matches: [], faults: [] };
    pairs.forEach((pair, template) => {
      if (pair.error) frame.faults.push(pair.error);
      for (const m of pair.matches || []) frame.matches.push({ ...m, template });
      if (distances.includes(pair.metric)) distance = true;
    });
    frames.push(frame);
  });
});
const better = (a, b) => distance ? a < b : a > b;
const format = score => Number.isInteger(score) ? String(score) : score.toPrecision(7).replace(/0+$/, '');

// The folder that all names share is left out where there is little room.
function shortener(names) {
  let folder = names.length ? names[0].slice(0, names[0].lastIndexOf('/') + 1) : '';
  while (!names.every(name => name.startsWith(folder))) folder = folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1);
  return name => name.slice(folder.length);
}
const shortFrame = shortener(frames.map(f => f.name)), shortTemplate = shortener(templates.map(t => t.name));

// What is shown of each frame under the chosen template.
function judge(frame, template) {
  frame.shown = frame.matches.filter(m => template < 0 || m.template === template);
  frame.best = null;
  for (const m of frame.shown) if (!frame.best || better(m.score, frame.best.score)) frame.best = m;
  frame.kind = frame.best ? 'match' : frame.faults.length ? 'error' : 'none';
}

const controls = { sort: byId('sort'), kind: byId('kind'), template: byId('template'), low: byId('low'), high: byId('high'), search: byId('search') };
let list = [], selected = -1, bounds = [0, 1];

function range() {
  const low = controls.low.value === '' ? -Infinity : Number(controls.low.value);
  const high = controls.high.value === '' ? Infinity : Number(controls.high.value);
  return [low, high];
}

function update() {
  const template = Number(controls.template.value), [low, high] = range();
  const words = controls.search.value.toLowerCase(), ranged = low > -Infinity || high < Infinity;
  const before = list[selected];
  frames.forEach(frame => judge(frame, template));
  drawHistogram(low, high);
  list = frames.filter(f => (controls.kind.value === 'all' || f.kind === controls.kind.value) &&
    (!ranged || (f.best && f.best.score >= low && f.best.score <= high)) && f.name.toLowerCase().includes(words));
  const sign = controls.sort.value === 'best' ? 1 : -1;
  if (controls.sort.value === 'name') list.sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : a.order - b.order);
  else if (controls.sort.value !== 'order')
    list.sort((a, b) => !a.best || !b.best ? (a.best ? -1 : b.best ? 1 : a.order - b.order)
      : a.best.score === b.best.score ? a.order - b.order : better(a.best.score, b.best.score) ? -sign : sign);
  selected = list.indexOf(before);
  const count = kind => frames.filter(f => f.kind === kind).length;
  byId('summary').textContent = `${list.length} of ${frames.length} frames shown · ${count('match')} with a match, ${count('none')} without, ${count('error')} failed`;
  byId('nothing').hidden = list.length > 0;
  layout(true);
}

const bins = 64;
function drawHistogram(low, high) {
  const scores = frames.filter(f => f.best).map(f => f.best.score), svg = byId('histogram');
  let least = Infinity, most = -Infinity;
  for (const s of scores) { least = Math.min(least, s); most = Math.max(most, s); }
  if (!(most > least)) { least = scores.length ? least - 0.5 : 0; most = least + 1; }
  bounds = [least, most];
  const counts = new Array(bins).fill(0);
  for (const s of scores) counts[Math.min(bins - 1, Math.floor((s - least) / (most - least) * bins))]++;
  const peak = Math.max(1, ...counts), width = 640 / bins, node = (name, values) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const key in values) element.setAttribute(key, values[key]);
    svg.append(element);
    return element;
  };
  svg.replaceChildren();
  counts.forEach((n, i) => {
    // A root, so that a bin of one frame beside one of thousands is seen.
    const tall = n ? Math.max(2, 60 * Math.sqrt(n / peak)) : 0, middle = least + (i + 0.5) / bins * (most - least);
    const bar = node('rect', { class: middle < low || middle > high ? 'bar out' : 'bar', x: i * width + 0.5, y: 64 - tall, width: width - 1, height: tall });
    const title = document.createElementNS('http://www.w3.org/2000/svg', 'title');
    title.textContent = `${n} frames near ${middle.toPrecision(4)}`;
    bar.append(title);
  });
  const place = s => Math.max(0, Math.min(640, (s - least) / (most - least) * 640));
  if (low > -Infinity || high < Infinity) node('rect', { class: 'range', x: place(low), y: 0, width: Math.max(1, place(high) - place(low)), height: 64 });
  byId('axis-low').textContent = scores.length ? format(least) : '';
  byId('axis-high').textContent = scores.length ? format(most) : '';
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
  script.lines ||= script.textContent.trim().split('\n');
  return script.lines[frame.place];
}

function placeBox(parent, frame, m, chosen, least) {
  const box = document.createElement('div'), scale = parent.clientWidth / frame.width;
  const w = Math.max(m.w * scale + 4, least), h = Math.max(m.h * scale + 4, least);
  box.className = chosen ? 'box' : 'box other';
  box.style.cssText = `left:${(m.x + m.w / 2) * scale - w / 2}px;top:${(m.y + m.h / 2) * scale - h / 2}px;width:${w}px;height:${h}px`;
  parent.append(box);
}

function source(frame) {
  const data = thumbOf(frame);
  return data && data !== '-' ? 'data:image/jpeg;base64,' + data : frame.file;
}

function makeCell(frame, index) {
  const cell = document.createElement('div'), thumb = document.createElement('div'), caption = document.createElement('div');
  cell.className = 'cell';
  cell.id = 'cell' + index;
  cell.setAttribute('role', 'option');
  cell.setAttribute('aria-selected', index === selected);
  cell.title = frame.name;
  thumb.className = 'thumb';
  caption.className = 'caption';
  cell.append(thumb, caption);
  const name = document.createElement('bdi'), score = document.createElement('span'), holder = document.createElement('span');
  holder.className = 'name';
  name.textContent = shortFrame(frame.name);
  holder.append(name);
  score.className = 'score';
  score.textContent = frame.best ? format(frame.best.score) : frame.kind === 'error' ? 'failed' : 'no match';
  caption.append(holder, score);
  cell.style.cssText = `left:${index % columns * (cellWidth + gap)}px;top:${Math.floor(index / columns) * (cellHeight + gap)}px;width:${cellWidth}px;height:${cellHeight}px`;
  grid.append(cell);
  if (frame.width) {
    const holder = document.createElement('div'), image = document.createElement('img');
    const room = [cellWidth - 2, cellHeight - 32], scale = Math.min(room[0] / frame.width, room[1] / frame.height);
    holder.className = 'frame';
    holder.style.width = frame.width * scale + 'px';
    holder.style.height = frame.height * scale + 'px';
    image.alt = '';
    image.src = source(frame);
    holder.append(image);
    thumb.append(holder);
    frame.shown.forEach(m => placeBox(holder, frame, m, m === frame.best, 12));
  } else {
    const fault = document.createElement('div');
    fault.className = 'fault';
    fault.textContent = frame.faults[0];
    thumb.append(fault);
  }
  cell.addEventListener('click', () => { select(index); open(index); });
  return cell;
}

function layout(fresh) {
  const width = grid.clientWidth;
  const fits = Math.max(1, Math.floor((width + gap) / (210 + gap))), wide = Math.floor((width - (fits - 1) * gap) / fits);
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
  const head = document.querySelector('header').offsetHeight;
  if (top < head + gap) scrollBy(0, top - head - gap);
  else if (top + cellHeight > innerHeight) scrollBy(0, top + cellHeight - innerHeight + gap);
  layout(false);
  cells.get(index)?.setAttribute('aria-selected', true);
  grid.setAttribute('aria-activedescendant', 'cell' + index);
}

// One frame, its full picture from its file, and a match beside its template.
const dialog = byId('detail'), picture = byId('picture');
let current = null, chosen = 0;

function open(index) {
  current = list[index];
  chosen = Math.max(0, current.shown.indexOf(current.best));
  byId('detail-name').textContent = current.name;
  byId('detail-link').href = current.file;
  picture.onerror = () => { picture.onerror = null; picture.src = source(current); };
  picture.onload = showMatch;
  picture.src = current.file;
  const rows = byId('rows');
  rows.replaceChildren();
  current.shown.forEach((m, i) => {
    const row = rows.insertRow();
    for (const value of [shortTemplate(templates[m.template].name), m.x, m.y, format(m.score), m.margin == null ? '' : format(m.margin)])
      row.insertCell().textContent = value;
    row.cells[0].title = templates[m.template].name;
    row.addEventListener('click', () => { chosen = i; showMatch(); });
  });
  for (const fault of current.faults) {
    const cell = rows.insertRow().insertCell();
    cell.colSpan = 5;
    cell.textContent = fault;
    cell.className = 'fault';
  }
  if (!dialog.open) { dialog.showModal(); dialog.focus(); }
  showMatch();
}

function fit() {
  const full = byId('full'), stage = byId('stage');
  const width = current.width || picture.naturalWidth || 1, height = current.height || picture.naturalHeight || 1;
  const scale = Math.min((full.clientWidth - 24) / width, (full.clientHeight - 24) / height);
  stage.style.width = width * scale + 'px';
  stage.style.height = height * scale + 'px';
}

// Both at one scale, with as much around the match as around the template.
function paint(canvas, image, x, y, w, h, unit) {
  const size = 390, side = Math.max(w, h) * 1.25, scale = size / side, context = canvas.getContext('2d');
  canvas.width = canvas.height = size;
  context.imageSmoothingEnabled = scale < 3;
  if (!image.naturalWidth) return;
  const u = image.naturalWidth / unit;
  context.drawImage(image, (x + w / 2 - side / 2) * u, (y + h / 2 - side / 2) * u, side * u, side * u, 0, 0, size, size);
  context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue('--box');
  context.lineWidth = 3;
  context.strokeRect((side / 2 - w / 2) * scale, (side / 2 - h / 2) * scale, w * scale, h * scale);
}

function showMatch() {
  if (!current) return;
  fit();
  const stage = byId('stage'), m = current.shown[chosen];
  stage.querySelectorAll('.box').forEach(box => box.remove());
  picture.hidden = !current.width;
  byId('pair').hidden = !m;
  current.shown.forEach((other, i) => placeBox(stage, current, other, i === chosen, 10));
  [...byId('rows').rows].forEach((row, i) => row.classList.toggle('chosen', i === chosen && !!m));
  if (!m) return;
  paint(byId('zoom'), picture, m.x, m.y, m.w, m.h, current.width);
  const model = templates[m.template];
  if (!model.image) {
    model.image = new Image();
    model.image.onload = showMatch;
    model.image.src = model.data;
  }
  paint(byId('model'), model.image, 0, 0, m.w, m.h, m.w);
}

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
  const typing = /INPUT|SELECT/.test(document.activeElement.tagName), key = event.key;
  if (dialog.open) {
    const last = current.shown.length - 1;
    if (key === 'ArrowLeft') step(-1);
    else if (key === 'ArrowRight') step(1);
    else if (key === 'ArrowUp') { chosen = Math.max(0, chosen - 1); showMatch(); }
    else if (key === 'ArrowDown') { chosen = Math.min(last, chosen + 1); showMatch(); }
    else return;
    event.preventDefault();
    return;
  }
  if (typing) { if (key === 'Escape') document.activeElement.blur(); return; }
  const page = columns * Math.max(1, Math.floor(innerHeight / (cellHeight + gap)) - 1), at = Math.max(0, selected);
  const moves = { ArrowLeft: at - 1, ArrowRight: selected + 1, ArrowUp: at - columns, ArrowDown: selected < 0 ? 0 : at + columns,
    Home: 0, End: list.length - 1, PageUp: Math.max(at % columns, at - page), PageDown: Math.min(list.length - 1, at + page) };
  if (key in moves) select(moves[key]);
  else if (key === 'Enter' && selected >= 0 && !/BUTTON|SUMMARY|A/.test(document.activeElement.tagName.replace('MAIN', ''))) open(selected);
  else if (key === '/') controls.search.focus();
  else return;
  event.preventDefault();
});

const broken = frames.filter(f => f.faults.length);
if (broken.length) {
  byId('errors').hidden = false;
  byId('errors').querySelector('summary').textContent = `${broken.length} ${broken.length === 1 ? 'frame' : 'frames'} with errors`;
  // A list of thousands is made when somebody looks at it.
  byId('errors').addEventListener('toggle', () => {
    const ol = byId('errors').querySelector('ol');
    if (ol.childElementCount) return;
    for (const frame of broken) {
      const item = document.createElement('li'), name = document.createElement('button');
      name.textContent = frame.name;
      name.addEventListener('click', () => { controls.search.value = frame.name; update(); });
      item.append(name, ': ' + [...new Set(frame.faults)].join('; '));
      ol.append(item);
    }
    layout(false);
  });
}
templates.forEach((t, i) => controls.template.add(new Option(shortTemplate(t.name), i)));
byId('template-label').hidden = templates.length < 2;
for (const key in controls) controls[key].addEventListener('input', update);
byId('reset').addEventListener('click', () => {
  controls.low.value = controls.high.value = controls.search.value = '';
  controls.kind.value = 'all';
  update();
});
addEventListener('scroll', () => layout(false), { passive: true });
addEventListener('resize', () => { layout(false); if (current) showMatch(); });
update();
