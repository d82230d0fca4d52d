// Taking a list away as a file.

const cell = (v) => {
  let s = String(v);
  // A spreadsheet would run a cell that begins like a formula.
  if (/^[=+\-@\t\r]/.test(s)) s = "'" + s;
  return /[",\n\r]/.test(s) ? '"' + s.replaceAll('"', '""') + '"' : s;
};

/** Rows as CSV (RFC 4180). @param {{id: string, text: (row: any) => any}[]} columns */
export function table(columns, rows) {
  return [columns.map((c) => cell(c.id)), ...rows.map((r) => columns.map((c) => cell(c.text(r))))].map((line) => line.join(',')).join('\r\n') + '\r\n';
}

/** Hands a text to the browser as a file. */
export function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const a = document.createElement('a');
  a.href = url;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
