// The histogram, and the grid of frames.
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
  // Heights follow the square root, so that a bin of one frame can be seen beside one of thousands.
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

// The grid: only the cells in view, and a row above and below, are in the document.
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

// A match's middle and sides, and by how much it is turned clockwise. Where pixels begin, not where their middles are.
function shapeOf(m) {
  if (!m.corners) return { x: m.x + m.w / 2, y: m.y + m.h / 2, w: m.w, h: m.h, turn: 0 };
  const [[x0, y0], [x1, y1], [x2, y2], [x3, y3]] = m.corners;
  return { x: (x0 + x2 + 1) / 2, y: (y0 + y2 + 1) / 2, w: Math.hypot(x1 - x0, y1 - y0), h: Math.hypot(x3 - x0, y3 - y0), turn: Math.atan2(y1 - y0, x1 - x0) };
}

function placeBox(parent, frame, m, chosen, least) {
  const scale = parent.clientWidth / frame.width, shape = shapeOf(m);
  const box = make('div', (chosen ? 'box' : 'box other') + kindOf(m) + (run.turned ? ' turned' : ''));
  const w = Math.max(shape.w * scale + 4, least), h = Math.max(shape.h * scale + 4, least);
  box.style.cssText = `left:${shape.x * scale - w / 2}px;top:${shape.y * scale - h / 2}px;width:${w}px;height:${h}px;border-color:${m.color}`;
  if (shape.turn) box.style.transform = `rotate(${shape.turn}rad)`;
  box.title = `${shortTemplate(templates[m.template].name)}: ${m.score}${poseOf(m)}`;
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
