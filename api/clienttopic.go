package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// TopicsOptions say which topics are listed. Sort is topic, -topic, updatedAt or -updatedAt.
type TopicsOptions struct {
	List
	TopicFilter
	// MessageTypes are such as NORMAL or FIFO.
	MessageTypes []string
	// Perm is a permission that some broker has for the topic, as a number or as RW-.
	Perm string
	// Unit, UnitSub and Stale, if given, ask for topics that are so or are not.
	Unit, UnitSub, Stale *bool
}

// Topics lists topics. The server may hide lists from callers without a credential:
// then the problem has the code listing-disabled.
func (c *Client) Topics(ctx context.Context, o TopicsOptions) (*TopicList, error) {
	q := set(all(o.TopicFilter.query(o.List.query()), "messageType", o.MessageTypes), "perm", o.Perm)
	for name, v := range map[string]*bool{"unit": o.Unit, "unitSub": o.UnitSub, "stale": o.Stale} {
		if v != nil {
			q.Set(name, strconv.FormatBool(*v))
		}
	}
	return fetch[TopicList](ctx, c, at("topics").with(q).reading(o.Read))
}

// Topic returns one topic with each broker's part.
func (c *Client) Topic(ctx context.Context, topic string, how Read) (*Topic, error) {
	return fetch[Topic](ctx, c, at("topics", topic).reading(how))
}

// PutTopicPart sets a broker's part of a topic. The broker's next changed registration
// decides again.
func (c *Client) PutTopicPart(ctx context.Context, topic, brokerName string, spec QueueSpec, e Effect) (*TopicPartSet, error) {
	return fetch[TopicPartSet](ctx, c, at("topics", topic, "brokers", brokerName).saying(spec).writing(http.MethodPut, Write{Effect: e}))
}

// DeleteTopic removes a topic, or with a cluster other than "" its part there. Brokers
// that still have it may bring it back; the answer names them.
func (c *Client) DeleteTopic(ctx context.Context, topic, cluster string, e Effect) (*TopicDeleted, error) {
	r := at("topics", topic).with(set(url.Values{}, "cluster", cluster))
	return fetch[TopicDeleted](ctx, c, c.spread(r.writing(http.MethodDelete, Write{Effect: e})))
}

// DeleteTopicPart removes a topic from one broker's part.
func (c *Client) DeleteTopicPart(ctx context.Context, topic, brokerName string, e Effect) (*TopicDeleted, error) {
	return fetch[TopicDeleted](ctx, c, at("topics", topic, "brokers", brokerName).writing(http.MethodDelete, Write{Effect: e}))
}

// StaleFilter says which leftovers.
type StaleFilter struct {
	// Reasons are of not-in-last-registration, no-master and read-only-everywhere.
	Reasons []string
	// OlderThan is for how long they have been leftovers at least.
	OlderThan time.Duration
	// Topics are patterns with * and ?, Brokers are names.
	Topics, Brokers []string
}

func (f StaleFilter) query(q url.Values) url.Values {
	if f.OlderThan > 0 {
		q.Set("olderThan", f.OlderThan.String())
	}
	return all(all(all(q, "reason", f.Reasons), "topic", f.Topics), "broker", f.Brokers)
}

// StaleOptions say which leftovers are listed. Of List only Limit, After and Read count.
type StaleOptions struct {
	List
	StaleFilter
}

// StaleTopics lists topics that may be leftovers.
func (c *Client) StaleTopics(ctx context.Context, o StaleOptions) (*StaleList, error) {
	return fetch[StaleList](ctx, c, at("stale-topics").with(o.StaleFilter.query(o.List.query())).reading(o.Read))
}

// DeleteStaleTopics removes the leftovers that brokers no longer name, out of those that
// fit the filter. Unlike over plain HTTP, nothing but [DryRun] makes it one.
func (c *Client) DeleteStaleTopics(ctx context.Context, f StaleFilter, how Write) (*StaleDeleted, error) {
	r := at("stale-topics").with(f.query(url.Values{})).writing(http.MethodDelete, how)
	r.query.Set("dryRun", strconv.FormatBool(how.Effect == DryRun))
	return fetch[StaleDeleted](ctx, c, r)
}
