// A timeline for each movie: when its templates are seen, and how well they fit over time.
const bars = 600;
const pad = (value, digits) => String(value).padStart(digits, '0');
function clock(seconds) {
  const ms = Math.round(seconds * 1000), minutes = Math.floor(ms / 60000), rest = `${pad(Math.floor(ms / 1000) % 60, 2)}.${pad(ms % 1000, 3)}`;
  return minutes < 60 ? `${minutes}:${rest}` : `${Math.floor(minutes / 60)}:${pad(minutes % 60, 2)}:${rest}`;
}

// The frames of a movie, which follow each other, and its appearances.
function findMovies() {
  const movies = [], byName = new Map();
  for (const frame of frames) {
    if (frame.time === undefined || !frame.name.endsWith('#' + frame.index)) continue;
    const name = frame.name.slice(0, -String(frame.index).length - 1);
    let movie = byName.get(name);
    if (!movie) {
      movie = { name, frames: [], seen: [] };
      byName.set(name, movie);
      movies.push(movie);
    }
    movie.frames.push(frame);
  }
  for (const [a, still] of JSON.parse(byId('appearances')?.textContent || '[]')) {
    const movie = byName.get(a.file), template = templates.findIndex(t => t.name === a.template), frame = movie?.frames.find(f => f.index === a.best.index);
    if (!frame || template < 0) continue;
    movie.seen.push({ ...a, template, frame });
    if (still) Object.assign(frame, { file: still, whole: true });
  }
  for (const movie of movies) {
    const all = movie.frames, last = all[all.length - 1], step = all.length > 1 ? last.time - all[all.length - 2].time : 0.04;
    movie.start = all[0].time;
    movie.end = Math.max(last.time + step, ...movie.seen.map(a => a.end));
  }
  return movies;
}

// Opens the frame, at an appearance's match where that is given.
function openFrame(frame, seen) {
  if (!list.includes(frame)) byId('reset').click();
  select(list.indexOf(frame));
  open(list.indexOf(frame));
  const match = seen ? frame.shown.findIndex(m => m.template === seen.template && m.x === seen.best.x && m.y === seen.best.y) : -1;
  if (match < 0) return;
  chosen = match;
  showMatch();
}

// The frame that is shown at a time: the last that began before it.
function frameAt(movie, time) {
  let low = 0, high = movie.frames.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (movie.frames[middle].time <= time) low = middle; else high = middle - 1;
  }
  return movie.frames[low];
}

// The best score of the template in each of so many parts of the movie; holes where no frame was matched.
function scoresOf(movie, template) {
  const scores = new Array(bars);
  for (const frame of movie.frames)
    for (const m of frame.matches) {
      if (m.template !== template) continue;
      const i = Math.min(bars - 1, Math.floor((frame.time - movie.start) / (movie.end - movie.start) * bars));
      if (scores[i] === undefined || better(m.score, scores[i])) scores[i] = m.score;
    }
  return scores;
}

