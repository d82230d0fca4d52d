package remoting_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"fingerpost/remoting/wire"
)

// Lists that brokers change in every way are read as a server reads them that has never
// seen one before, although only what differs is decoded.
func TestChangedListsAreReadAsNew(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		x := startTCP(t)
		c := x.client(wire.JSONHeader)
		a, b := one("a", "10.0.0.1:1"), one("b", "10.0.0.2:1")
		for i := range 150 {
			a.topics = append(a.topics, topic(fmt.Sprint("Topic-", i), 4, 6))
		}
		b.topics = slices.Clone(a.topics)
		a.register(t, c)
		for step := range 12 {
			r := &a
			if step%3 == 1 {
				r = &b // it is new the first time, and takes after a
			}
			for range rnd.IntN(4) {
				r.topics = changed(rnd, r.topics)
			}
			if rnd.IntN(5) == 0 {
				// It loses its connection and comes back.
				gone := x.client(wire.JSONHeader)
				r.register(t, gone)
				news := x.changes()
				for gone.Close(); x.reg.Snapshot().Group(r.name) != nil; {
					<-news
				}
			}
			r.counter++
			body := spaced(rnd, r.body())
			succeed(t, c, wire.RegisterBroker, r.ext(), body)
			y := startTCP(t)
			succeed(t, y.client(wire.JSONHeader), wire.RegisterBroker, r.ext(), body)
			for _, topic := range r.topics {
				got, want := x.reg.Snapshot(), y.reg.Snapshot()
				gotQueue, _ := got.Topic(topic.Name).Queue(r.name)
				wantQueue, _ := want.Topic(topic.Name).Queue(r.name)
				gotSaid, _ := got.Registered(r.name, topic.Name)
				wantSaid, _ := want.Registered(r.name, topic.Name)
				if gotQueue != wantQueue || gotSaid != wantSaid {
					t.Fatalf("seed %d, step %d: %s is %v, %v, and read for the first time %v, %v", seed, step, topic.Name, gotQueue, gotSaid, wantQueue, wantSaid)
				}
			}
		}
	}
}

// changed changes one thing about a list of topics.
func changed(rnd *rand.Rand, topics []wire.TopicConfig) []wire.TopicConfig {
	topics = slices.Clone(topics)
	i := rnd.IntN(len(topics))
	switch rnd.IntN(8) {
	case 0:
		topics[i].ReadQueues++
	case 1:
		topics[i].Perm = 4
	case 2:
		topics[i].Order = !topics[i].Order
	case 3:
		topics[i].Attributes = []wire.Field{{Name: "+message.type", Value: fmt.Sprint("V", rnd.IntN(3))}}
	case 4:
		topics = slices.Delete(topics, i, i+1)
	case 5:
		topics = slices.Insert(topics, i, topic(fmt.Sprint("New-", rnd.IntN(1000)), 2, 6))
	case 6:
		j := rnd.IntN(len(topics))
		topics[i], topics[j] = topics[j], topics[i]
	default:
		again := topics[i] // a name that comes twice: the later one counts
		again.WriteQueues++
		topics = append(topics, again)
	}
	return topics
}

// spaced writes a body with a blank somewhere between two entries, now and then.
func spaced(rnd *rand.Rand, body []byte) []byte {
	if rnd.IntN(3) > 0 {
		return body
	}
	return bytes.Replace(body, []byte("},\""), []byte("} , \""), 1+rnd.IntN(60))
}
