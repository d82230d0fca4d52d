// The first page: is the registry right, and what just changed?
import { html, useEffect, useMemo } from '../vendor/preact.js';
import { rich, t } from '../lib/i18n.js';
import { tick } from '../lib/clock.js';
import { duration, when } from '../lib/format.js';
import { groups, leftOf, memberKey, problems, topicCounts } from '../lib/model.js';
import { asOf, connected, feed, role, store } from '../lib/live.js';
import { serverNow } from '../lib/clock.js';
import { get, me } from '../lib/api.js';
import { Badge, Go, Head, Icon, Name, Spark, State, TimeLeft } from '../ui/atoms.js';
import { ChangeLines } from '../ui/changes.js';
import { Loading, NoBrokers, useGet, useNews } from '../ui/states.js';

/** The sets with counts of topics; made anew only when the store moved. */
export function useGroups() {
  const members = store.membersMoved.value;
  const topics = store.topicsMoved.value;
  const counts = useMemo(() => topicCounts(store), [topics]);
  return useMemo(() => groups(store, counts), [members, counts]);
}

/**
 * What happened before the page was opened, once: the last sets for the list, and what
 * became of members, by which problems are told. A set can be large, so no more is asked.
 */
async function loadPast() {
  if (store.past) return;
  store.past = true;
  try {
    const [latest, members] = await Promise.all([get('events?limit=9'), get('events?kind=member&limit=100')]);
    store.addPast(latest.items, members.items);
  } catch {
    store.past = false; // asked again with the next view; the page of events says what is wrong
  }
}

export function Overview() {
  const gs = useGroups();
  const online = connected.value;
  // Series move by the server's step; while the feed is away there is no use in asking.
  const beat = Math.floor(tick.value / 10_000);
  const stats = useGet(store.known.value ? 'stats' : null, [online && beat]);
  const health = useGet(store.known.value ? '../../healthz?verbose' : null, [online && beat]);
  const peers = useGet(store.known.value ? 'peers' : null, [online && beat]);
  const conflicts = useGet(store.known.value ? 'conflicts' : null, [online && beat, useNews('member')]);
  useEffect(() => { if (store.known.value) loadPast(); }, [store.known.value]);
  store.eventsMoved.value;
  if (!store.known.value) return html`<${Loading} lines=${10} />`;
  const now = asOf();
  // Only what its broker no longer names can be cleaned up; the rest is told by other cards.
  const staleTopics = stats.data?.staleTopics?.['not-in-last-registration'] ?? 0;
  // A probe that fails answers as an error, beside which an answer of before is kept.
  const checks = health.error?.checks ?? health.data?.checks ?? [];
  const wrong = problems({ store, groups: gs, now, stale: staleTopics, checks, peers: peers.data?.items, conflicts: conflicts.data?.items, open: me.value?.method === 'anonymous' && role.value === 'admin' });
  return html`<div class="stack"><${Answer} groups=${gs} wrong=${wrong} />
    ${wrong.length > 0 && html`<ul class="stack tight">${wrong.slice(0, 8).map((p) => html`<${ProblemCard} key=${p.id} p=${p} />`)}
      ${wrong.length > 8 && html`<li class="muted">${t('overview.more', { n: wrong.length - 8 })}</li>`}</ul>`}</div>
    ${gs.length === 0 ? html`<div class="card"><${NoBrokers} address=${location.hostname + ':9876'} /></div>` : html`<${Tiles} stats=${stats.data} groups=${gs} />`}
    <div class="cols"><div class="stack">${gs.length > 0 && html`<${Soonest} />`}<${Facts} /></div><${Latest} /></div>`;
}

function Answer({ groups: gs, wrong }) {
  const serious = wrong.filter((p) => p.level !== 'info').length;
  const clusters = new Set(gs.map((g) => g.cluster)).size;
  const what = rich('overview.sentence', {
    clusters: t('overview.clusters', { n: clusters }), brokers: t('overview.brokers', { n: gs.length }), topics: t('overview.topics', { n: store.topicCount }),
  });
  const verdict = !connected.value ? t('overview.unknown') : gs.length === 0 ? t('overview.waiting') : serious ? t('overview.look', { n: serious }) : t('overview.good');
  return html`<h1 class="answer" tabindex="-1">${what}${t('gap')}<span class=${serious ? '' : 'muted'}>${verdict}</span></h1>`;
}

function ProblemCard({ p }) {
  const v = p.values;
  const values = {
    ...v, broker: html`<b><${Name} of=${v.broker ?? ''} /></b>`, since: v.since ? when(v.since, serverNow()) : '',
    left: v.left !== undefined ? duration(v.left) : '', ...(v.addr && { addr: html`<${Name} of=${v.addr} />` }), ...(v.against && { against: html`<${Name} of=${v.against} />` }),
  };
  return html`<li class=${'problem ' + p.level}><${Icon} name=${p.level === 'info' ? 'info' : 'warn'} /><span>${rich(p.key, values)}${p.topics > 0 && t('gap') + t('problem.unwritable', { n: p.topics })}</span>
    <${Go} to=${p.path} query=${p.query} class="nowrap">${p.path[1] ?? t('nav.' + p.path[0])} <span aria-hidden="true">→</span><//></li>`;
}