function drawLane(movie, template) {
  const lane = make('div', 'lane'), label = make('span', 'lane-name'), field = make('div', 'field'), cursor = make('i', 'cursor'), says = make('span', 'lane-time');
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg'), span = movie.end - movie.start, color = templates[template].color;
  const place = time => (time - movie.start) / span * bars, scores = scoresOf(movie, template), known = scores.filter(s => s !== undefined);
  const shape = (name, values) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const key in values) element.setAttribute(key, values[key]);
    svg.append(element);
  };
  const least = Math.min(...known, run.min_score ?? Infinity), most = Math.max(...known, run.min_score ?? -Infinity);
  const height = s => 46 - 44 * (most > least ? (s - least) / (most - least) : 0.5);
  svg.setAttribute('viewBox', `0 0 ${bars} 48`);
  svg.setAttribute('preserveAspectRatio', 'none');
  for (const a of movie.seen) {
    if (a.template !== template) continue;
    shape('rect', { class: 'seen', x: place(a.start), y: 0, width: Math.max(1.5, place(a.end) - place(a.start)), height: 48, fill: color });
  }
  // A score holds up to the next.
  let path = '';
  scores.forEach((s, i) => { path += path ? `H${i}V${height(s).toFixed(1)}` : `M${i} ${height(s).toFixed(1)}`; });
  if (run.min_score !== null) shape('path', { class: 'least', d: `M0 ${height(run.min_score)}H${bars}` });
  if (path) shape('path', { class: 'scores', d: `${path}H${bars}` });
  label.append(make('i'), shortTemplate(templates[template].name));
  label.firstChild.style.background = color;
  label.title = templates[template].name;
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', `score of ${label.textContent} over time`);
  cursor.hidden = says.hidden = true;
  field.append(svg, cursor, says);
  const timeOf = event => {
    const box = svg.getBoundingClientRect();
    return movie.start + Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * span;
  };
  field.addEventListener('pointermove', event => {
    const time = timeOf(event), frame = frameAt(movie, time), m = frame.matches.find(other => other.template === template), at = (time - movie.start) / span * 100;
    cursor.hidden = says.hidden = false;
    cursor.style.left = at + '%';
    says.style[at < 50 ? 'left' : 'right'] = `calc(${at < 50 ? at : 100 - at}% + 6px)`;
    says.style[at < 50 ? 'right' : 'left'] = 'auto';
    says.textContent = `${clock(frame.time)} · #${frame.index}` + (m ? ` · ${format(m.score)}` : '');
  });
  field.addEventListener('pointerleave', () => { cursor.hidden = says.hidden = true; });
  field.addEventListener('click', event => openFrame(frameAt(movie, timeOf(event))));
  lane.append(label, field);
  return lane;
}

// A still's picture is read when it comes into view.
const inView = new IntersectionObserver(entries => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting || !target.frame) continue;
    const { frame, template, best } = target, room = target.querySelector('.still'), image = make('img'), holder = make('span', 'frame');
    const [width, height] = fitInto(frame.width || 1, frame.height || 1, room.clientWidth, room.clientHeight, 8);
    holder.style.cssText = `width:${width}px;height:${height}px`;
    image.alt = '';
    image.src = thumbOf(frame);
    holder.append(image);
    room.append(holder);
    placeBox(holder, frame, { ...best, template, color: templates[template].color }, true, 8);
    inView.unobserve(target);
  }
});

function makeStill(a) {
  const card = make('button', 'seen-card'), still = make('span', 'still'), name = make('span', 'seen-name');
  card.type = 'button';
  Object.assign(card, { frame: a.frame, template: a.template, best: a.best });
  card.style.borderTopColor = templates[a.template].color;
  name.append(shortTemplate(templates[a.template].name), ' ', make('b', '', format(a.best.score)));
  card.append(still, make('span', 'seen-time', `${clock(a.start)} – ${clock(a.end)}`), name);
  card.title = `${templates[a.template].name}: frames ${a.first.index} to ${a.last.index}, the best ${a.best.index}, at x ${a.best.x}, y ${a.best.y}`;
  card.addEventListener('click', () => openFrame(a.frame, a));
  inView.observe(card);
  return card;
}

// What is said where none is listed: whether none was found, or none was looked for.
const unseen = byId('appearances') ? ', never seen'
  : run.min_score === null && run.metric !== 'lcc' ? '; --min-score would say when it is seen' : '';

const movies = single ? [] : findMovies();
function drawMovies() {
  const section = byId('movies'), shown = chosenTemplate < 0 ? templates.map((t, i) => i) : [chosenTemplate];
  section.hidden = movies.length === 0;
  section.replaceChildren();
  for (const movie of movies) {
    const box = make('div', 'movie'), head = make('h2', '', movie.name), axis = make('div', 'movie-axis'), stills = make('div', 'stills');
    const seen = movie.seen.filter(a => shown.includes(a.template));
    head.append(make('small', '', `${count(movie.frames.length, 'frame')}${seen.length ? `, ${count(seen.length, 'appearance')}` : unseen}`));
    for (let i = 0; i <= 4; i++) axis.append(make('span', '', clock(movie.start + (movie.end - movie.start) * i / 4)));
    box.append(head, ...shown.map(template => drawLane(movie, template)), axis);
    if (seen.length) {
      stills.append(...seen.map(makeStill));
      box.append(stills);
    }
    section.append(box);
  }
}
