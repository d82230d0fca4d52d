// Finding names. Everything is a substring without regard to case, which is what people
// type; a name that begins with the text comes before one that only holds it.

/**
 * The best matches among brokers, clusters and topics.
 * @param {import('./store.js').Store} store
 */
export function find(store, text, limit) {
  const want = text.toLowerCase();
  const ranked = [];
  const offer = (kind, name, weight) => {
    const at = name.toLowerCase().indexOf(want);
    if (at >= 0) ranked.push({ kind, name, rank: weight + (name.length === want.length ? 0 : at === 0 ? 2 : 4) + (kind === 'topic' && name.startsWith('%') ? 1 : 0) });
  };
  for (const name of store.clusterOf.keys()) offer('broker', name, 0);
  for (const name of new Set(store.clusterOf.values())) offer('cluster', name, 0);
  for (const name of store.topics.keys()) offer('topic', name, 0.5);
  ranked.sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
  return ranked.slice(0, limit);
}

/**
 * A test for names: a substring, or a regular expression after "re:".
 * @returns {{test: (name: string) => boolean, error: string|null}}
 */
export function matcher(text) {
  if (!text) return { test: () => true, error: null };
  if (text.startsWith('re:')) {
    try {
      const re = new RegExp(text.slice(3), 'i');
      return { test: (name) => re.test(name), error: null };
    } catch (err) {
      return { test: () => false, error: err.message };
    }
  }
  const want = text.toLowerCase();
  return { test: (name) => name.toLowerCase().includes(want), error: null };
}
