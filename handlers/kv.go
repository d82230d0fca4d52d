package handlers

import (
	"net/http"
	"strconv"
	"strings"

	"fingerpost/api"
	"fingerpost/internal/convert"
	"fingerpost/registry"
)

// listKV answers the namespaces of the key-value table.
//
//	@Summary	Namespaces of the key-value table
//	@Tags	kv
//	@Success	200	{object}	api.KVNamespaces	"the namespaces"
//	@Router	/api/v1/kv [get]
func (h *Handler) listKV(c *call) (reply, error) {
	names := c.snap.KVNamespaces()
	out := api.KVNamespaces{Revision: c.revision(c.snap.Revision), Total: len(names), Items: make([]api.KVNamespace, 0, len(names))}
	for _, ns := range names {
		m, _ := c.snap.KVNamespace(ns) // of the same snapshot
		item := api.KVNamespace{Namespace: ns, Keys: len(m)}
		for k, e := range m {
			item.Bytes += len(k) + len(e.Value)
		}
		out.Items = append(out.Items, item)
	}
	rep := reply{body: out, lines: seqOf(out.Items), etag: c.revision(c.snap.KVRevision()), keys: []hubKey{waitFor(keyKVs, "")}}
	rep.text = func() []byte {
		tb := newTable("NAMESPACE", "KEYS", "BYTES")
		for _, i := range out.Items {
			tb.row(i.Namespace, i.Keys, i.Bytes)
		}
		return tb.bytes()
	}
	return rep, nil
}

// getNamespace answers all keys of a namespace.
//
//	@Summary	All keys of a namespace
//	@Description	[219]
//	@Tags	kv
//	@Param	namespace	path	string	true	"the namespace"
//	@Success	200	{object}	api.KVTable	"the keys"
//	@Failure	404	{object}	api.Problem	"kv-not-found"
//	@Router	/api/v1/kv/{namespace} [get]
func (h *Handler) getNamespace(c *call) (reply, error) {
	ns, err := c.part("namespace")
	if err != nil {
		return reply{}, err
	}
	m, err := c.snap.KVNamespace(ns)
	if err != nil {
		p := refuse("kv-not-found", "There is no namespace %s.", "没有命名空间 %s。", ns)
		p.suggestions, p.remoting = nearest(ns, c.snap.KVNamespaces()), remotingNotFound
		return reply{}, p
	}
	// Removals leave no trace in the namespace, so its state is that of the table.
	out := api.KVTable{Namespace: ns, Table: convert.KVTable(m), Revision: c.revision(c.snap.Revision)}
	return reply{body: out, etag: c.revision(c.snap.KVRevision()), keys: []hubKey{waitFor(keyKV, ns)}, text: func() []byte {
		tb := newTable("KEY", "VALUE", "REVISION")
		for _, k := range sortedKeys(m) {
			tb.row(k, m[k].Value, c.revision(m[k].Revision))
		}
		return tb.bytes()
	}}, nil
}

// kvPlace reads the namespace and the key in the path.
func (c *call) kvPlace() (ns, key string, err error) {
	if ns, err = c.part("namespace"); err != nil {
		return "", "", err
	}
	if key, err = c.partWithSlash("key"); err != nil {
		return "", "", err
	}
	c.subject = ns + "/" + key
	for name, v := range map[string]string{"namespace": ns, "key": key} {
		if len(v) > 255 {
			return "", "", invalidPart(name, "must be at most 255 bytes long", "最长 255 字节")
		}
	}
	return ns, key, nil
}

// getKey answers one value.
//
//	@Summary	One value
//	@Description	[101]
//	@Tags	kv
//	@Param	namespace	path	string	true	"the namespace"
//	@Param	key	path	string	true	"the key; a slash is written %2F"
//	@Success	200	{object}	api.KVEntry	"the value"
//	@Failure	404	{object}	api.Problem	"kv-not-found"
//	@Router	/api/v1/kv/{namespace}/{key} [get]
func (h *Handler) getKey(c *call) (reply, error) {
	ns, key, err := c.kvPlace()
	if err != nil {
		return reply{}, err
	}
	raw := c.query.flag("raw")
	if err := c.query.err(); err != nil {
		return reply{}, err
	}
	e, ok := c.snap.KV(ns, key)
	if !ok {
		return reply{}, noKey(ns, key)
	}
	rep := c.keyReply(ns, key, e)
	if raw {
		c.form = formText
	}
	return rep, nil
}