function Tiles({ stats, groups: gs }) {
  const members = gs.reduce((n, g) => n + g.members.length, 0);
  const series = stats?.series ?? {};
  // Hits and misses are counted apart; together they are the lookups.
  const hits = series.routeHits?.points;
  const lookups = hits?.map((v, i) => v + (series.routeMisses?.points[i] ?? 0));
  const watchers = series.watchers && series.watchers.value + (series.dashboards?.value ?? 0);
  const tiles = [
    { label: t('tile.brokers'), value: t('n', { n: members }), sub: t('tile.sets', { n: gs.length }), to: ['brokers'], points: series.members?.points },
    { label: t('tile.topics'), value: t('n', { n: store.topicCount }), sub: stats?.topicTypes ? t('tile.normal', { n: stats.topicTypes.normal ?? 0 }) : '', to: ['topics'], points: series.topics?.points },
    { label: t('tile.lookups'), value: lookups?.length ? t('tile.rate', { n: Math.round(lookups.at(-1)) }) : '–', sub: t('tile.minutes'), points: lookups },
    { label: t('tile.watchers'), value: watchers === undefined ? '–' : t('n', { n: watchers }), sub: t('tile.minutes'), points: (series.dashboards ?? series.watchers)?.points },
  ];
  return html`<div class="tiles">${tiles.map((x) => {
    const body = html`<span class="label">${x.label}</span><span class="value">${x.value}</span><span class="sub">${x.sub}</span><${Spark} points=${x.points} />`;
    return x.to ? html`<${Go} key=${x.label} class="tile" to=${x.to}>${body}<//>` : html`<div key=${x.label} class="tile">${body}</div>`;
  })}</div>`;
}

// The members that would leave first. The order is taken every few seconds: with every
// second it would be a puppet show.
function Soonest() {
  const beat = Math.floor(tick.value / 5000);
  const moved = store.membersMoved.value;
  const worst = useMemo(() => [...store.members.values()].sort((a, b) => leftOf(a, asOf()) - leftOf(b, asOf()) || (memberKey(a) < memberKey(b) ? -1 : 1)).slice(0, 6), [beat, moved]);
  return html`<section class="card"><header><h2 id="soonest">${t('overview.soonest')}</h2><${Go} to=${['brokers']} class="small">${t('overview.all')}<//></header>
    <div class="scroll" tabindex="0" role="region" aria-labelledby="soonest"><table class="t"><thead><tr><th scope="col">${t('col.broker')}</th><th scope="col">${t('col.role')}</th><th scope="col">${t('col.address')}</th><th scope="col">${t('col.state')}</th><th scope="col">${t('col.left')}</th></tr></thead>
      <tbody>${worst.map((m) => html`<tr key=${memberKey(m)}><td><${Go} to=${['brokers', m.brokerName]}><${Name} of=${m.brokerName} /><//></td><td>${t('role.' + m.role)}</td>
        <td class="mono">${m.brokerAddr}</td><td><${State} member=${m} /></td><td><${TimeLeft} member=${m} /></td></tr>`)}</tbody></table></div></section>`;
}

function Latest() {
  store.eventsMoved.value;
  return html`<section class="card" aria-labelledby="latest"><header><h2 id="latest">${t('overview.latest')}</h2><${Go} to=${['events']} class="small">${t('overview.all')}<//></header>
    <${ChangeLines} sets=${store.events.slice(-9).reverse()} /></section>`;
}

function Facts() {
  // Another epoch is another process, begun at another time and perhaps of another version.
  const got = useGet('version', [feed.hello.value?.epoch]);
  const v = got.data;
  if (!v) return null;
  return html`<section class="card" aria-labelledby="facts"><header><h2 id="facts">${t('overview.node')}</h2>${v.environment && v.environment !== 'center' && html`<${Badge} level="info">${v.environment}<//>`}</header>
    <dl class="facts body"><div><dt>${t('fact.version')}</dt><dd>${v.name} ${v.version}${v.commit && v.commit !== 'unknown' && html` <span class="mono faint">${v.commit.slice(0, 8)}</span>`}</dd></div>
      <div><dt>${t('fact.compatible')}</dt><dd>Apache RocketMQ ${v.compatibility}</dd></div>
      <div><dt>${t('fact.uptime')}</dt><dd>${duration(tick.value - Date.parse(v.startedAt))}</dd></div>
      <div><dt>${t('fact.go')}</dt><dd class="mono">${v.goVersion}</dd></div>
      <div><dt>${t('fact.revision')}</dt><dd class="mono">${store.revisionText.value}</dd></div>
      <div><dt>${t('fact.feed')}</dt><dd>${t('pill.' + (feed.status.value === 'live' ? 'live' : 'reconnecting'))}</dd></div></dl></section>`;
}
