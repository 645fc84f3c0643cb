// One frame, its full picture from its file, and a match beside its template.
const dialog = byId('detail'), picture = byId('picture');
let current = null, chosen = 0;

function verdictOf(frame) {
  const best = frame.best, at = best && `at x ${best.x}, y ${best.y}${poseOf(best)}`;
  if (frame.kind === 'error') return frame.faults[0];
  if (frame.kind === 'match') return `Found ${at}, score ${format(best.score)}`;
  if (frame.kind === 'weak') return `Weak: the best place is ${at}, but it scores only ${format(best.score)}`;
  return best ? `Not found: nothing reached ${limitOf(best)}; the best is ${format(best.score)} ${at}` : 'Not found';
}

function open(index) {
  current = list[index];
  chosen = Math.max(0, current.shown.indexOf(current.best));
  byId('detail-name').textContent = byId('detail-name').title = current.name + (current.time === undefined ? '' : ` · ${clock(current.time)}`);
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
    if (run.turned) row.insertCell().textContent = `${m.angle}°`;
    if (run.resized) row.insertCell().textContent = m.scale;
    if (m.weak || m.near) row.cells[3].append(' ', make('span', m.weak ? 'mark weak' : 'mark', m.weak ? 'weak' : 'below'));
    row.addEventListener('click', () => { chosen = i; showMatch(); });
  });
  for (const fault of new Set(current.faults)) {
    const cell = rows.insertRow().insertCell();
    cell.colSpan = 7;
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

// Draws the match and the template at the same size, with the same margin around them. A turned match is turned upright.
function paint(canvas, image, { x, y, w, h, turn }, unit, color) {
  const size = 520, side = Math.max(w, h) * 1.25, scale = size / side, context = canvas.getContext('2d');
  canvas.width = canvas.height = size;
  context.imageSmoothingEnabled = scale < 3;
  if (!image.naturalWidth) return;
  const u = image.naturalWidth / unit;
  if (turn) {
    context.translate(size / 2, size / 2);
    context.rotate(-turn);
    context.drawImage(image, -x * scale, -y * scale, unit * scale, image.naturalHeight / u * scale);
    context.resetTransform();
  } else {
    context.drawImage(image, (x - side / 2) * u, (y - side / 2) * u, side * u, side * u, 0, 0, size, size);
  }
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
  const shape = shapeOf(m), model = templates[m.template], [w, h] = m.corners ? model.size : [m.w, m.h];
  byId('zoom-caption').textContent = (m.near ? 'best place' : 'match') + (shape.turn ? ', turned upright' : '');
  paint(byId('zoom'), picture, shape, current.width, color);
  if (!model.image) {
    model.image = new Image();
    model.image.onload = showMatch;
    model.image.src = model.data || '';
  }
  paint(byId('model'), model.image, { x: w / 2, y: h / 2, w, h, turn: 0 }, w, color);
}

byId('copy-rows').addEventListener('click', event => {
  const cell = text => /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const poses = m => m.corners ? [m.angle, m.scale, ...m.center, m.corners.flat().map(v => v.toFixed(3)).join(' ')] : [];
  const lines = current.shown.filter(m => !m.near).map(m => [current.name, templates[m.template].name, m.x, m.y, m.w, m.h, m.score, ...poses(m)].map(v => cell(String(v))).join(','));
  copy([`frame,template,x,y,w,h,score${run.turned || run.resized ? ',angle,scale,center_x,center_y,corners' : ''}`, ...lines].join('\n') + '\n', event.target);
});
