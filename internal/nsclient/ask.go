package nsclient

import (
	"context"
	"strings"

	"fingerpost/remoting/wire"
)

// Clusters returns every group and every cluster [106].
func (c *Client) Clusters(ctx context.Context) (*wire.ClusterInfo, error) {
	return decoded(ctx, c, wire.GetBrokerClusterInfo, nil, wire.DecodeClusterInfo)
}

// Node is what a server says of itself and of its tables.
type Node struct {
	*wire.ClusterInfo
	// Version and Language are those of the answer. A server of ours gives those of the
	// Java server that it stands for.
	Version  wire.Version
	Language wire.Language
	// Epoch names the process of a server of ours, and is "" for any other. Then Topics
	// and KV are the digests of its tables.
	Epoch      string
	Topics, KV string
}

// Node returns every group and every cluster, and who the server is [106].
func (c *Client) Node(ctx context.Context) (*Node, error) {
	resp, err := c.Call(ctx, wire.GetBrokerClusterInfo, wire.Fields{{Name: wire.FieldDigests, Value: "true"}}, nil)
	if err != nil {
		return nil, err
	}
	info, err := wire.DecodeClusterInfo(resp.Body)
	if err != nil {
		return nil, err
	}
	return &Node{
		ClusterInfo: info, Version: resp.Version, Language: resp.Language, Epoch: resp.Ext.Text(wire.FieldEpoch).Value,
		Topics: resp.Ext.Text(wire.FieldTopicsDigest).Value, KV: resp.Ext.Text(wire.FieldKVDigest).Value,
	}, nil
}

// Topics returns the names of all topics in the server's order [206]. It fails with an
// [Error] where the list is switched off.
func (c *Client) Topics(ctx context.Context) ([]string, error) {
	return c.topics(ctx, wire.GetAllTopicListFromNamesrv, nil)
}

// TopicsByCluster returns the names of the topics that brokers of the cluster serve
// [224]: none for a cluster that the server does not know.
func (c *Client) TopicsByCluster(ctx context.Context, cluster string) ([]string, error) {
	return c.topics(ctx, wire.GetTopicsByCluster, wire.Fields{{Name: wire.FieldCluster, Value: cluster}})
}

func (c *Client) topics(ctx context.Context, code wire.RequestCode, ext wire.Fields) ([]string, error) {
	list, err := decoded(ctx, c, code, ext, wire.DecodeTopicList)
	if err != nil {
		return nil, err
	}
	return list.Topics, nil
}

// Route returns the route of a topic [105]. A topic that no broker serves is an [Error]
// with the code TopicNotExist.
func (c *Client) Route(ctx context.Context, topic string) (*wire.Route, error) {
	return decoded(ctx, c, wire.GetRouteInfoByTopic, wire.Fields{
		{Name: wire.FieldTopic, Value: topic},
		{Name: wire.FieldAcceptStrictJSON, Value: "true"},
	}, wire.DecodeRoute)
}

// BrokerMembers returns the members of a broker name [901], none for a name that is not
// known. NameServers before 5.0 refuse the question.
func (c *Client) BrokerMembers(ctx context.Context, cluster, broker string) (*wire.MemberGroup, error) {
	return decoded(ctx, c, wire.GetBrokerMemberGroup, wire.Fields{
		{Name: wire.FieldClusterName, Value: cluster},
		{Name: wire.FieldBrokerName, Value: broker},
	}, wire.DecodeMemberGroup)
}

// Config returns the server's settings by key, as it shows them [319].
func (c *Client) Config(ctx context.Context) (map[string]string, error) {
	resp, err := c.Call(ctx, wire.GetNamesrvConfig, nil, nil)
	if err != nil {
		return nil, err
	}
	return Settings(string(resp.Body)), nil
}

// Settings reads the answer to 319: a line of key=value for each setting. These lines are
// no properties file: nothing is escaped, so what looks like an escape is the value. A line without an
// equals sign is the rest of the value before it.
func Settings(text string) map[string]string {
	out := make(map[string]string)
	last, more := "", strings.Builder{} // the rest of its value, which may be very many lines
	end := func() {
		if more.Len() > 0 {
			out[last] += more.String()
			more.Reset()
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		key, value, ok := strings.Cut(line, "=")
		switch {
		case ok:
			end()
			out[key], last = value, key
		case last != "" && line != "":
			more.WriteString("\n" + line)
		}
	}
	end()
	return out
}

// KV returns the value of a key [101]. A key without a value is an [Error] with the code
// QueryNotFound.
func (c *Client) KV(ctx context.Context, namespace, key string) (string, error) {
	resp, err := c.Call(ctx, wire.GetKVConfig, kvFields(namespace, key), nil)
	if err != nil {
		return "", err
	}
	return resp.Ext.Text(wire.FieldValue).Value, nil
}

// KVList returns the entries of a namespace in the server's order [219]. A namespace that
// nothing was ever put in is an [Error] with the code QueryNotFound.
func (c *Client) KVList(ctx context.Context, namespace string) ([]wire.Field, error) {
	return decoded(ctx, c, wire.GetKVListByNamespace, wire.Fields{{Name: wire.FieldNamespace, Value: namespace}}, wire.DecodeKVTable)
}

func kvFields(namespace, key string) wire.Fields {
	return wire.Fields{{Name: wire.FieldNamespace, Value: namespace}, {Name: wire.FieldKey, Value: key}}
}

// decoded asks and reads the body of the answer. A body that cannot be read leaves the
// connection as good as it was: the frame was whole.
func decoded[T any](ctx context.Context, c *Client, code wire.RequestCode, ext wire.Fields, decode func([]byte) (T, error)) (T, error) {
	resp, err := c.Call(ctx, code, ext, nil)
	if err != nil {
		var none T
		return none, err
	}
	return decode(resp.Body)
}
