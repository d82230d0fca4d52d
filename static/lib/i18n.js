// Texts in two languages. A dictionary is a module that maps a key to a text; texts hold
// {name} for values, and a counted text is an object of the plural forms of its language,
// chosen by {n}. Only the language in use is loaded.
import { signal } from '../vendor/preact.js';

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

/** Loads and uses a language. */
export async function setLanguage(lang) {
  const { default: dictionary } = lang === 'zh-CN' ? await import('../lang/zh-CN.js') : await import('../lang/en.js');
  use(lang, dictionary);
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

function fill(text, values) {
  return text.split(/\{(\w+)\}/).map((part, i) => {
    if (i % 2 === 0) return part;
    const v = values[part];
    return typeof v === 'number' ? number.format(v) : v ?? '';
  });
}
