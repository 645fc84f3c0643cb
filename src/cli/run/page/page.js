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
const poseOf = m => (run.turned && m.corners ? `, turned by ${m.angle}°` : '') + (run.resized && m.corners ? `, size × ${m.scale}` : '');
const count = (n, word) => `${n.toLocaleString('en')} ${word}${n === 1 ? '' : word.endsWith('ch') ? 'es' : 's'}`;

function readFrame(line) {
  const [file, width, height, ...pairs] = JSON.parse(line);
  const frame = { file, width, height, name: pairs[0].frame, index: pairs[0].index, time: pairs[0].time, matches: [], faults: [] };
  frame.whole = pairs[0].index === undefined; // else it is one of a file's pictures, of which a browser shows the first
  if (typeof file !== 'string' || typeof frame.name !== 'string') throw new TypeError('no frame');
  pairs.forEach((pair, template) => {
    const color = templates[template].color;
    if (pair.error) frame.faults.push(pair.error);
    else for (const m of pair.matches) frame.matches.push({ ...m, template, color, weak: pair.weak === true || m.weak === true });
    if (pair.best) frame.matches.push({ w: pair.template_size[0], h: pair.template_size[1], ...pair.best, template, color, near: true });
  });
  return frame;
}

document.querySelectorAll('script.frames').forEach((script, chunk) => {
  script.textContent.trim().split('\n').forEach((line, place) => {
    let frame;
    try {
      frame = readFrame(line);
    } catch {
      // A damaged row must not hide the others.
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

// What is shown of each frame under the chosen template. A frame's kind is that of its best match,
// 'none' where it has no match, or 'error'.
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
  drawMovies();
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
