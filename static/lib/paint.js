// When the browser has drawn something.

/**
 * Calls f once what is drawn now is on the screen; at once where nothing is drawn. A page that
 * is put away in this very moment gets no frames, so a short time does as well.
 */
export function afterPaint(f) {
  if (globalThis.document?.visibilityState !== 'visible') {
    setTimeout(f);
    return;
  }
  let done = false;
  const once = () => {
    if (!done) f();
    done = true;
  };
  requestAnimationFrame(() => setTimeout(once));
  setTimeout(once, 300);
}

let tell;
/** Resolves once the first view is on the screen. */
export const painted = new Promise((resolve) => { tell = resolve; });

/** Says that the first view has just been drawn. */
export const firstDrawn = () => afterPaint(tell);
