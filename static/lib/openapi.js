// Reading an OpenAPI 3 description: which operations there are, and how a call looks.

/** Follows a "#/…" reference. */
export function deref(spec, x) {
  let at = x;
  for (let i = 0; at?.$ref && i < 20; i++) at = at.$ref.slice(2).split('/').reduce((o, k) => o?.[k.replaceAll('~1', '/').replaceAll('~0', '~')], spec);
  return at ?? {};
}

const methods = ['get', 'put', 'post', 'patch', 'delete'];

/**
 * The operations by tag, in the order of the description.
 * @returns {[string, {id: string, method: string, path: string, op: any, parameters: any[], body: any}[]][]}
 */
export function operations(spec) {
  const byTag = new Map();
  for (const [path, item] of Object.entries(spec.paths ?? {})) {
    for (const method of methods) {
      const op = item[method];
      if (!op) continue;
      const tag = op.tags?.[0] ?? 'other';
      if (!byTag.has(tag)) byTag.set(tag, []);
      const parameters = [...(item.parameters ?? []), ...(op.parameters ?? [])].map((p) => deref(spec, p));
      const body = op.requestBody ? Object.entries(deref(spec, op.requestBody).content ?? {})[0] : null;
      byTag.get(tag).push({ id: method + ' ' + path, method: method.toUpperCase(), path, op, parameters, body: body && { type: body[0], schema: body[1].schema, example: body[1].example } });
    }
  }
  return [...byTag];
}

/** An example value of a schema, at most six levels deep. */
export function example(spec, schema, depth = 0) {
  const s = deref(spec, schema);
  if (s.example !== undefined) return s.example;
  if (s.examples?.length) return s.examples[0];
  if (s.default !== undefined) return s.default;
  if (s.enum) return s.enum[0];
  if (depth > 6) return null;
  const all = s.allOf ?? s.oneOf?.slice(0, 1) ?? s.anyOf?.slice(0, 1);
  if (all) return Object.assign({}, ...all.map((x) => example(spec, x, depth + 1)));
  const type = Array.isArray(s.type) ? s.type.find((x) => x !== 'null') : s.type;
  if (type === 'object' || s.properties) {
    const out = {};
    for (const [k, v] of Object.entries(s.properties ?? {})) out[k] = example(spec, v, depth + 1);
    if (s.additionalProperties && typeof s.additionalProperties === 'object') out.name = example(spec, s.additionalProperties, depth + 1);
    return out;
  }
  if (type === 'array') return [example(spec, s.items ?? {}, depth + 1)];
  return { string: 'text', integer: 0, number: 0, boolean: false }[type] ?? null;
}

/**
 * The address of a call with values put in, relative to the server.
 * @param {{path: string, parameters: any[]}} o
 * @param {Record<string, string>} values
 */
export function address(o, values) {
  const path = o.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? '') || '{' + name + '}');
  const query = new URLSearchParams();
  for (const p of o.parameters) if (p.in === 'query' && values[p.name]) query.set(p.name, values[p.name]);
  const tail = query.toString();
  return path.replace(/^\//, '') + (tail ? '?' + tail : '');
}

/** Schema as one line: "string", "integer ≥ 0", "one of a, b". */
export function typeOf(spec, schema) {
  const s = deref(spec, schema);
  if (s.enum) return s.enum.join(' | ');
  const type = Array.isArray(s.type) ? s.type.join(' | ') : s.type ?? (s.properties ? 'object' : '');
  if (type === 'array') return typeOf(spec, s.items ?? {}) + '[]';
  const bounds = [s.minimum !== undefined && '≥ ' + s.minimum, s.maximum !== undefined && '≤ ' + s.maximum, s.maxLength !== undefined && '≤ ' + s.maxLength, s.format].filter(Boolean);
  return [type, ...bounds].join(' ');
}
