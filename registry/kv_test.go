package registry

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUnsavedKeyChangesNothing lets the disk fail: the old value stands, nobody hears of
// anything, and the next change that can be saved is saved whole.
func TestUnsavedKeyChangesNothing(t *testing.T) {
	full := errors.New("no space left")
	var fail error
	var disk KV
	b := makeBed(t, Options{KV: KV{"N": {"k": "old"}}, SaveKV: func(kv KV) error {
		if fail == nil {
			disk = kv
		}
		return fail
	}})
	_, sub := b.Subscribe(5)
	defer sub.Close()
	before := b.Snapshot()
	fail = full
	e, created, err := b.PutKV("N", "k", "new", KVCondition{}, Cause{})
	if KindOf(err) != Unsaved || !errors.Is(err, full) || created || e.Value != "old" {
		t.Errorf("put: %+v, %v, %v", e, created, err)
	}
	if e, created, err := b.PutKV("M", "k", "new", KVCondition{}, Cause{}); KindOf(err) != Unsaved || created || e != (KVEntry{}) {
		t.Errorf("put into a new namespace: %+v, %v, %v", e, created, err)
	}
	if removed, err := b.DeleteKV("N", "k", KVCondition{}, Cause{}); KindOf(err) != Unsaved || removed {
		t.Errorf("delete: %v, %v", removed, err)
	}
	if b.Snapshot() != before || len(collect(sub)) != 0 {
		t.Errorf("at revision %d:\n%s", b.Snapshot().Revision, b.dump())
	}
	fail = nil
	if _, _, err := b.PutKV("N", "j", "x", KVCondition{}, Cause{}); err != nil {
		t.Fatal(err)
	}
	if want := (KV{"N": {"k": "old", "j": "x"}}); cmp.Diff(want, disk) != "" || cmp.Diff(want, b.Snapshot().AllKV()) != "" {
		t.Errorf("on disk %v, in the registry %v", disk, b.Snapshot().AllKV())
	}
	check(t, b.Registry)
}

// TestKeyIsSavedBeforeItIsSeen looks from the disk's side at what can be seen meanwhile,
// and registers a broker while a save takes its time.
func TestKeyIsSavedBeforeItIsSeen(t *testing.T) {
	var b *bed
	saves := 0
	b = makeBed(t, Options{SaveKV: func(kv KV) error {
		saves++
		if _, set := b.Snapshot().KV("N", "k"); set || kv["N"]["k"] != "v" {
			t.Errorf("while saving %v the registry has %v", kv, b.Snapshot().AllKV())
		}
		// Would wait for ever if saving kept the writer's lock.
		b.must(broker{cluster: "c", name: "a", addr: "@a", topics: "T U"}, "")
		kv["N"]["k"] = "spoilt"
		return nil
	}})
	for range 3 {
		if _, _, err := b.PutKV("N", "k", "v", KVCondition{}, Cause{}); err != nil {
			t.Fatal(err)
		}
	}
	if e, _ := b.Snapshot().KV("N", "k"); e.Value != "v" || e.Revision != 2 || saves != 1 {
		t.Errorf("the key is %+v after %d saves", e, saves)
	}
	check(t, b.Registry)
}

