// What a person chose: theme, language, whether single keys work, columns of tables.
// It is kept in the browser; nothing of it is sent anywhere.
import { signal } from '../vendor/preact.js';

const prefix = 'fingerpost.';

function read(key) {
  try {
    return localStorage.getItem(prefix + key);
  } catch {
    return null; // storage is forbidden: choices last as long as the page
  }
}

function write(key, value) {
  try {
    if (value === null) localStorage.removeItem(prefix + key);
    else localStorage.setItem(prefix + key, value);
  } catch { /* as above */ }
}

/** @type {import('../vendor/preact.js').Signal<'light'|'dark'|'system'>} */
export const theme = signal(read('theme') ?? 'system');

/** Shows a theme and remembers it; "system" follows the operating system. */
export function setTheme(value) {
  theme.value = value;
  write('theme', value === 'system' ? null : value);
  if (value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = value;
}

/** Single-key shortcuts; WCAG 2.1.4 asks that they can be switched off. */
export const shortcuts = signal(read('shortcuts') !== 'off');

export function setShortcuts(on) {
  shortcuts.value = on;
  write('shortcuts', on ? null : 'off');
}

export const storedLanguage = () => read('language');
export const storeLanguage = (lang) => write('language', lang);

/** Columns that a person hid in a table. */
export function hiddenColumns(table) {
  return new Set((read('hide.' + table) ?? '').split(',').filter(Boolean));
}

export function storeHiddenColumns(table, set) {
  write('hide.' + table, set.size ? [...set].join(',') : null);
}