func noKey(ns, key string) error {
	p := refuse("kv-not-found", "There is no key %s in namespace %s.", "命名空间 %[2]s 中没有键 %[1]s。", key, ns)
	p.remoting = remotingNotFound
	return p
}

func (c *call) keyReply(ns, key string, e registry.KVEntry) reply {
	return reply{
		body: api.KVEntry{Namespace: ns, Key: key, Value: e.Value, Revision: c.revision(e.Revision)},
		etag: c.revision(e.Revision), keys: []hubKey{waitFor(keyKV, ns)},
		text: func() []byte { return []byte(e.Value) },
	}
}

// putKey sets a key, by a JSON body or by the bare value.
//
//	@Summary	Set a key
//	@Description	[100] It is on disk before it is answered. The value may also be sent bare, as text/plain.
//	@Tags	kv
//	@Param	namespace	path	string	true	"the namespace"
//	@Param	key	path	string	true	"the key; a slash is written %2F"
//	@Param	If-Match	header	string	false	"the ETag that the resource must still have"
//	@Param	If-None-Match	header	string	false	"* to set the key only if it is not there"
//	@Param	body	body	api.KVPut	true	"the value"
//	@Success	200	{object}	api.KVSet	"it was there"
//	@Success	201	{object}	api.KVSet	"it is new"
//	@Failure	412	{object}	api.Problem	"precondition-failed"
//	@Failure	503	{object}	api.Problem	"not-saved, overloaded"
//	@Router	/api/v1/kv/{namespace}/{key} [put]
func (h *Handler) putKey(c *call) (reply, error) {
	ns, key, err := c.kvPlace()
	if err != nil {
		return reply{}, err
	}
	value, err := c.kvValue()
	if err != nil {
		return reply{}, err
	}
	when, err := c.kvCondition()
	if err != nil {
		return reply{}, err
	}
	fan := c.fanOut()
	if err := c.query.err(); err != nil {
		return reply{}, err
	}
	e, created, err := h.setKey(c, ns, key, value, when)
	if err != nil {
		return reply{}, err
	}
	out := api.KVSet{
		KVEntry: api.KVEntry{Namespace: ns, Key: key, Value: value, Revision: c.revision(e.Revision)},
		Created: created, DryRun: c.dry, Warnings: c.orderWarnings(ns, value), PeerResults: fan.ofKey(ns, key, &value).results(),
	}
	rep := reply{body: out, revision: max(e.Revision, c.snap.Revision), etag: c.revision(e.Revision)}
	if created && !c.dry {
		rep.status, rep.location = http.StatusCreated, h.linkBase+c.r.URL.EscapedPath()
	}
	return rep, nil
}

func (h *Handler) setKey(c *call, ns, key, value string, when registry.KVCondition) (registry.KVEntry, bool, error) {
	old, set := c.snap.KV(ns, key)
	if !set && c.kvEntries() >= h.limits.KVEntries {
		return old, false, refuse("body-too-large", "The table has %d keys, as many as it may.", "KV 表已有 %d 个键，达到上限。", c.kvEntries())
	}
	if !c.dry {
		return h.deps.Registry.PutKV(ns, key, value, when, c.cause(c.op.action))
	}
	if !when.Holds(old, set) {
		return old, false, &registry.Error{Kind: registry.Conflict, Code: "precondition-failed", Message: "the key has changed since it was read"}
	}
	return old, !set, nil
}

func (c *call) kvEntries() int { return kvEntries(c.snap) }

func kvEntries(s *registry.Snapshot) int {
	n := 0
	for _, ns := range s.KVNamespaces() {
		m, _ := s.KVNamespace(ns) // of the same snapshot
		n += len(m)
	}
	return n
}

// kvValue reads the body of a PUT. A form on a web page can send text/plain, but not PUT.
func (c *call) kvValue() (string, error) {
	if !strings.HasPrefix(c.r.Header.Get("Content-Type"), "text/plain") {
		body, err := decode[api.KVPut](c, c.h.limits.KVValue)
		if err != nil {
			return "", err
		}
		return *body.Value, nil
	}
	raw, err := c.body(c.h.limits.KVValue, "text/plain")
	if err != nil {
		return "", err
	}
	if i := invalidAt(raw); i < len(raw) {
		return "", refuse("validation-failed", "The value is not UTF-8: see byte %d.", "值不是 UTF-8：见第 %d 字节。", i)
	}
	return string(raw), nil
}