// TestKeysPutAtOnceAreAllSaved lets many write: one save at a time, each with all of what
// was answered before, and conditions let exactly one win.
func TestKeysPutAtOnceAreAllSaved(t *testing.T) {
	var saving atomic.Int32
	var disk KV
	b := makeBed(t, Options{SaveKV: func(kv KV) error {
		if saving.Add(1) != 1 {
			t.Error("two saves at once")
		}
		for ns, m := range disk {
			for k := range m {
				if _, kept := kv[ns][k]; !kept {
					t.Errorf("%s %s was saved before and is lost", ns, k)
				}
			}
		}
		disk = kv
		saving.Add(-1)
		return nil
	}})
	var wg sync.WaitGroup
	var won atomic.Int32
	for w := range 8 {
		wg.Go(func() {
			for i := range 20 {
				if _, _, err := b.PutKV(fmt.Sprint("N", i%3), fmt.Sprint(w, "-", i), "v", KVCondition{}, Cause{}); err != nil {
					t.Error(err)
				}
			}
			if _, _, err := b.PutKV("lock", "k", fmt.Sprint(w), KVCondition{Absent: true}, Cause{}); err == nil {
				won.Add(1)
			} else if KindOf(err) != Conflict {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	n := 0
	for _, m := range disk {
		n += len(m)
	}
	if n != 8*20+1 || won.Load() != 1 || cmp.Diff(disk, b.Snapshot().AllKV()) != "" {
		t.Errorf("%d keys on disk, %d won", n, won.Load())
	}
	check(t, b.Registry)
}

// TestKeyConditions puts and deletes under conditions.
func TestKeyConditions(t *testing.T) {
	b := newBed(t)
	at := func(n uint64) *uint64 { return &n }
	put := func(value string, when KVCondition) (KVEntry, error) {
		e, _, err := b.PutKV("N", "k", value, when, Cause{})
		return e, err
	}
	if _, err := put("a", KVCondition{Revision: at(1)}); KindOf(err) != Conflict {
		t.Errorf("changed though it is not there: %v", err)
	}
	e, err := put("a", KVCondition{Absent: true})
	if err != nil || e.Revision != 1 {
		t.Fatalf("%+v, %v", e, err)
	}
	if old, err := put("b", KVCondition{Absent: true}); KindOf(err) != Conflict || old != e {
		t.Errorf("put though it is there: %+v, %v", old, err)
	}
	b.change(1) // another key of the namespace
	if e, err = put("b", KVCondition{Revision: at(e.Revision)}); err != nil || e.Value != "b" {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := put("b", KVCondition{Revision: at(1)}); KindOf(err) != Conflict {
		t.Errorf("an outdated condition holds for an equal value: %v", err)
	}
	if same, err := put("b", KVCondition{}); err != nil || same != e {
		t.Errorf("an equal value gives %+v, %v", same, err)
	}
	if _, err := b.DeleteKV("N", "k", KVCondition{Revision: at(1)}, Cause{}); KindOf(err) != Conflict {
		t.Errorf("deleted in another state: %v", err)
	}
	if removed, err := b.DeleteKV("N", "k", KVCondition{Revision: at(e.Revision)}, Cause{}); err != nil || !removed {
		t.Errorf("removed: %v, %v", removed, err)
	}
	for _, x := range [][2]string{{"", "k"}, {"N", ""}} {
		_, _, err := b.PutKV(x[0], x[1], "v", KVCondition{}, Cause{})
		var refusal *Error
		if !errors.As(err, &refusal) || refusal.Kind != Invalid || refusal.Field == "" {
			t.Errorf("%q: %v", x, err)
		}
	}
}

// TestKeyTableIsACopy changes what was handed out and what was handed in.
func TestKeyTableIsACopy(t *testing.T) {
	in := KV{"N": {"k": "v"}, "empty": {}}
	b := makeBed(t, Options{KV: in})
	in["N"]["k"] = "spoilt"
	s := b.Snapshot()
	all := s.AllKV()
	all["N"]["k"], all["M"] = "spoilt", nil
	m, err := s.KVNamespace("N")
	if err != nil {
		t.Fatal(err)
	}
	m["k"] = KVEntry{Value: "spoilt"}
	if d := cmp.Diff(KV{"N": {"k": "v"}, "empty": {}}, s.AllKV()); d != "" {
		t.Error(d)
	}
	if _, err := s.KVNamespace("M"); KindOf(err) != NotFound {
		t.Errorf("an unknown namespace: %v", err)
	}
	if m, err := s.KVNamespace("empty"); err != nil || len(m) != 0 {
		t.Errorf("an empty namespace: %v, %v", m, err)
	}
	if got := fmt.Sprint(s.KVNamespaces()); got != "[N empty]" {
		t.Errorf("namespaces %s", got)
	}
	// The table before a change is still the one before it.
	b.change(1)
	if maps.Equal(s.AllKV()["N"], b.Snapshot().AllKV()["N"]) {
		t.Error("both snapshots have the same table")
	}
}
