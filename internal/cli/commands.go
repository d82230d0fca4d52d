package cli

import "context"

// Route is `fingerpost route`.
type Route struct {
	Topic string `arg:"" help:"The topic."`
	Zone  string `help:"Show the route as a client of this zone gets it."`
	Source
}

// Run shows where the messages of a topic go.
func (c *Route) Run(e *Env) error {
	return c.read(e, func(ctx context.Context, r reading) (answer, error) { return r.route(ctx, c.Topic, c.Zone) })
}

// Topics is `fingerpost topics`.
type Topics struct {
	List   ListTopics  `cmd:"" default:"withargs" help:"List topics. This is what happens without a further word."`
	Show   ShowTopic   `cmd:"" help:"Show one topic with each broker's part."`
	Delete DeleteTopic `cmd:"" help:"Remove a topic from the name server; brokers that still have it may bring it back."`
}

// ListTopics is `fingerpost topics list`.
type ListTopics struct {
	Match   string   `arg:"" optional:"" placeholder:"PATTERN" help:"Only topics whose names fit this pattern with * and ?."`
	Cluster []string `help:"Only topics of these clusters."`
	Broker  []string `help:"Only topics of these brokers."`
	Type    []string `help:"Only these types: normal, retry, dlq, lmq, system, reply."`
	Stale   bool     `help:"Only topics that may be leftovers."`
	Limit   int      `help:"At most so many; 0 lists all."`
	Source
}

// Run lists topics.
func (c *ListTopics) Run(e *Env) error {
	if c.Limit < 0 {
		return Misuse("--limit: must be at least 0, not %d", c.Limit)
	}
	return c.read(e, func(ctx context.Context, r reading) (answer, error) {
		return r.topics(ctx, topicsAsked{match: c.Match, clusters: c.Cluster, brokers: c.Broker, types: c.Type, stale: c.Stale, limit: c.Limit})
	})
}

// ShowTopic is `fingerpost topics show`.
type ShowTopic struct {
	Topic string `arg:"" help:"The topic."`
	Source
}

// Run shows a topic.
func (c *ShowTopic) Run(e *Env) error {
	return c.read(e, func(ctx context.Context, r reading) (answer, error) { return r.topic(ctx, c.Topic) })
}

// Brokers is `fingerpost brokers`.
type Brokers struct {
	List    ListBrokers   `cmd:"" default:"withargs" help:"List brokers, a line for each member. This is what happens without a further word."`
	Wipe    WipeBroker    `cmd:"" help:"Take the write permission of a broker's topics, so that producers leave it."`
	Restore RestoreBroker `cmd:"" help:"Give a broker's topics their write permission back."`
}

// ListBrokers is `fingerpost brokers list`.
type ListBrokers struct {
	Match   string   `arg:"" optional:"" placeholder:"PATTERN" help:"Only brokers whose names fit this pattern with * and ?."`
	Cluster []string `help:"Only brokers of these clusters."`
	Zone    []string `help:"Only brokers of these zones."`
	Source
}

// Run lists brokers.
func (c *ListBrokers) Run(e *Env) error {
	return c.read(e, func(ctx context.Context, r reading) (answer, error) {
		return r.brokers(ctx, brokersAsked{match: c.Match, clusters: c.Cluster, zones: c.Zone})
	})
}

// Clusters is `fingerpost clusters`.
type Clusters struct{ Source }

// Run lists clusters.
func (c *Clusters) Run(e *Env) error {
	return c.read(e, func(ctx context.Context, r reading) (answer, error) { return r.clusters(ctx) })
}
