// The keys, and what is done once everything else is loaded.
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
  // A list of thousands is made only when it is opened.
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
byId('angle-head').hidden = !run.turned;
byId('scale-head').hidden = !run.resized;
byId('view').classList.toggle('one-template', templates.length === 1);
byId('range-label').hidden = frames.length < 6;
update();
drawMovies();
if (single) {
  document.body.classList.add('single');
  grid.replaceWith(make('main'));
  document.querySelector('main').append(byId('view'));
  open(0);
}
addEventListener('scroll', () => { if (!single) layout(false); }, { passive: true });
addEventListener('resize', () => { if (!single) layout(false); if (current) showMatch(); });
