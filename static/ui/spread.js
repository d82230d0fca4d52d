// Changes that can be made on the other NameServers of the set too.
import { html, useEffect, useState } from '../vendor/preact.js';
import { t } from '../lib/i18n.js';
import { get } from '../lib/api.js';
import { say } from '../lib/live.js';

/**
 * The box that offers it, for a form that changes something.
 * @param {boolean} possible whether this change can be made on the peers
 * @returns {{known: boolean, box: any, to: (address: string) => string}} whether the peers are
 *   known yet, before which nothing should be sent; what to draw; the address of the request
 */
export function useSpread(possible) {
  const [others, setOthers] = useState(null);
  // A change on one node of three is the classic mistake, so the box is ticked.
  const [everywhere, setEverywhere] = useState(true);
  useEffect(() => {
    get('peers').then((r) => setOthers(r.items.filter((p) => p.state !== 'self').map((p) => p.peer)), () => setOthers([]));
  }, []);
  const peers = others?.join(', ');
  return {
    known: others !== null,
    box: possible && peers ? html`<label class="check"><input type="checkbox" checked=${everywhere} onChange=${(e) => setEverywhere(e.target.checked)} /> <span>${t('confirm.onPeers', { peers })}</span></label>`
      : html`<p class="small muted">${peers ? t('confirm.hereOnly', { peers }) : t('confirm.here')}</p>`,
    to: (address) => (possible && everywhere && peers ? address + (address.includes('?') ? '&' : '?') + 'fanout=peers' : address),
  };
}

/** Says what was done, or on which peers it was not: then until somebody has read it. */
export function sayDone(answer, done) {
  const missed = answer?.results?.filter((r) => r.problem) ?? [];
  if (missed.length) say(t('confirm.partly', { n: missed.length }) + t('gap') + missed.map((r) => r.peer + t('gap') + r.problem.title).join('; '), false, true);
  else say(done);
}
