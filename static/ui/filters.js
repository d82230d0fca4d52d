// The small fields above tables. What they hold is in the address.
import { html } from '../vendor/preact.js';
import { t } from '../lib/i18n.js';
import { setQuery } from '../lib/router.js';

/** Text to look for. */
export function Filter({ value, label, onInput, error }) {
  return html`<span class="field"><input class="in" type="search" value=${value} placeholder=${label} aria-label=${label} spellcheck=${false} autocomplete="off"
    aria-invalid=${error ? 'true' : undefined} onInput=${(e) => onInput(e.target.value)} />${error && html`<span class="err" role="alert">${error}</span>`}</span>`;
}

/** One of some words, or all. */
export function Select({ name, value, label, options, text = (o) => o }) {
  return html`<select class="in" name=${name} aria-label=${label} value=${value} onChange=${(e) => setQuery({ [name]: e.target.value })}>
    <option value="">${t('filter.any', { what: label })}</option>${options.map((o) => html`<option key=${o} value=${o} selected=${o === value}>${text(o)}</option>`)}</select>`;
}
