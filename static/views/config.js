// Every setting: what it is, where it comes from, and, where it may change while the server
// runs, the way to change it.
import { html, useEffect, useMemo, useState } from '../vendor/preact.js';
import { language, t } from '../lib/i18n.js';
import { route, setQuery } from '../lib/router.js';
import { curl, send } from '../lib/api.js';
import { matcher } from '../lib/find.js';
import { isAdmin, say, store } from '../lib/live.js';
import { Badge, Code, Copy, Head, Icon } from '../ui/atoms.js';
import { Got, NoMatch } from '../ui/states.js';
import { DataTable } from '../ui/table.js';
import { Filter, Select } from '../ui/filters.js';
import { Dialog } from '../ui/dialog.js';

const key = (x) => x.key;

export default function Config() {
  const { q = '', show = '', sort = 'changed' } = route.value.query;
  const [state, setState] = useState({ data: null, error: null });
  const [try_, setTry] = useState(0);
  const [edit, setEdit] = useState(null);
  const moved = store.configMoved.value;
  useEffect(() => {
    let wanted = true; // an answer that was overtaken by a newer one is old
    send('GET', 'config').then((r) => wanted && setState({ data: r.body, etag: r.etag, error: null }), (error) => wanted && setState((s) => ({ ...s, error })));
    return () => { wanted = false; };
  }, [moved, try_]);
  const chinese = language.value === 'zh-CN';
  const items = useMemo(() => (state.data?.items ?? []).map((x) => ({ ...x, doc: (chinese && x.docZh) || x.doc })), [state.data, chinese]);
  const rows = useMemo(() => {
    const m = matcher(q);
    return items.filter((x) => (m.test(x.key) || m.test(x.doc)) && (!show || (show === 'changed' ? x.source !== 'default' : x.mutable)));
  }, [items, q, show]);
  const columns = [
    { id: 'key', label: t('config.key'), value: (x) => x.key, cell: (x) => html`<span class="two"><span class="mono">${x.key}</span><span class="small muted cut" title=${x.doc}>${x.doc}</span></span>` },
    { id: 'value', label: t('config.value'), width: '13rem', value: (x) => x.value, cell: (x) => html`<span class="mono" title=${x.value}>${x.value === '' ? html`<span class="faint">${t('config.empty')}</span>` : x.value}</span>` },
    { id: 'act', label: html`<span class="sr">${t('col.actions')}</span>`, width: '6rem', cell: (x) => (isAdmin.value && x.mutable ? html`<button type="button" class="btn tiny" onClick=${() => setEdit(x.key)} aria-label=${t('config.change', { key: x.key })}>${t('config.edit')}</button>` : '') },
    { id: 'source', label: t('config.source'), width: '8rem', value: (x) => x.source, cell: (x) => html`<${Badge} level=${x.source === 'default' ? '' : 'info'}>${t('config.from.' + x.source)}<//>` },
    { id: 'default', label: t('config.default'), width: '9rem', cell: (x) => html`<span class="mono faint" title=${x.default}>${x.default === '' ? '–' : x.default}</span>` },
    { id: 'live', label: t('config.live'), width: '9.5rem', value: (x) => (x.mutable ? 0 : 1), cell: (x) => (x.mutable ? t('config.now') : html`<span class="faint">${t('config.restart')}</span>`) },
  ];
  // Changed settings first: that is what one comes to see.
  const first = { id: 'changed', value: (x) => (x.source === 'default' ? '1' : '0') + x.key };
  return html`<${Head} title=${t('nav.config')} text=${t('config.text')} />
    <div class="tools"><${Filter} value=${q} label=${t('config.filter')} onInput=${(v) => setQuery({ q: v })} /><${Select} name="show" value=${show} label=${t('config.show')} options=${['changed', 'live']} text=${(x) => t('config.show.' + x)} /></div>
    <${Got} from=${{ ...state, retry: () => setTry(try_ + 1) }}>${() => (rows.length === 0 ? html`<div class="card"><${NoMatch} total=${items.length} onClear=${() => setQuery({ q: '', show: '' })} /></div>`
      : html`<${DataTable} label=${t('nav.config')} tall columns=${columns} rows=${sort === 'changed' ? [...rows].sort((a, b) => (first.value(a) < first.value(b) ? -1 : 1)) : rows} rowKey=${key} sort=${sort} total=${items.length}
        onSort=${(s) => setQuery({ sort: s })} view=${q + '\n' + show} copy=${(x) => x.key + '=' + x.value} />`)}<//>
    ${edit && html`<${Edit} item=${items.find((x) => x.key === edit)} etag=${state.etag} onClose=${() => setEdit(null)} onDone=${() => setTry(try_ + 1)} />`}`;
}

