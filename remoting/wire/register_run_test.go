package wire

import (
	"fmt"
	"hash/maphash"
	"slices"
	"testing"
)

// What the caller knows is passed over, and everything else is handed out: each topic once,
// in order, however the text is cut.
func TestKnownTextIsPassedOver(t *testing.T) {
	var body RegisterBody
	for i := range 3*runTopics + 5 {
		body.Topics = append(body.Topics, TopicConfig{Name: fmt.Sprint("T", i), ReadQueues: 4, WriteQueues: 4, Perm: 6})
	}
	seed := maphash.MakeSeed()
	type piece struct {
		sum          uint64
		size, topics int
	}
	var known []piece // by place, as a caller keeps them
	decode := func(text []byte) (names []string, decoded int, pieces []piece) {
		next, at := 0, 0
		d := RegisterDecoder{
			Topic: func(t *TopicConfig) { names, decoded = append(names, t.Name), decoded+1 },
			Wrote: func(text []byte, topics int) {
				p := piece{size: len(text), topics: topics}
				if len(text) > 0 {
					p.sum = maphash.Bytes(seed, text)
				}
				pieces = append(pieces, p)
			},
			Known: func(b []byte) (size, topics int) {
				for next < len(known) && at < len(names) {
					at += known[next].topics
					next++
				}
				if next == len(known) || at != len(names) {
					return 0, 0
				}
				p := known[next]
				if p.size == 0 || p.size > len(b) || maphash.Bytes(seed, b[:p.size]) != p.sum {
					return 0, 0
				}
				for i := range p.topics {
					names = append(names, body.Topics[at+i].Name)
				}
				pieces = append(pieces, p)
				return p.size, p.topics
			},
		}
		sum, err := d.Decode(text, V5_5_0, false, 0)
		if err != nil || sum.Topics != len(names) {
			t.Fatalf("%d topics of %d: %v", sum.Topics, len(names), err)
		}
		return names, decoded, pieces
	}
	want := func(names []string) {
		t.Helper()
		if len(names) != len(body.Topics) {
			t.Fatalf("%d topics of %d", len(names), len(body.Topics))
		}
		for i, n := range names {
			if n != body.Topics[i].Name {
				t.Fatalf("topic %d is %q, not %q", i, n, body.Topics[i].Name)
			}
		}
	}
	names, decoded, pieces := decode(body.AppendJSON(nil))
	want(names)
	if decoded != len(names) || len(pieces) != 4 {
		t.Errorf("the first time %d are decoded, %d pieces written", decoded, len(pieces))
	}
	known = pieces
	if names, decoded, pieces = decode(body.AppendJSON(nil)); decoded != 0 || len(pieces) != 4 {
		t.Errorf("the second time %d are decoded, %d pieces written", decoded, len(pieces))
	}
	want(names)
	body.Topics[runTopics+3].Perm = 4
	if names, decoded, pieces = decode(body.AppendJSON(nil)); decoded != runTopics || len(pieces) != 4 {
		t.Errorf("with one changed %d are decoded, %d pieces written", decoded, len(pieces))
	}
	want(names)
	known = pieces
	// One that is not written as usual is a piece of its own, of unknown text.
	body.Topics[5].Name = "T 5\u00e4"
	names, decoded, pieces = decode(body.AppendJSON(nil))
	want(names)
	if pieces[1] != (piece{topics: 1}) || pieces[0].topics != 5 || decoded != len(names) {
		t.Errorf("an unusual one: %d decoded, pieces %v", decoded, pieces)
	}
}

// The limit of topics counts those that are passed over.
func TestKnownTopicsCount(t *testing.T) {
	var body RegisterBody
	for i := range 2 * runTopics {
		body.Topics = append(body.Topics, TopicConfig{Name: fmt.Sprint("T", i), ReadQueues: 4, WriteQueues: 4, Perm: 6})
	}
	text := body.AppendJSON(nil)
	var sizes []int
	d := RegisterDecoder{Topic: func(*TopicConfig) {}, Wrote: func(text []byte, _ int) { sizes = append(sizes, len(text)) }}
	if _, err := d.Decode(text, V5_5_0, false, 0); err != nil {
		t.Fatal(err)
	}
	call := 0
	d.Known = func([]byte) (int, int) {
		call++
		return sizes[call-1], runTopics
	}
	for _, most := range []int{2*runTopics - 1, 2 * runTopics} {
		d.MaxTopics, call = most, 0
		if _, err := d.Decode(text, V5_5_0, false, 0); (err != nil) != (most < 2*runTopics) {
			t.Errorf("with at most %d: %v", most, err)
		}
	}
}

// The text of a stretch, which may be most of a body, is looked at once, however many entries
// without a name stand before it.
func TestKnownIsAskedOnceForEachPlace(t *testing.T) {
	const many = 100
	table := func(entries string) string { return `"topicConfigTable":{` + entries + `},` }
	body := `{"topicConfigSerializeWrapper":{`
	for range many {
		body += table(`"":{},"":{}`)
	}
	body += table(`"T":{"topicName":"T"},"":{},"U":{"topicName":"U"}`) + `"x":1}}`
	var asked []int
	topics := 0
	d := RegisterDecoder{
		Topic: func(*TopicConfig) { topics++ },
		Known: func([]byte) (int, int) { asked = append(asked, topics); return 0, 0 },
	}
	for range 2 {
		asked, topics = nil, 0
		sum, err := d.Decode([]byte(body), V5_5_0, false, 0)
		if err != nil || sum.Topics != 2 || sum.Skipped != 2*many+1 {
			t.Fatalf("%+v, %v", sum, err)
		}
		if !slices.Equal(asked, []int{0, 1}) {
			t.Errorf("asked %d times", len(asked))
		}
	}
}
