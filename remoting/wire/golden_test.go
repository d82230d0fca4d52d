package wire

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recorded is one line of testdata/frames/frames.jsonl; see the README beside it.
type recorded struct {
	File, Server, Scenario, Dir string
	Seq                         int
	Asked                       RequestCode
	Undecodable                 bool
	Frame                       string
	bytes                       []byte
}

func (r *recorded) String() string {
	return fmt.Sprintf("%s:%d %s %d %s", r.File, r.Seq, r.Dir, r.Asked, r.Scenario)
}

func recordedFrames(tb testing.TB) []*recorded {
	tb.Helper()
	file, err := os.Open("testdata/frames/frames.jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	var all []*recorded
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		r := &recorded{}
		if err := json.Unmarshal(lines.Bytes(), r); err != nil {
			tb.Fatal(err)
		}
		if r.bytes, err = hex.DecodeString(r.Frame); err != nil {
			tb.Fatal(err)
		}
		all = append(all, r)
	}
	if err := lines.Err(); err != nil || len(all) < 300 {
		tb.Fatalf("%d recorded frames, %v", len(all), err)
	}
	return all
}

// Every recorded frame that real programs sent decodes, and what Java wrote is written
// again byte for byte.
func TestRecordedHeaders(t *testing.T) {
	again := 0
	for _, r := range recordedFrames(t) {
		if r.Undecodable {
			if f, size, ok, err := SplitFrame(r.bytes, FrameLimits{}); err == nil && ok {
				if err := (&Command{}).Decode(f); err == nil {
					t.Errorf("%v: broken bytes were read (%d)", r, size)
				}
			}
			continue
		}
		f := split(t, r.bytes)
		var c Command
		if err := c.Decode(f); err != nil {
			t.Errorf("%v: %v", r, err)
			continue
		}
		if c.IsResponse() != (r.Dir == "resp") {
			t.Errorf("%v: flag %d", r, c.Flag)
		}
		if !c.IsResponse() && RequestCode(c.Code) != r.Asked {
			t.Errorf("%v: code %d", r, c.Code)
		}
		if c.NoOpaque {
			t.Errorf("%v: without opaque", r)
		}
		if c.Language != Java {
			continue // written by a script, in an order of its own
		}
		got, err := c.AppendTo(nil, f.Type)
		if err != nil {
			t.Errorf("%v: %v", r, err)
		}
		if diff := cmp.Diff(string(r.bytes), string(got)); diff != "" {
			t.Errorf("%v (-recorded +written):\n%s", r, diff)
		}
		again++
	}
	if again < 150 {
		t.Errorf("only %d frames were written again", again)
	}
}

// bodyCheck reads a body and writes it again; exact says whether the two must be the
// same bytes.
type bodyCheck func(r *recorded, c *Command) (again []byte, exact bool, err error)

var javaNull = regexp.MustCompile(`\[null|,null`)

// What the decoders make of every recorded body, and that the exact writers write
// what the Java NameServer 5.5.0 wrote.
func TestRecordedBodies(t *testing.T) {
	topicList := func(_ *recorded, c *Command) ([]byte, bool, error) {
		l, err := DecodeTopicList(c.Body)
		if err != nil {
			return nil, false, err
		}
		return l.AppendJSON(nil), true, nil
	}
	kvTable := func(_ *recorded, c *Command) ([]byte, bool, error) {
		kvs, err := DecodeKVTable(c.Body)
		return AppendKVTable(nil, kvs), true, err
	}
	dataVersion := func(_ *recorded, c *Command) ([]byte, bool, error) {
		v, ok, err := DecodeDataVersion(c.Body, 0)
		if err == nil && !ok {
			err = fmt.Errorf("no data version in %q", c.Body)
		}
		// Brokers of 4.x have no state version.
		return v.AppendJSON(nil), strings.Contains(string(c.Body), "stateVersion"), err
	}
	answers := map[RequestCode]bodyCheck{
		RegisterBroker:       kvTable,
		GetKVListByNamespace: kvTable,
		QueryDataVersion:     dataVersion,
		GetRouteInfoByTopic: func(r *recorded, c *Command) ([]byte, bool, error) {
			route, err := DecodeRoute(c.Body)
			if err != nil {
				return nil, false, err
			}
			d := Legacy
			if strings.Contains(string(c.Body), `{"0":`) {
				d = Strict
			}
			return route.AppendJSON(nil, d), r.Server == "5.5.0", nil
		},
		GetBrokerClusterInfo: func(r *recorded, c *Command) ([]byte, bool, error) {
			info, err := DecodeClusterInfo(c.Body)
			if err != nil {
				return nil, false, err
			}
			// The list of a cluster that a broker without a name joined holds a null.
			return info.AppendJSON(nil), r.Server == "5.5.0" && !javaNull.Match(c.Body), nil
		},
		GetBrokerMemberGroup: func(_ *recorded, c *Command) ([]byte, bool, error) {
			g, err := DecodeMemberGroup(c.Body)
			if err != nil {
				return nil, false, err
			}
			return g.AppendJSON(nil), true, nil
		},
		GetAllTopicListFromNamesrv:   topicList,
		GetTopicsByCluster:           topicList,
		GetSystemTopicListFromNS:     topicList,
		GetUnitTopicList:             topicList,
		GetHasUnitSubTopicList:       topicList,
		GetHasUnitSubUnunitTopicList: topicList,
	}
	seen := map[RequestCode]int{}
	for _, r := range recordedFrames(t) {
		check := answers[r.Asked]
		if r.Dir != "resp" || check == nil {
			continue
		}
		c := decode(t, r.bytes)
		if c.Body == nil {
			continue
		}
		got, exact, err := check(r, c)
		if err != nil {
			t.Errorf("%v: %v", r, err)
			continue
		}
		if exact {
			seen[r.Asked]++
			if diff := cmp.Diff(string(c.Body), string(got)); diff != "" {
				t.Errorf("%v (-recorded +written):\n%s", r, diff)
			}
		}
	}
	for code := range answers {
		if seen[code] == 0 {
			t.Errorf("no answer to %s was written again", code)
		}
	}
}

