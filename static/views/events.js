// What happened: every change set that is still kept, and each new one as it comes.
import { html, useEffect, useRef } from '../vendor/preact.js';
import { t } from '../lib/i18n.js';
import { route, setQuery } from '../lib/router.js';
import { fieldTime } from '../lib/format.js';
import { store } from '../lib/live.js';
import { Badge, Head } from '../ui/atoms.js';
import { Loading } from '../ui/states.js';
import { Filter, Select } from '../ui/filters.js';
import { Events, kinds } from '../ui/events.js';

export default function EventsPage() {
  const { kind = '', topic = '', broker = '', actor = '', face = '', until = '' } = route.value.query;
  const timer = useRef(null);
  const typed = useRef({}); // of all fields: who goes on to the next one is not waited for
  useEffect(() => () => clearTimeout(timer.current), []);
  if (!store.ready.value) return html`<${Loading} />`;
  // Names are asked of the server when the typing rests; a request per letter would be rude.
  const later = (patch) => {
    clearTimeout(timer.current);
    Object.assign(typed.current, patch);
    timer.current = setTimeout(() => {
      setQuery(typed.current);
      typed.current = {};
    }, 300);
  };
  // A jump to a moment: the field speaks the reader's own time, the address UTC.
  return html`<${Head} title=${t('nav.events')} text=${t('events.text')} />
    <div class="tools narrow"><${Select} name="kind" value=${kind} label=${t('events.kind')} options=${kinds} text=${(k) => t('kind.' + k)} />
      <${Select} name="face" value=${face} label=${t('events.face')} options=${['remoting', 'rest', 'dashboard', 'server']} text=${(f) => t('face.' + f)} />
      <${Filter} value=${topic} label=${t('events.topic')} onInput=${(v) => later({ topic: v })} /><${Filter} value=${broker} label=${t('events.broker')} onInput=${(v) => later({ broker: v })} />
      <${Filter} value=${actor} label=${t('events.actor')} onInput=${(v) => later({ actor: v })} />
      <label class="row"><span class="small muted">${t('events.until')}</span><input class="in" type="datetime-local" step="1" value=${fieldTime(until)} onChange=${(e) => setQuery({ until: e.target.value ? new Date(e.target.value).toISOString() : '' })} /></label>
      ${until && html`<${Badge} level="info">${t('events.notLive')}<//>`}</div>
    <${Events} want=${{ kind, topic, broker, actor, face }} until=${until} />`;
}