function Edit({ item, etag, onClose, onDone }) {
  const [value, setValue] = useState(item.value);
  const [error, setError] = useState(null);
  const [checked, setChecked] = useState(null);
  const [busy, setBusy] = useState(false);
  const body = { [item.key]: value };
  // First what would happen, then the deed: the same call with and without dryRun. It is done
  // to the settings of which that was said, not to those that somebody made of them since.
  const submit = async () => {
    setBusy(true);
    setError(null);
    try {
      const r = await send('PATCH', 'config' + (checked ? '' : '?dryRun=true'), { body, type: 'application/merge-patch+json', headers: { 'If-Match': checked?.etag ?? etag } });
      if (!checked) setChecked({ ...r.body, etag });
      else {
        say(t('config.done', { key: item.key }));
        onDone();
        onClose();
      }
    } catch (err) {
      setError(err);
      if (err.status === 412) {
        setChecked(null);
        onDone();
      }
    }
    setBusy(false);
  };
  const wrong = error?.errors?.[0]?.detail ?? error?.message;
  const change = (v) => {
    setValue(v);
    setChecked(null);
    setError(null);
  };
  const field = item.type === 'bool'
    ? html`<select class="in" value=${value} autofocus onChange=${(e) => change(e.target.value)}>${['true', 'false'].map((b) => html`<option key=${b} value=${b} selected=${b === value}>${b}</option>`)}</select>`
    : html`<input class="in mono" value=${value} autofocus spellcheck=${false} autocomplete="off" onInput=${(e) => change(e.target.value)} aria-invalid=${error ? 'true' : undefined} aria-describedby=${error ? 'config-wrong' : undefined} />`;
  return html`<${Dialog} title=${t('config.change', { key: item.key })} onClose=${onClose} onSubmit=${submit}>
    <p>${item.doc}</p><label class="field"><span>${t('config.value')} <span class="hint">${item.range}</span></span>${field}</label>
    <p class="small muted row">${t('config.default')}: <code>${item.default || '–'}</code> <${Copy} text=${item.default} /></p>
    ${error && html`<p class="problem bad" role="alert" id="config-wrong"><${Icon} name="warn" /><span>${error.status === 412 ? t('config.moved') : wrong}</span></p>`}
    ${checked && html`<p class="problem info" role="status"><${Icon} name="info" /><span>${checked.unchanged?.includes(item.key) ? t('config.same') : checked.restartRequired?.includes(item.key) ? t('config.waits') : t('config.applies')}${checked.overridden?.includes(item.key) ? ' ' + t('config.overridden') : ''}</span></p>`}
    <details><summary class="small muted">${t('confirm.curl')}</summary><${Code} text=${curl('PATCH', 'config', body, { 'Content-Type': 'application/merge-patch+json' })} label=${t('confirm.curl')} /></details>
    <div class="actions"><button type="button" class="btn" onClick=${onClose}>${t('cancel')}</button><button class="btn primary" disabled=${busy || value === item.value}>${checked ? t('config.apply') : t('config.check')}</button></div><//>`;
}