// Every recorded registration decodes into the topics that a plain reading of its
// JSON gives, and its checksum fits.
func TestRecordedRegistrations(t *testing.T) {
	plain, compressed := 0, 0
	for _, r := range recordedFrames(t) {
		if r.Asked != RegisterBroker || r.Dir != "req" {
			continue
		}
		c := decode(t, r.bytes)
		h := c.Ext.RegisterBrokerHeader()
		if want := h.BodyCRC.Value; want != 0 && want != int64(BodyCRC(c.Body)) && !strings.Contains(r.Scenario, "sum") && !strings.Contains(r.Scenario, "crc") {
			t.Errorf("%v: checksum %d, of the body %d", r, want, BodyCRC(c.Body))
		}
		got := map[string]TopicConfig{}
		d := RegisterDecoder{
			Topic: func(t *TopicConfig) {
				kept := *t
				kept.Attributes = append([]Field(nil), t.Attributes...)
				got[t.Name] = kept
			},
			Mapping: func(string, *TopicMapping) {},
		}
		sum, err := d.Decode(c.Body, c.Version, h.Compressed, 0)
		if strings.Contains(r.Scenario, "no JSON") {
			if err == nil {
				t.Errorf("%v: was read", r)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", r, err)
			continue
		}
		if isZlib(c.Body) {
			compressed++
			if sum.Inflated == 0 || len(got) == 0 || got["DefaultCluster"].Perm != 7 {
				t.Errorf("%v: %d bytes, topics %v", r, sum.Inflated, got)
			}
			continue
		}
		if len(c.Body) == 0 {
			continue
		}
		plain++
		want, dv := plainTopics(t, r, c.Body)
		if diff := cmp.Diff(want, got, cmp.Transformer("empty", func(f []Field) Fields { return append(Fields{}, f...) })); diff != "" {
			t.Errorf("%v: topics (-want +got):\n%s", r, diff)
		}
		if sum.DataVersion != dv {
			t.Errorf("%v: data version %+v, want %+v", r, sum.DataVersion, dv)
		}
	}
	if plain < 10 || compressed < 2 {
		t.Errorf("%d plain and %d compressed registrations", plain, compressed)
	}
}

var bareKey = regexp.MustCompile(`([{,])(-?\d+):`)

// plainTopics reads a registration with the standard library.
func plainTopics(t *testing.T, r *recorded, body []byte) (map[string]TopicConfig, DataVersion) {
	t.Helper()
	var doc struct {
		Wrapper struct {
			DataVersion DataVersion
			Topics      map[string]struct {
				TopicName                           string
				ReadQueueNums, WriteQueueNums, Perm int32
				TopicSysFlag                        int32
				Order                               bool
				Attributes                          map[string]string
				TopicFilterType                     string
			} `json:"topicConfigTable"`
		} `json:"topicConfigSerializeWrapper"`
	}
	if err := json.Unmarshal(bareKey.ReplaceAll(body, []byte(`$1"$2":`)), &doc); err != nil {
		t.Fatalf("%v: %v", r, err)
	}
	topics := map[string]TopicConfig{}
	for _, c := range doc.Wrapper.Topics {
		topic := TopicConfig{
			Name: c.TopicName, ReadQueues: c.ReadQueueNums, WriteQueues: c.WriteQueueNums, Perm: c.Perm,
			SysFlag: c.TopicSysFlag, Order: c.Order,
		}
		for k, v := range c.Attributes {
			topic.Attributes = append(topic.Attributes, Field{k, v})
		}
		if len(topic.Attributes) > 1 {
			t.Fatalf("%v: sort the attributes here", r)
		}
		if topic.FilterType, _ = filterOf([]byte(c.TopicFilterType)); topic.FilterType == UnknownFilter {
			t.Fatalf("%v: filter type %q", r, c.TopicFilterType)
		}
		topics[topic.Name] = topic
	}
	return topics, doc.Wrapper.DataVersion
}
