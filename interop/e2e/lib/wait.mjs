// Waiting that has an end, and then tells for what it was.

/** What p resolves to, unless that takes longer. */
export function within(millis, what, p) {
  const late = new Error(`waited in vain for ${what}`); // made here: its stack tells who asked
  let timer;
  return Promise.race([p, new Promise((_, reject) => { timer = setTimeout(() => reject(late), millis); })]).finally(() => clearTimeout(timer));
}

/** Waits until f is true, without knowing how fast the machine is. */
export async function until(what, f, millis = 60_000) {
  const end = Date.now() + millis;
  let last;
  for (;;) {
    try {
      if (await f()) return;
      last = undefined;
    } catch (err) {
      last = err;
    }
    if (Date.now() > end) throw new Error(`waited in vain: ${what}${last ? ': ' + last.message : ''}`);
    await new Promise((r) => setTimeout(r, 100));
  }
}
