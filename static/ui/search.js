// The box in the bar: names of brokers, topics and clusters, found while typing.
import { html, useLayoutEffect, useMemo, useRef, useState } from '../vendor/preact.js';
import { t } from '../lib/i18n.js';
import { go } from '../lib/router.js';
import { find } from '../lib/find.js';
import { store } from '../lib/live.js';
import { Icon, Name } from './atoms.js';

const paths = { topic: (n) => ['topics', n], broker: (n) => ['brokers', n], cluster: () => ['clusters'] };
const icons = { topic: 'topics', broker: 'brokers', cluster: 'clusters', all: 'search' };

// It replaces the box that was there before this was loaded: with what was typed, and with
// the focus if that was still there, before the browser hands out another key.
export default function Search({ typed, focused }) {
  const [text, setText] = useState(typed);
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  const input = useRef(null);
  useLayoutEffect(() => {
    if (focused) input.current.focus();
  }, []);
  store.namesMoved.value;
  store.topicsMoved.value;
  const found = useMemo(() => (text ? find(store, text, 12) : []), [text, store.topicsMoved.value, store.namesMoved.value]);
  const options = text ? [...found, { kind: 'all', name: text }] : [];
  const shown = open && options.length > 0;
  const leave = () => {
    setOpen(false);
    setText('');
    setAt(0);
  };
  const choose = (o) => {
    leave();
    input.current.blur();
    if (o.kind === 'all') go(['topics'], { q: o.name });
    else go(paths[o.kind](o.name), o.kind === 'cluster' ? { cluster: o.name } : undefined);
  };
  const key = (e) => {
    if (e.isComposing) return; // the keys of an input method: they choose and end a word there
    if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
      e.preventDefault();
      setOpen(true);
      setAt((at + (e.key === 'ArrowDown' ? 1 : options.length - 1)) % Math.max(1, options.length));
    } else if (e.key === 'Enter' && shown) {
      e.preventDefault();
      choose(options[at] ?? options[0]);
    } else if (e.key === 'Escape') {
      if (text) e.preventDefault();
      else input.current.blur();
      leave();
    }
  };
  return html`<div class="search" role="search"><${Icon} name="search" size="16" />
    <input ref=${input} class="in" type="search" id="search" role="combobox" autocomplete="off" spellcheck=${false} placeholder=${t('search.hint')} aria-label=${t('search.label')}
      aria-expanded=${shown} aria-controls="found" aria-autocomplete="list" aria-activedescendant=${shown ? 'found-' + at : undefined} value=${text}
      onInput=${(e) => { setText(e.target.value); setAt(0); setOpen(true); }} onKeyDown=${key} onFocus=${() => setOpen(true)} onBlur=${() => setOpen(false)} /><kbd aria-hidden="true">/</kbd>
    ${shown && html`<ul id="found" role="listbox" aria-label=${t('search.found')}>${options.map((o, i) => html`<li key=${o.kind + o.name} id=${'found-' + i} role="option" aria-selected=${i === at}
      onMouseDown=${(e) => { e.preventDefault(); choose(o); }} onMouseEnter=${() => setAt(i)}><${Icon} name=${icons[o.kind]} size="16" />
      <span class="cut">${o.kind === 'all' ? t('search.all', { text: o.name }) : html`<${Name} of=${o.name} />`}</span>${o.kind !== 'all' && html`<span class="k">${t('kind.' + o.kind)}</span>`}</li>`)}</ul>`}</div>`;
}
