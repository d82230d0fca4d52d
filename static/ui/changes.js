// Change sets as people read them: one line each, and every field before and after.
import { html } from '../vendor/preact.js';
import { has, t } from '../lib/i18n.js';
import { describe } from '../lib/describe.js';
import { Go, Icon, Name, When } from './atoms.js';

/** What a set was about, in one line. */
export function Subject({ set }) {
  const d = describe(set);
  const key = has(d.key) ? d.key : 'change.other';
  return html`<span>${t(key, { ...d.values, n: d.n, op: has('op.' + d.op) ? t('op.' + d.op) : d.op })}${t('gap')}${d.path
    ? html`<${Go} to=${d.path}><${Name} of=${d.name} /><//>` : html`<${Name} of=${d.name} />`}${d.more > 0 && html` <span class="faint nowrap">${t('change.more', { n: d.more })}</span>`}</span>`;
}

/** Who did it, and over which face. */
export function Actor({ set }) {
  const { face, action, actor } = set.cause ?? {};
  return html`<span class="who">${has('face.' + face) ? t('face.' + face) : face}${actor && html` · ${actor}`}${action && html` · <span class="mono">${action}</span>`}</span>`;
}

/** A short list of sets, newest first. */
export function ChangeLines({ sets }) {
  if (sets.length === 0) return html`<p class="body muted">${t('events.none')}</p>`;
  return html`<ul class="changes">${sets.map((set) => (set.gap
    ? html`<li key=${'gap' + set.time}><${When} at=${set.time} /><${Icon} name="warn" size="16" /><span>${t('events.gapShort')}</span></li>`
    : html`<li key=${keyOf(set)}><${When} at=${set.time} /><${Icon} name=${describe(set).icon} size="16" /><span><${Subject} set=${set} /><br /><${Actor} set=${set} /></span></li>`))}</ul>`;
}

/** Reports share their revision with the change before them. */
export const keyOf = (set) => set.revision + '/' + set.time + '/' + (set.changes[0]?.op ?? '');
