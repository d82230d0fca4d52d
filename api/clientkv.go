package api

import (
	"context"
	"net/http"
)

// KVNamespaces lists the namespaces of the key-value table and their sizes.
func (c *Client) KVNamespaces(ctx context.Context, how Read) (*KVNamespaces, error) {
	return fetch[KVNamespaces](ctx, c, at("kv").reading(how))
}

// KVTable returns all keys of a namespace.
func (c *Client) KVTable(ctx context.Context, namespace string, how Read) (*KVTable, error) {
	return fetch[KVTable](ctx, c, at("kv", namespace).reading(how))
}

// KV returns one key.
func (c *Client) KV(ctx context.Context, namespace, key string, how Read) (*KVEntry, error) {
	return fetch[KVEntry](ctx, c, at("kv", namespace, key).reading(how))
}

// KVWrite is how a key is set.
type KVWrite struct {
	Write
	// Create asks that the key not be there yet.
	Create bool
}

// PutKV sets a key. It is on the server's disk when the answer comes.
func (c *Client) PutKV(ctx context.Context, namespace, key, value string, how KVWrite) (*KVSet, error) {
	r := c.spread(at("kv", namespace, key).saying(KVPut{Value: &value}).writing(http.MethodPut, how.Write))
	r.absent = how.Create
	return fetch[KVSet](ctx, c, r)
}

// DeleteKV removes a key.
func (c *Client) DeleteKV(ctx context.Context, namespace, key string, how Write) error {
	r := at("kv", namespace, key).writing(http.MethodDelete, how)
	if !c.onPeers {
		return c.do(ctx, r, nil)
	}
	out, err := fetch[KVDeleted](ctx, c, c.spread(r))
	if failed := out.Failed(); err == nil && len(failed) > 0 {
		return &PeersFailed{failed}
	}
	return err
}

// Config returns every setting. Of List only Read and what narrows by name count.
func (c *Client) Config(ctx context.Context, o List) (*Config, error) {
	return fetch[Config](ctx, c, at("config").with(o.query()).reading(o.Read))
}

// PatchConfig changes settings while the server runs, all or none. A value is a string, a
// number or a boolean; nil takes the key out of the server's file.
func (c *Client) PatchConfig(ctx context.Context, values map[string]any, how Write) (*ConfigUpdate, error) {
	return fetch[ConfigUpdate](ctx, c, at("config").saying(values).writing(http.MethodPatch, how))
}
