package wire

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// decodedTopics is all that a decoder hands out.
type decodedTopics struct {
	Topics  []TopicConfig
	Summary RegisterSummary
	Err     string
}

func decodeBoth(body []byte) (usual, lenient decodedTopics) {
	decode := func(never bool) (out decodedTopics) {
		d := RegisterDecoder{neverUsual: never, Topic: func(t *TopicConfig) {
			c := *t
			c.Attributes = slices.Clone(t.Attributes)
			out.Topics = append(out.Topics, c)
		}}
		var err error
		if out.Summary, err = d.Decode(body, V5_5_0, false, 1); err != nil {
			out.Err = err.Error()
		}
		return out
	}
	return decode(false), decode(true)
}

var usualBodies = []string{
	`{"topicConfigSerializeWrapper":{"topicConfigTable":{"A":{"attributes":{},"order":false,"perm":6,"readQueueNums":8,"topicFilterType":"SINGLE_TAG","topicName":"A","topicSysFlag":0,"writeQueueNums":4}}}}`,
	`{"topicConfigSerializeWrapper":{"topicConfigTable":{"A":{"attributes":{"+message.type":"FIFO"},"order":true,"perm":7,"readQueueNums":1024,"topicFilterType":"SINGLE_TAG","topicName":"%RETRY%g","topicSysFlag":3,"writeQueueNums":999999999},"B":{"order":false,"perm":6,"readQueueNums":8,"topicFilterType":"SINGLE_TAG","topicName":"B","topicSysFlag":0,"writeQueueNums":8}}}}`,
	`{"topicConfigSerializeWrapper":{"topicConfigTable":{"A":{"attributes":{"a":""},"order":false,"perm":6,"readQueueNums":08,"topicFilterType":"SINGLE_TAG","topicName":"A","topicSysFlag":0,"writeQueueNums":4}}}}`,
	`{"topicConfigSerializeWrapper":{"topicConfigTable":{"A":{"attributes":{"":"x"},"order":false,"perm":6,"readQueueNums":2147483648,"topicFilterType":"SINGLE_TAG","topicName":"","topicSysFlag":0,"writeQueueNums":4}}}}`,
	`{"topicConfigSerializeWrapper":{"topicConfigTable":{"A":{"attributes":{"a":"b","a":"c"},"order":false,"perm":-6,"readQueueNums":8,"topicFilterType":"MULTI_TAG","topicName":"A\"","topicSysFlag":0,"writeQueueNums":4}}}}`,
	`{"topicConfigSerializeWrapper":{"topicConfigTable":{"A":{"order":false,"perm":6,"readQueueNums":8,"topicFilterType":"SINGLE_TAG","topicName":"A","topicSysFlag":0,"writeQueueNums":4 }}}}`,
	`{"topicConfigSerializeWrapper":{"topicConfigTable":{"A":{"order":false,"perm":6,"readQueueNums":8,"topicFilterType":"SINGLE_TAG","topicName":"A","topicSysFlag":0,"writeQueueNums":4`,
}

func TestUsualTopicsReadAsAny(t *testing.T) {
	for _, body := range usualBodies {
		usual, lenient := decodeBoth([]byte(body))
		if diff := cmp.Diff(lenient, usual); diff != "" {
			t.Errorf("%s\n%s", body, diff)
		}
	}
	if usual, _ := decodeBoth([]byte(usualBodies[1])); len(usual.Topics) != 2 || usual.Topics[0].Name != "%RETRY%g" || usual.Topics[0].Attributes[0].Value != "FIFO" {
		t.Errorf("read %+v", usual)
	}
}

// FuzzUsualTopic holds the reader of the usual form against the one that reads any.
func FuzzUsualTopic(f *testing.F) {
	for _, body := range usualBodies {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		usual, lenient := decodeBoth(body)
		if diff := cmp.Diff(lenient, usual); diff != "" {
			t.Errorf("%q\n%s", body, diff)
		}
	})
}