// kvCondition reads If-Match and If-None-Match of a change of one key.
func (c *call) kvCondition() (when registry.KVCondition, err error) {
	if none := c.r.Header.Get("If-None-Match"); none != "" {
		if none != "*" {
			return when, badHeader("If-None-Match", "must be *", "必须是 *")
		}
		when.Absent = true
	}
	match := c.r.Header.Get("If-Match")
	switch {
	case match == "":
		return when, nil
	case match == "*":
		when.Present = true
		return when, nil
	}
	state, _, _ := strings.Cut(bareTag(match), "-")
	epoch, n, _ := strings.Cut(state, ".")
	revision, err := strconv.ParseUint(n, 10, 64)
	if err != nil || strings.Contains(match, ",") {
		return when, badHeader("If-Match", "must be one ETag of the key", "必须是该键的一个 ETag")
	}
	if epoch != c.snap.Epoch {
		return when, refuse("precondition-failed", "The ETag is of an earlier process.", "该 ETag 属于之前的进程。")
	}
	when.Revision = &revision
	return when, nil
}

func badHeader(name, en, zh string) error {
	return &problem{
		code: "validation-failed", detail: text{"The header " + name + " " + en + ".", "请求头 " + name + " " + zh + "。"},
		errors: []fieldError{{parameter: name, code: "bad-header", detail: text{en, zh}}},
	}
}

// orderWarnings looks at a value of the order configuration, which brokers and clients
// read as broker:queues;broker:queues.
func (c *call) orderWarnings(ns, value string) []api.Note {
	if ns != registry.OrderNamespace {
		return []api.Note{}
	}
	for part := range strings.SplitSeq(value, ";") {
		broker, n, ok := strings.Cut(part, ":")
		if _, err := strconv.ParseUint(n, 10, 31); !ok || broker == "" || err != nil {
			return []api.Note{c.warn("order-conf-malformed", "%q is not of the form broker:queues;broker:queues.", "%q 不是 broker:queues;broker:queues 的形式。", value)}
		}
	}
	return []api.Note{}
}

// deleteKey removes a key.
//
//	@Summary	Remove a key
//	@Description	[102] With fanout on the peers too: then the answer tells what became of it there.
//	@Tags	kv
//	@Param	namespace	path	string	true	"the namespace"
//	@Param	key	path	string	true	"the key; a slash is written %2F"
//	@Param	If-Match	header	string	false	"the ETag that the resource must still have"
//	@Success	200	{object}	api.KVDeleted	"it is gone, with fanout"
//	@Success	204	"it is gone"
//	@Failure	404	{object}	api.Problem	"kv-not-found"
//	@Failure	412	{object}	api.Problem	"precondition-failed"
//	@Failure	503	{object}	api.Problem	"not-saved, overloaded"
//	@Router	/api/v1/kv/{namespace}/{key} [delete]
func (h *Handler) deleteKey(c *call) (reply, error) {
	ns, key, err := c.kvPlace()
	if err != nil {
		return reply{}, err
	}
	when, err := c.kvCondition()
	if err != nil {
		return reply{}, err
	}
	fan := c.fanOut()
	if err := c.query.err(); err != nil {
		return reply{}, err
	}
	old, removed := c.snap.KV(ns, key)
	switch {
	case !c.dry:
		removed, err = h.deps.Registry.DeleteKV(ns, key, when, c.cause(c.op.action))
	case !when.Holds(old, removed):
		err = &registry.Error{Kind: registry.Conflict, Code: "precondition-failed", Message: "the key has changed since it was read"}
	}
	if err == nil && !removed {
		err = noKey(ns, key)
	}
	revision := h.deps.Registry.Snapshot().Revision
	if err != nil || !fan.wanted {
		return reply{status: http.StatusNoContent, revision: revision}, err
	}
	out := api.KVDeleted{Namespace: ns, Key: key, DryRun: c.dry, Revision: c.revision(revision), PeerResults: fan.ofKey(ns, key, nil).results()}
	return reply{body: out, revision: revision}, nil
}
