// One topic: its route by broker, what a client is told, what happened to it, and the
// words of the API as they are.
import { html, useMemo, useState } from '../vendor/preact.js';
import { t } from '../lib/i18n.js';
import { href, route, setQuery, go } from '../lib/router.js';
import { addressable, curl, path as at } from '../lib/api.js';
import { permText, visible } from '../lib/format.js';
import { deleteTopic } from '../lib/actions.js';
import { isAdmin, store } from '../lib/live.js';
import { Badge, Code, Copy, Go, Head, Icon, Name, Perm, State, Tabs, TimeLeft, When } from '../ui/atoms.js';
import { Blank, Got, Loading, useGet } from '../ui/states.js';
import { Events } from '../ui/events.js';
import { Lazy } from '../ui/shell.js';
import { flagsOf } from './topics.js';
import { useGroups } from './overview.js';

const confirm = () => import('../ui/confirm.js');
const tabs = ['route', 'clients', 'history', 'raw'];

export default function TopicPage({ path }) {
  const name = path[1];
  store.topicsMoved.value;
  const topic = store.topics.get(name);
  const { tab = 'route' } = route.value.query;
  const [asked, ask] = useState(null);
  if (!store.ready.value) return html`<${Loading} />`;
  const crumb = html`<a href=${href(['topics'])}>${t('nav.topics')}</a>`;
  if (!topic) return html`<${Head} crumb=${crumb} title=${visible(name)} /><${Missing} name=${name} />`;
  const now = tabs.includes(tab) ? tab : 'route';
  return html`<${Head} crumb=${crumb} title=${visible(name)}>
      <${Copy} text=${name} label=${t('copy.name')} />
      ${isAdmin.value && addressable(name) && html`<button type="button" class="btn danger" id="delete-topic" onClick=${() => ask(deleteTopic(name))}>${t('delete.do')}…</button>`}<//>
    <div class="row"><${Badge}>${t('type.' + store.typeOf(name))}<//>${topic.messageType && html`<${Badge} level="info">${topic.messageType}<//>`}
      ${flagsOf(topic).map((f) => html`<${Badge} key=${f}>${t('flag.' + f)}<//>`)}
      ${!topic.writable && html`<${Badge} level="bad" icon="lock">${t('topic.noWrite')}<//>`}
      <span class="muted">${t('topic.sums', { n: topic.queues.length, write: topic.writeQueues, read: topic.readQueues })} · ${t('col.updated')} <${When} at=${topic.updatedAt} /></span></div>
    <${Tabs} label=${t('topic.tabs')} now=${now} to=${['topics', name]} tabs=${tabs.map((id) => ({ id, text: t('topic.tab.' + id) }))} />
    ${now === 'route' && html`<${Route} topic=${topic} ask=${ask} />`}
    ${now === 'clients' && html`<${AsClients} topic=${topic} />`}
    ${now === 'history' && html`<${Events} fixed=${{ topic: name }} />`}
    ${now === 'raw' && html`<${Raw} topic=${topic} />`}
    ${asked && html`<${Lazy} load=${confirm} ...${asked} preview=${asked.preview ?? preview} onClose=${() => ask(null)} onDone=${() => asked.leaves && go(['topics'])} />`}`;
}

// What a dry run of a removal says.
function preview(r) {
  return html`<div class="stack tight"><p>${t('delete.from', { n: r.removedFrom?.length ?? 0 })} ${(r.removedFrom ?? []).map((b, i) => html`${i > 0 && ', '}<b><${Name} of=${b} /></b>`)}</p>
    ${r.mayReturnFrom?.length > 0 ? html`<p class="problem warn"><${Icon} name="warn" /><span>${t('delete.returns')} ${r.mayReturnFrom.map((m, i) => html`${i > 0 && ', '}<b><${Name} of=${m.brokerName} /></b>`)}. ${t('delete.returnsWhy')}</span></p>` : html`<p class="muted">${t('delete.stays')}</p>`}</div>`;
}

function Route({ topic, ask }) {
  const gs = useGroups();
  const got = useGet(addressable(topic.name) ? at('topics', topic.name) : null, [topic]);
  const mayDelete = isAdmin.value && addressable(topic.name);
  const byName = useMemo(() => new Map(gs.map((g) => [g.name, g])), [gs]);
  const registered = new Map((got.data?.brokers ?? []).map((p) => [p.brokerName, p]));
  return html`<div class="card scroll" tabindex="0" role="region" aria-label=${t('topic.tab.route')}><table class="t top"><thead><tr>
      <th scope="col">${t('col.broker')}</th><th scope="col">${t('col.cluster')}</th><th scope="col" class="num">${t('col.write')}</th><th scope="col" class="num">${t('col.read')}</th><th scope="col">${t('col.perm')}</th><th scope="col">${t('col.members')}</th>${mayDelete && html`<th scope="col"><span class="sr">${t('col.actions')}</span></th>`}</tr></thead>
    <tbody>${topic.queues.map((q) => {
      const g = byName.get(q.brokerName);
      const said = registered.get(q.brokerName)?.registeredPerm;
      return html`<tr key=${q.brokerName}><td><${Go} to=${['brokers', q.brokerName]}><${Name} of=${q.brokerName} /><//>${g?.wipe && html`<br /><${Badge} level="warn" icon="lock">${t('set.wiped')}<//>`}</td>
        <td><${Name} of=${g?.cluster ?? '–'} /></td><td class="num">${q.writeQueueNums}</td><td class="num">${q.readQueueNums}</td>
        <td><${Perm} text=${permText(q.perm)} /> <span class="faint small nowrap">${permWords(q.perm)}</span>${said !== undefined && said !== q.perm && html`<br /><span class="small muted">${t('topic.said', { perm: permText(said) })}</span>`}</td>
        <td>${g ? html`<ul class="lives">${g.members.map((m) => html`<li key=${m.brokerId}><span class="num">${m.brokerId}</span><span>${t('role.' + m.role)}</span><span class="mono">${m.brokerAddr}</span><${State} member=${m} /><${TimeLeft} member=${m} /></li>`)}</ul>` : html`<${Badge} level="bad" icon="warn">${t('topic.noMembers')}<//>`}</td>
        ${mayDelete && html`<td class="num"><button type="button" class="btn quiet tiny" onClick=${() => ask(deleteTopic(topic.name, q.brokerName))} aria-label=${t('delete.titleOf', { topic: topic.name, broker: q.brokerName })}>${t('delete.do')}</button></td>`}</tr>`;
    })}</tbody></table></div>
    ${got.data?.orderConf !== undefined && html`<section class="card"><header><h2>${t('topic.order')}</h2><${Go} to=${['kv', 'ORDER_TOPIC_CONFIG', topic.name]}>${t('topic.orderEdit')}<//></header><div class="body"><${Code} text=${got.data.orderConf} label=${t('topic.order')} /></div></section>`}
    ${got.data?.attributes && html`<section class="card"><header><h2>${t('topic.attributes')}</h2></header><dl class="kv2 body">${Object.entries(got.data.attributes).map(([k, v]) => html`<dt key=${k} class="mono">${visible(k)}</dt><dd class="mono">${visible(v)}</dd>`)}</dl></section>`}`;
}

const permWords = (perm) => [perm & 4 && t('perm.read'), perm & 2 && t('perm.write'), perm & 1 && t('perm.inherit')].filter(Boolean).join(', ') || t('perm.none');

// The route as a client with these settings gets it: the very bytes' meaning, and why.
function AsClients({ topic }) {
  const { zone = '', acting = 'auto' } = route.value.query;
  const zones = useMemo(() => [...new Set([...store.members.values()].map((m) => m.zoneName).filter(Boolean))].sort(), [store.membersMoved.value]);
  const direct = addressable(topic.name);
  const query = new URLSearchParams({ ...(!direct && { topic: topic.name }), ...(zone && { zone }), ...(acting !== 'auto' && { actingMaster: acting }) }).toString();
  const address = (direct ? at('topics', topic.name, 'route') : 'routes') + (query ? '?' + query : '');
  const list = useGet(address, [topic, store.membersMoved.value]);
  const got = direct ? list : { ...list, data: list.data && (list.data.items[0]?.route ?? { brokerDatas: [], queueDatas: [] }) };
  const why = useGet(direct ? at('topics', topic.name, 'route', 'explain') + (query ? '?' + query : '') : null, [topic, store.membersMoved.value]);
  return html`<div class="tools"><label class="row"><span class="small muted">${t('topic.zone')}</span><select class="in" value=${zone} onChange=${(e) => setQuery({ zone: e.target.value })}><option value="">${t('topic.zoneNone')}</option>${zones.map((z) => html`<option key=${z} value=${z} selected=${z === zone}>${z}</option>`)}</select></label>
      <label class="row"><span class="small muted">${t('topic.acting')}</span><select class="in" value=${acting} onChange=${(e) => setQuery({ acting: e.target.value === 'auto' ? '' : e.target.value })}>${['auto', 'off'].map((a) => html`<option key=${a} value=${a} selected=${a === acting}>${t('topic.acting.' + a)}</option>`)}</select></label></div>
    <${Got} from=${got}>${(r) => html`<div class="card scroll" tabindex="0" role="region" aria-label=${t('topic.tab.clients')}><table class="t"><thead><tr><th scope="col">${t('col.broker')}</th><th scope="col">${t('col.zone')}</th><th scope="col">${t('col.perm')}</th><th scope="col" class="num">${t('col.write')}</th><th scope="col" class="num">${t('col.read')}</th><th scope="col">${t('topic.addrs')}</th></tr></thead>
      <tbody>${r.brokerDatas.map((b) => {
        const q = r.queueDatas.find((x) => x.brokerName === b.brokerName) ?? {};
        return html`<tr key=${b.brokerName}><td><${Name} of=${b.brokerName} /></td><td>${b.zoneName || '–'}</td><td><${Perm} text=${permText(q.perm ?? 0)} /></td><td class="num">${q.writeQueueNums}</td><td class="num">${q.readQueueNums}</td>
          <td class="mono">${Object.entries(b.brokerAddrs).map(([id, a]) => html`<span key=${id} class="row"><span class="faint">${id}</span> ${a}</span>`)}</td></tr>`;
      })}</tbody></table>${r.brokerDatas.length === 0 && html`<p class="body muted">${t('topic.zoneEmpty')}</p>`}</div>
      ${why.data && (why.data.notes.length > 0 || why.data.brokers.some((b) => b.notes.length)) && html`<section class="card"><header><h2>${t('topic.why')}</h2></header><ul class="body stack tight">
        ${why.data.notes.map((n) => html`<li key=${n.code}>${n.detail}</li>`)}${why.data.brokers.flatMap((b) => b.notes.map((n) => html`<li key=${b.brokerName + n.code}><b><${Name} of=${b.brokerName} /></b> ${n.detail}</li>`))}</ul></section>`}
      <${Code} text=${curl('GET', address)} label="curl" /><${Code} text=${JSON.stringify(r, null, 2)} label="TopicRouteData" />`}<//>`;
}

function Raw({ topic }) {
  const address = addressable(topic.name) ? at('topics', topic.name) : 'routes?' + new URLSearchParams({ topic: topic.name });
  const got = useGet(address, [topic]);
  return html`<${Code} text=${curl('GET', address)} label="curl" /><${Got} from=${got}>${(r) => html`<${Code} text=${JSON.stringify(r, null, 2)} label=${t('topic.tab.raw')} />`}<//>`;
}

// A topic without a route is an answer, not an error: the likely reasons, and when it was last seen.
function Missing({ name }) {
  const got = useGet('events?' + new URLSearchParams({ topic: name, limit: '1' }));
  const last = got.data?.items?.[0];
  return html`<div class="card"><${Blank} icon="topics" title=${t('missing.title')} text=${t('missing.text')}>
    <ul class="prose">${['never', 'gone', 'deleted', 'early', 'typo'].map((k) => html`<li key=${k}>${t('missing.' + k)}</li>`)}</ul>
    ${last ? html`<p>${t('missing.last')} <${When} at=${last.time} /> · <${Go} to=${['events']} query=${{ topic: name }}>${t('nav.events')}<//></p>` : got.data && html`<p class="faint">${t('missing.unseen')}</p>`}
    <${Go} to=${['topics']} query=${{ q: name }} class="btn">${t('missing.search')}<//><//></div>`;
}
