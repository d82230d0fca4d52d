// What can be changed from the dashboard: the request, and the words that say what it does.
// The words name the consequence before the deed; see ui/confirm.js.
import { path } from './api.js';
import { t } from './i18n.js';

/** Stop producers from writing to a broker. */
export const wipe = (broker, topics) => ({
  title: t('wipe.title', { broker }), action: t('wipe.do'), danger: true, typed: broker,
  text: t('wipe.text', { n: topics, broker }),
  spreads: true,
  request: { method: 'DELETE', address: path('brokers', broker, 'write-perm') },
  done: (r) => t('wipe.done', { broker, n: r?.topicCount ?? topics }),
});

/** Give back what a wipe took. */
export const restore = (broker, topics) => ({
  title: t('restore.title', { broker }), action: t('restore.do'),
  text: t('restore.text', { n: topics, broker }),
  spreads: true,
  request: { method: 'PUT', address: path('brokers', broker, 'write-perm') },
  done: (r) => t('restore.done', { broker, n: r?.topicCount ?? topics }),
});

/** Take a topic out of the table, on every broker or on one. */
export const deleteTopic = (topic, broker) => ({
  leaves: !broker, // the topic's page has nothing to show afterwards
  title: broker ? t('delete.titleOf', { topic, broker }) : t('delete.title', { topic }), action: t('delete.do'), danger: true, typed: topic, wide: true,
  text: t('delete.text'), spreads: !broker,
  request: { method: 'DELETE', address: broker ? path('topics', topic, 'brokers', broker) : path('topics', topic) },
  done: () => t('delete.done', { topic }),
});

/** Take out a member that registered over REST. */
export const unregister = (member) => ({
  title: t('unregister.title', { name: member.brokerName + '/' + member.brokerId }), action: t('unregister.do'), danger: true, typed: member.brokerName,
  text: t('unregister.text', { addr: member.brokerAddr, n: member.topicCount ?? 0 }),
  request: { method: 'DELETE', address: path('brokers', member.brokerName, 'members', String(member.brokerId)) },
  done: () => t('unregister.done', { name: member.brokerName + '/' + member.brokerId }),
});

/** Remove a key. */
export const deleteKey = (ns, key, etag) => ({
  title: t('kv.deleteTitle', { key }), action: t('delete.do'), danger: true, typed: key,
  text: t('kv.deleteText', { ns }), spreads: true,
  request: { method: 'DELETE', address: path('kv', ns, key), headers: etag ? { 'If-Match': etag } : {} },
  done: () => t('kv.deleted', { key }),
});
