// Where the page begins: language, who we are, the feed, then the shell.
import { html, render } from './vendor/preact.js';
import { pick, setLanguage } from './lib/i18n.js';
import { storedLanguage } from './lib/prefs.js';
import { route, startRouter } from './lib/router.js';
import { startClock } from './lib/clock.js';
import { feed } from './lib/live.js';
import { whoami } from './lib/api.js';
import { App } from './ui/shell.js';

startRouter();
const known = whoami();
await setLanguage(pick([route.value.query.lang, storedLanguage(), ...navigator.languages]));
startClock();
render(html`<${App} />`, document.getElementById('app'));
if (await known !== 'no') feed.start();
import('./ui/keys.js').then((m) => m.startKeys());
