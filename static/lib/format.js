// How values are written. Everything here is a function of its arguments and of the
// language in use.
import { language } from './i18n.js';

// One for each set of options, for the language in use.
const made = new Map();
function intl(kind, options) {
  const lang = language.value;
  let m = made.get(options);
  if (m?.lang !== lang) made.set(options, m = { lang, f: new Intl[kind](lang, options) });
  return m.f;
}

const plain = {};
export const number = (n) => intl('NumberFormat', plain).format(n);

const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' };
const day = { year: 'numeric', month: '2-digit', day: '2-digit', ...clock };

/** Time of day, in the reader's zone. */
export const time = (ms) => intl('DateTimeFormat', clock).format(ms);

/** Date and time of day, in the reader's zone. */
export const dateTime = (ms) => intl('DateTimeFormat', day).format(ms);

/** An instant as a field for a moment wants it, in the reader's zone on that day; '' for what is no instant. */
export function fieldTime(text) {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? '' : new Date(at - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** The same instant in UTC, for comparing with logs of other machines. */
export const utc = (ms) => Number.isFinite(ms) ? new Date(ms).toISOString() : '';

/** Time of day for an instant of today, date and time for an older one. */
export function when(ms, now) {
  return new Date(ms).toDateString() === new Date(now).toDateString() ? time(ms) : dateTime(ms);
}

/**
 * A length of time in its two largest units: "1m52s", "3h20m". The letters are those of
 * the API's text tables in every language, and never change their width while counting.
 */
export function duration(ms) {
  let s = Math.max(0, Math.round(ms / 1000));
  const units = [[86400, 'd'], [3600, 'h'], [60, 'm'], [1, 's']];
  for (let i = 0; i < units.length; i++) {
    const [size, letter] = units[i];
    if (s < size && letter !== 's') continue;
    const whole = Math.floor(s / size);
    s -= whole * size;
    const next = units[i + 1];
    if (!next) return whole + letter;
    return whole + letter + String(Math.floor(s / next[0])).padStart(2, '0') + next[1];
  }
  return '0s';
}

/** Bytes in the unit that needs fewest digits. */
export function bytes(n) {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let i = 0;
  while (n >= 1024 && i < units.length - 1) {
    n /= 1024;
    i++;
  }
  return `${i ? n.toFixed(1) : n} ${units[i]}`;
}

/** A permission as RocketMQ's tools write it: "RW-". */
export const permText = (perm) => (perm & 4 ? 'R' : '-') + (perm & 2 ? 'W' : '-') + (perm & 1 ? 'X' : '-');

/**
 * Text that a peer sent, safe to look at: control characters and those that turn the
 * direction of the line are made visible, so that a name cannot pretend to be another.
 */
export function visible(text) {
  return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}
