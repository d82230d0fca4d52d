package nsclient

import (
	"context"
	"fmt"

	"fingerpost/remoting/wire"
)

// WipeWritePerm takes the write permission from all topics of a broker [205] and returns
// how many those are: 0 also for a broker that the server does not know.
func (c *Client) WipeWritePerm(ctx context.Context, broker string) (topics int, err error) {
	return c.writePerm(ctx, wire.WipeWritePermOfBroker, broker, wire.FieldWipeTopicCount)
}

// AddWritePerm gives the write permission back [327]. A Java NameServer makes all topics
// of the broker readable and writable, and one before 4.9.2 refuses the request; ours
// gives back what the broker registered.
func (c *Client) AddWritePerm(ctx context.Context, broker string) (topics int, err error) {
	return c.writePerm(ctx, wire.AddWritePermOfBroker, broker, wire.FieldAddTopicCount)
}

func (c *Client) writePerm(ctx context.Context, code wire.RequestCode, broker, count string) (int, error) {
	resp, err := c.Call(ctx, code, wire.Fields{{Name: wire.FieldBrokerName, Value: broker}}, nil)
	if err != nil {
		return 0, err
	}
	n := resp.Ext.Integer(count)
	if n.Presence != wire.Present {
		return 0, fmt.Errorf("%s of %s: the answer has no %s", code, c.addr, count)
	}
	return int(n.Value), nil
}

// DeleteTopic removes a topic from the server's table, or with a cluster from its brokers
// only [216]. Success says nothing of whether the topic was there, and a broker that
// still has it brings it back with its next registration. NameServers before 4.9.4 take
// no notice of the cluster.
func (c *Client) DeleteTopic(ctx context.Context, topic, cluster string) error {
	ext := wire.Fields{{Name: wire.FieldTopic, Value: topic}}
	if cluster != "" {
		ext.Set(wire.FieldClusterName, cluster)
	}
	_, err := c.Call(ctx, wire.DeleteTopicInNamesrv, ext, nil)
	return err
}

// PutKV sets a key [100].
func (c *Client) PutKV(ctx context.Context, namespace, key, value string) error {
	ext := kvFields(namespace, key)
	ext.Set(wire.FieldValue, value)
	_, err := c.Call(ctx, wire.PutKVConfig, ext, nil)
	return err
}

// DeleteKV removes a key [102], with success also for one that is not there.
func (c *Client) DeleteKV(ctx context.Context, namespace, key string) error {
	_, err := c.Call(ctx, wire.DeleteKVConfig, kvFields(namespace, key), nil)
	return err
}
