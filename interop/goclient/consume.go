package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// patience is how long traffic waits for messages that were sent but have not come.
const patience = 40 * time.Second

// inbox counts what a consumer has got.
type inbox struct {
	prefix     string // of the messages that count
	mu         sync.Mutex
	seen       map[string]bool
	last       map[string]int // of a key: the number of its last message
	deliveries int
	disorder   int
}

func newInbox() *inbox { return &inbox{seen: map[string]bool{}, last: map[string]int{}} }

func (b *inbox) take(messages []*primitive.MessageExt, ordered bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range messages {
		body := string(m.Body)
		if !strings.HasPrefix(body, b.prefix) {
			continue
		}
		b.deliveries++
		b.seen[body] = true
		if !ordered {
			continue
		}
		number, err := strconv.Atoi(body[strings.LastIndexByte(body, '-')+1:])
		before, known := b.last[m.GetKeys()]
		if err != nil || known && before >= number {
			b.disorder++
		}
		b.last[m.GetKeys()] = number
	}
}

func (b *inbox) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.seen)
}

// wait returns once n different messages have come, at the latest after d.
func (b *inbox) wait(n int, d time.Duration) {
	for end := time.Now().Add(d); b.count() < n && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
}

// isDomain reports whether the name servers are given by the URL of an address list.
func isDomain(servers primitive.NamesrvAddr) bool {
	return len(servers) == 1 && strings.HasPrefix(servers[0], "http://")
}

func findByConsumer(servers primitive.NamesrvAddr) consumer.Option {
	if isDomain(servers) {
		return consumer.WithNameServerDomain(servers[0])
	}
	return consumer.WithNameServer(servers)
}

func startConsumer(servers primitive.NamesrvAddr, group, topic string, b *inbox, ordered bool) (rocketmq.PushConsumer, error) {
	c, err := rocketmq.NewPushConsumer(findByConsumer(servers), consumer.WithGroupName(group),
		consumer.WithInstance(fmt.Sprintf("consumer%d", os.Getpid())), consumer.WithConsumerOrder(ordered),
		consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset))
	if err != nil {
		return nil, err
	}
	err = c.Subscribe(topic, consumer.MessageSelector{}, func(_ context.Context, messages ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
		b.take(messages, ordered)
		return consumer.ConsumeSuccess, nil
	})
	if err != nil {
		return nil, err
	}
	return c, c.Start()
}

func consume(servers primitive.NamesrvAddr, group, topic string, count int, d time.Duration, ordered bool) error {
	b := newInbox()
	c, err := startConsumer(servers, group, topic, b, ordered)
	if err != nil {
		return err
	}
	b.wait(count, d)
	if err := c.Shutdown(); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	fmt.Println("received", len(b.seen), "deliveries", b.deliveries, "disorder", b.disorder)
	return nil
}

func traffic(servers primitive.NamesrvAddr, group, topic string, d time.Duration, stop string) error {
	b := newInbox()
	b.prefix = "traffic-" + group + "-"
	c, err := startConsumer(servers, group, topic, b, false)
	if err != nil {
		return err
	}
	p, err := startProducer(servers)
	if err != nil {
		return err
	}
	sent, failed, slowest := 0, 0, time.Duration(0)
	for i, end := 0, time.Now().Add(d); time.Now().Before(end); i++ {
		if _, err := os.Stat(stop); err == nil {
			break
		}
		begin := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		_, err := p.SendSync(ctx, primitive.NewMessage(topic, []byte(fmt.Sprintf("%s%d", b.prefix, i))))
		cancel()
		if err != nil {
			failed++
			fmt.Println("error", strings.ReplaceAll(err.Error(), "\n", " "))
		} else {
			sent++
		}
		slowest = max(slowest, time.Since(begin))
		time.Sleep(50 * time.Millisecond)
	}
	b.wait(sent, patience)
	if err := p.Shutdown(); err != nil {
		return err
	}
	if err := c.Shutdown(); err != nil {
		return err
	}
	fmt.Println("sent", sent, "failed", failed, "received", b.count(), "slowest", slowest.Milliseconds(), "ms")
	return nil
}
