package remoting

import (
	"slices"
	"strings"

	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// putKV answers 100. A key without a value is refused: a null handed to brokers with
// the order configuration stops them.
func (c *conn) putKV(req *wire.Command, a *answer) {
	ns, key, value := req.Ext.Text(wire.FieldNamespace), req.Ext.Text(wire.FieldKey), req.Ext.Text(wire.FieldValue)
	switch {
	case !ns.Present || !key.Present:
		a.fail(wire.SystemError, remarkKVFields)
		return
	case !value.Present:
		a.fail(wire.SystemError, "value is null")
		return
	}
	_, _, err := c.srv.Registry.PutKV(strings.Clone(ns.Value), strings.Clone(key.Value), strings.Clone(value.Value),
		registry.KVCondition{}, c.cause("putKVConfig"))
	if err != nil {
		c.refuse(a, err)
	}
}

// getKV answers 101.
func (c *conn) getKV(req *wire.Command, a *answer) {
	ns, key := req.Ext.Text(wire.FieldNamespace), req.Ext.Text(wire.FieldKey)
	e, ok := c.srv.Registry.Snapshot().KV(ns.Value, key.Value)
	if !ok || !ns.Present || !key.Present {
		a.fail(wire.QueryNotFound, "No config item, Namespace: "+orNull(ns)+" Key: "+orNull(key))
		return
	}
	a.ext.Set(wire.FieldValue, e.Value)
}

// deleteKV answers 102, with success also where there was nothing.
func (c *conn) deleteKV(req *wire.Command, a *answer) {
	_, err := c.srv.Registry.DeleteKV(strings.Clone(req.Ext.Text(wire.FieldNamespace).Value), strings.Clone(req.Ext.Text(wire.FieldKey).Value),
		registry.KVCondition{}, c.cause("deleteKVConfig"))
	if err != nil {
		c.refuse(a, err)
	}
}

// listKV answers 219.
func (c *conn) listKV(req *wire.Command, a *answer) {
	ns := req.Ext.Text(wire.FieldNamespace)
	m, err := c.srv.Registry.Snapshot().KVNamespace(ns.Value)
	if err != nil || !ns.Present {
		a.fail(wire.QueryNotFound, "No config item, Namespace: "+orNull(ns))
		return
	}
	fields := make([]wire.Field, 0, len(m))
	for k, e := range m {
		fields = append(fields, wire.Field{Name: k, Value: e.Value})
	}
	a.body = appendTable(fields)
}

func appendTable(fields []wire.Field) []byte {
	slices.SortFunc(fields, func(a, b wire.Field) int { return strings.Compare(a.Name, b.Name) })
	return wire.AppendKVTable(nil, fields)
}

func orNull(t wire.Text) string {
	if !t.Present {
		return "null"
	}
	return t.Value
}
