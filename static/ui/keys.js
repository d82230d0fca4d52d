// Single keys, as people know them from terminals. They rest inside fields and dialogs,
// with a modifier, and when they are switched off.
import { shortcuts } from '../lib/prefs.js';
import { go } from '../lib/router.js';
import { table } from '../lib/live.js';
import { nextLanguage, places, togglePause, turnTheme } from './shell.js';

let pending = 0;

function key(e) {
  if (!shortcuts.peek() || e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
  const at = e.target;
  if (at.closest?.('input:not([type=checkbox]), textarea, select, dialog, [contenteditable]')) return;
  if (Date.now() - pending < 1500) {
    pending = 0;
    const place = places.find((p) => p.key === e.key);
    if (place) {
      e.preventDefault();
      go(place.id === 'overview' ? [] : [place.id]);
      return;
    }
  }
  const act = {
    '/': () => document.getElementById('search')?.focus(),
    '?': () => dispatchEvent(new Event('fingerpost:help')),
    g: () => { pending = Date.now(); },
    p: togglePause, t: turnTheme, l: nextLanguage,
    j: () => table.current?.move(1), k: () => table.current?.move(-1),
    y: () => table.current?.copy(),
  }[e.key];
  if (!act) return;
  e.preventDefault();
  act();
}

export function startKeys() {
  addEventListener('keydown', key);
}
