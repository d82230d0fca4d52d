// The grid of broker sets: a box for each name, a pill for each member. Two hundred
// brokers still fit, and a box that needs a look can be told by its edge and its word.
import { html, useEffect, useRef, useState } from '../vendor/preact.js';
import { t } from '../lib/i18n.js';
import { route, setQuery } from '../lib/router.js';
import { stateOf } from '../lib/model.js';
import { asOf, store } from '../lib/live.js';
import { Badge, Copy, Go, Head, Icon, Name, State, TimeLeft, When } from '../ui/atoms.js';
import { Loading, NoBrokers, NoMatch } from '../ui/states.js';
import { useGroups } from './overview.js';

export default function Clusters() {
  const gs = useGroups();
  const { by = 'cluster', cluster = '' } = route.value.query;
  if (!store.ready.value) return html`<${Loading} />`;
  if (gs.length === 0) return html`<${Head} title=${t('nav.clusters')} /><div class="card"><${NoBrokers} address=${location.hostname + ':9876'} /></div>`;
  const wanted = gs.filter((g) => !cluster || g.cluster === cluster);
  const keys = new Map();
  for (const g of wanted) {
    const key = by === 'zone' ? g.zone || '' : g.cluster;
    if (!keys.has(key)) keys.set(key, []);
    keys.get(key).push(g);
  }
  const press = (id) => html`<button type="button" class="chip" aria-pressed=${by === id} onClick=${() => setQuery({ by: id === 'cluster' ? '' : id })}>${t('clusters.by.' + id)}</button>`;
  return html`<${Head} title=${t('nav.clusters')} text=${t('clusters.text')}><div class="chips" role="group" aria-label=${t('clusters.by')}>${press('cluster')}${press('zone')}</div><//>
    ${cluster && html`<div class="row"><${Badge} level="info">${cluster}<//><button type="button" class="btn tiny" onClick=${() => setQuery({ cluster: '' })}>${t('nomatch.clear')}</button></div>`}
    ${wanted.length === 0 ? html`<${NoMatch} total=${gs.length} onClear=${() => setQuery({ cluster: '' })} />`
      : [...keys].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([key, list]) => html`<${Section} key=${key} name=${key || t('clusters.noZone')} list=${list} by=${by} />`)}`;
}

function Section({ name, list, by }) {
  const members = list.reduce((n, g) => n + g.members.length, 0);
  const bad = list.filter((g) => !g.hasMaster || g.clash).length;
  return html`<section class="stack"><div class="row"><h2><${Name} of=${name} /></h2><span class="muted small">${t('clusters.counts', { sets: list.length, members })}</span>
      ${bad > 0 ? html`<${Badge} level="bad" icon="warn">${t('clusters.bad', { n: bad })}<//>` : html`<${Badge} level="ok" icon="check">${t('clusters.fine')}<//>`}</div>
    <div class="sets">${list.map((g) => html`<${Box} key=${g.name} g=${g} by=${by} />`)}</div></section>`;
}

function Box({ g, by }) {
  const broken = !g.hasMaster || g.clash;
  return html`<article class=${'setbox' + (broken ? ' broken' : '')}><div class="row"><h3 class="grow"><${Go} to=${['brokers', g.name]}><${Name} of=${g.name} /><//></h3>
      ${by === 'cluster' ? g.zone && html`<span class="small faint">${g.zone}</span>` : html`<span class="small faint"><${Name} of=${g.cluster} /></span>`}</div>
    <div class="row">${g.members.map((m) => html`<${Member} key=${m.brokerId} m=${m} />`)}</div>
    <div class="row small">${!g.hasMaster && html`<${Badge} level="bad" icon="warn">${t('set.noMaster')}<//>`}${g.clash && html`<${Badge} level="bad" icon="warn">${t('set.clash')}<//>`}
      ${g.acting && html`<${Badge} level="warn">${t('set.acting', { id: g.acting.brokerId })}<//>`}${g.wipe && html`<${Badge} level="warn" icon="lock">${t('set.wiped')}<//>`}
      <span class="faint">${t('overview.topics', { n: g.topics })}</span></div></article>`;
}

// The pill's card opens by click or key, stands where the pill is, and closes by itself
// when something else is touched: the browser's popover does all that.
function Member({ m }) {
  const [open, setOpen] = useState(false);
  const pop = useRef(null);
  const pill = useRef(null);
  const state = stateOf(m, asOf());
  useEffect(() => {
    if (!open) return;
    const at = pill.current.getBoundingClientRect();
    pop.current.style.left = Math.max(8, Math.min(at.left, innerWidth - pop.current.offsetWidth - 8)) + 'px';
    const below = at.bottom + 6;
    pop.current.style.top = (below + pop.current.offsetHeight > innerHeight ? Math.max(8, at.top - pop.current.offsetHeight - 6) : below) + 'px';
  }, [open]);
  const id = `m-${m.brokerName}-${m.brokerId}`;
  const short = m.brokerId === 0 ? 'M' : 'S';
  return html`<button ref=${pill} type="button" class=${'member ' + state} popovertarget=${id}>
      <${Icon} name=${state} size="12" /><span>${m.brokerId}</span><span class="role">${short}</span><span class="sr">${t('set.member', { role: t('role.' + m.role), state: t('state.' + state) })}</span></button>
    <div ref=${pop} id=${id} class="pop" popover="auto" onToggle=${(e) => setOpen(e.newState === 'open')}>
      ${open && html`<dl class="kv2"><dt>${t('col.state')}</dt><dd><${State} member=${m} /></dd><dt>${t('col.role')}</dt><dd>${t('role.' + m.role)}</dd>
        <dt>${t('col.address')}</dt><dd class="mono">${m.brokerAddr} <${Copy} text=${m.brokerAddr} label=${t('copy.address')} /></dd>
        <dt>${t('col.version')}</dt><dd>${m.version || '–'} ${m.language && html`<span class="faint">${m.language}</span>`}</dd>
        <dt>${t('col.dataVersion')}</dt><dd>${m.dataVersion ? html`${t('n', { n: m.dataVersion.counter })} · <${When} at=${m.dataVersion.timestamp} />` : '–'}</dd>
        <dt>${t('col.source')}</dt><dd>${t('source.' + m.source)}</dd>
        <dt>${t('col.left')}</dt><dd><${TimeLeft} member=${m} /></dd></dl>`}</div>`;
}
