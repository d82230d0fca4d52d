// Texts in two languages. A dictionary is a module that maps a key to a text; texts hold
// {name} for values, and a counted text is an object of the plural forms of its language,
// chosen by {n}. Both languages come with the page: they are small, and the first view needs
// one of them before it can be drawn.
import { signal } from '../vendor/preact.js';
import en from '../lang/en.js';
import zh from '../lang/zh-CN.js';

export const languages = { en: 'English', 'zh-CN': '中文' };

/** The language in use. Components that read it are drawn again when it changes. */
export const language = signal('en');

let texts = {};
let plural = new Intl.PluralRules('en');
let number = new Intl.NumberFormat('en');

/**
 * Picks a language: what the address says, what was chosen before, what the browser asks for.
 * @param {(string|null|undefined)[]} wishes in order of weight
 */
export function pick(wishes) {
  for (const wish of wishes) {
    if (!wish) continue;
    if (/^zh\b/i.test(wish)) return 'zh-CN';
    if (/^en\b/i.test(wish)) return 'en';
  }
  return 'en';
}

/** Puts a dictionary to use. */
export function use(lang, dictionary) {
  texts = dictionary;
  plural = new Intl.PluralRules(lang);
  number = new Intl.NumberFormat(lang);
  language.value = lang;
}

/** Uses one of the languages. */
export function setLanguage(lang) {
  use(lang, lang === 'zh-CN' ? zh : en);
  document.documentElement.lang = lang;
}

/**
 * The text of a key with its values put in. Numbers are written as the language does.
 * A missing key shows itself, which a test turns into a failure.
 * @param {string} key
 * @param {Record<string, any>} [values]
 * @returns {string}
 */
export function t(key, values) {
  language.value; // whoever asks for a text is drawn again when the language changes
  let text = texts[key];
  if (text === undefined) return key;
  if (typeof text === 'object') text = text[plural.select(values?.n ?? 0)] ?? text.other;
  return values ? fill(text, values).join('') : text;
}

/**
 * As t, but as a list in which a value may be a drawn element, so that a translator
 * decides where in the sentence a link stands.
 */
export function rich(key, values) {
  language.value;
  let text = texts[key] ?? key;
  if (typeof text === 'object') text = text[plural.select(values?.n ?? 0)] ?? text.other;
  return fill(text, values);
}

/** Whether the dictionary in use has the key. */
export const has = (key) => texts[key] !== undefined;

// Texts cut at their values; there are as many as the dictionaries have.
const cut = new Map();

function fill(text, values) {
  let parts = cut.get(text);
  if (!parts) cut.set(text, parts = text.split(/\{(\w+)\}/));
  return parts.map((part, i) => {
    if (i % 2 === 0) return part;
    const v = values[part];
    return typeof v === 'number' ? number.format(v) : v ?? '';
  });
}
