// Where the page begins: language, who we are, the feed, then the shell.
import { effect, html, render } from './vendor/preact.js';
import { pick, setLanguage } from './lib/i18n.js';
import { storedLanguage } from './lib/prefs.js';
import { route, startRouter } from './lib/router.js';
import { startClock } from './lib/clock.js';
import { firstDrawn } from './lib/paint.js';
import { feed, store } from './lib/live.js';
import { signedOut, whoami } from './lib/api.js';
import { App } from './ui/shell.js';
import { startKeys } from './ui/keys.js';

startRouter();
setLanguage(pick([route.value.query.lang, storedLanguage(), ...navigator.languages]));
startClock();
whoami().then((may) => { if (may !== 'no') feed.start(); });
// What has come while the modules were loaded is part of the first drawing, and what comes
// within a moment: an empty frame before it would only be drawn to be drawn again.
let waits = true;
const draw = () => {
  if (!waits) return;
  waits = false;
  render(html`<${App} />`, document.getElementById('app'));
  firstDrawn();
};
effect(() => { if (store.known.value || signedOut.value) queueMicrotask(draw); });
setTimeout(draw, 80);
feed.adopt(globalThis.begun);
startKeys();
