// The server's time. Ages and times left are counted by the server's clock, which hello
// and bookmarks tell; the browser's own may be minutes off.
import { signal } from '../vendor/preact.js';

let skew = 0;

/** What to add to the browser's clock; set by whoever heard the server's time. */
export function heard(serverMillis) {
  const s = serverMillis - Date.now();
  // The way from the server takes a moment; a jump of less than that is none.
  if (Math.abs(s - skew) > 250) skew = s;
}

/** Now, by the server's clock, in milliseconds since 1970. */
export const serverNow = () => Date.now() + skew;

/** A moment of the browser's clock, by the server's. */
export const atServer = (ms) => ms + skew;

let held = false;

/** Stops the seconds, for whoever wants a page that stands still, or lets them go on. */
export function holdClock(on) {
  held = on;
  if (!on) tick.value = serverNow();
}

/** Moves once a second while the page can be seen; what counts down reads it. */
export const tick = signal(serverNow());

let timer;

/** Starts the seconds; they rest while the page is hidden. */
export function startClock() {
  const beat = () => { if (!held) tick.value = serverNow(); };
  const follow = () => {
    clearInterval(timer);
    if (document.visibilityState === 'visible') {
      beat();
      timer = setInterval(beat, 1000);
    }
  };
  document.addEventListener('visibilitychange', follow);
  follow();
}
