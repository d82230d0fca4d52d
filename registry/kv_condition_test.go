package registry

import "testing"

func TestKVConditions(t *testing.T) {
	r := New(Options{KV: KV{"n": {"old": "1"}}})
	zero, other := uint64(0), uint64(9)
	refused := []struct {
		key  string
		when KVCondition
	}{
		{"old", KVCondition{Absent: true}},
		{"new", KVCondition{Present: true}},
		{"old", KVCondition{Revision: &other}},
		{"new", KVCondition{Revision: &zero}},
	}
	for _, x := range refused {
		_, _, err := r.PutKV("n", x.key, "2", x.when, Cause{})
		mustCode(t, err, "precondition-failed")
		_, err = r.DeleteKV("n", x.key, x.when, Cause{})
		mustCode(t, err, "precondition-failed")
	}
	if r.Snapshot().Revision != 0 {
		t.Fatal("a refusal has changed something")
	}
	e, created, err := r.PutKV("n", "old", "2", KVCondition{Revision: &zero}, Cause{})
	if err != nil || created || e.Revision != 1 {
		t.Errorf("got %+v %v %v", e, created, err)
	}
	if removed, err := r.DeleteKV("n", "old", KVCondition{Present: true, Revision: &e.Revision}, Cause{}); !removed || err != nil {
		t.Errorf("got %v %v", removed, err)
	}
}
