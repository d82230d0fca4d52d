package registry

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// restMember registers a REST member with topics of one queue each.
func restMember(t *testing.T, r *Registry, owner, addr string, topics ...string) (Registered, error) {
	t.Helper()
	reg := Registration{MemberInfo: MemberInfo{Cluster: "c", Name: "bridge", Addr: addr, Timeout: time.Minute, Source: FromREST, Owner: owner}, KeepVersion: true}
	if topics != nil {
		reg.Replace, reg.Topics = true, r.Snapshot().NewStatement("c", addr)
		for _, n := range topics {
			reg.Topics.Add(n, TopicConfig{QueueSpec: QueueSpec{1, 1, 6, 0}})
		}
	}
	return r.Register(reg, nil, Cause{Face: "rest"})
}

func mustCode(t *testing.T, err error, code string) {
	t.Helper()
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != code {
		t.Fatalf("got %v, want the code %s", err, code)
	}
}

func TestKeptDataVersionMovesOnlyWithTheTopics(t *testing.T) {
	r := New(Options{})
	steps := []struct {
		topics  []string
		counter int64
	}{
		{nil, 0}, {[]string{"A"}, 1}, {[]string{"A"}, 1}, {[]string{"A", "B"}, 2}, {nil, 2}, {[]string{}, 3}, {[]string{}, 3},
	}
	for i, s := range steps {
		res, err := restMember(t, r, "me", "h:1", s.topics...)
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Live.Version.Counter; got != s.counter {
			t.Errorf("step %d: the counter is %d, want %d", i, got, s.counter)
		}
	}
	if _, err := restMember(t, r, "me", "h:2", "A"); err != nil {
		t.Fatal(err)
	}
	if got := r.Snapshot().Member("bridge", 0); got.Addr != "h:2" || got.Version.Counter != 4 {
		t.Errorf("after a move to another address: %+v", got.MemberInfo)
	}
}

func TestStatementOfRESTForgetsWhatItNoLongerNames(t *testing.T) {
	r := New(Options{})
	for _, topics := range [][]string{{"A", "B"}, {"B"}} {
		if _, err := restMember(t, r, "me", "h:1", topics...); err != nil {
			t.Fatal(err)
		}
	}
	s := r.Snapshot()
	if s.Topic("A") != nil || s.Member("bridge", 0).Lists("A") || !s.Member("bridge", 0).Lists("B") {
		t.Error("the topic that is no longer named is still there")
	}
}

func TestTryTellsWhatRegisterWouldDo(t *testing.T) {
	r := New(Options{})
	if _, err := restMember(t, r, "me", "h:1", "A", "B"); err != nil {
		t.Fatal(err)
	}
	before := r.Snapshot()
	st := before.NewStatement("c", "h:1")
	st.Add("B", TopicConfig{QueueSpec: QueueSpec{2, 2, 6, 0}})
	st.Add("C", TopicConfig{QueueSpec: QueueSpec{1, 1, 6, 0}})
	reg := Registration{
		MemberInfo:  MemberInfo{Cluster: "c", Name: "bridge", Addr: "h:1", Timeout: time.Minute, Source: FromREST, Owner: "me"},
		KeepVersion: true, Replace: true, Topics: st,
	}
	tried, err := r.Try(reg)
	if err != nil {
		t.Fatal(err)
	}
	if r.Snapshot() != before {
		t.Fatal("trying has changed the registry")
	}
	done, err := r.Register(reg, nil, Cause{})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(tried.Created, tried.Changed, tried.NewTopics, tried.ChangedTopics, tried.RemovedTopics, tried.SameTopics, tried.Live.Version.Counter)
	want := fmt.Sprint(done.Created, done.Changed, done.NewTopics, done.ChangedTopics, done.RemovedTopics, done.SameTopics, done.Live.Version.Counter)
	if got != want || want != "false true 1 1 1 0 2" {
		t.Errorf("tried %s, did %s", got, want)
	}
	reg.Owner = "you"
	_, err = r.Try(reg)
	mustCode(t, err, "member-held-by-other")
}

func TestRemoveNeedsTheClaim(t *testing.T) {
	r := New(Options{})
	if _, err := restMember(t, r, "me", "h:1", "A"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Register(Registration{MemberInfo: MemberInfo{Cluster: "c", Name: "real", Addr: "h:2", Timeout: time.Minute}}, nil, Cause{}); err != nil {
		t.Fatal(err)
	}
	_, err := r.Remove("bridge", 0, Claim{Owner: "you"}, Cause{})
	mustCode(t, err, "member-held-by-other")
	_, err = r.Remove("real", 0, Claim{Owner: "you", Any: true}, Cause{})
	mustCode(t, err, "member-held-by-remoting")
	_, err = r.Remove("bridge", 7, Claim{Owner: "me"}, Cause{})
	mustCode(t, err, "member-not-found")
	if n := r.Snapshot().Revision; n != 2 {
		t.Fatalf("refusals have moved the revision to %d", n)
	}
	for name, by := range map[string]Claim{"bridge": {Owner: "me"}, "real": {Owner: "you", Any: true, Force: true}} {
		if _, err := r.Snapshot().WouldRemove(name, 0, by); err != nil {
			t.Error(err)
		}
		if _, err := r.Remove(name, 0, by, Cause{}); err != nil {
			t.Error(err)
		}
	}
	if s := r.Snapshot(); s.TopicCount() != 0 || len(s.Groups()) != 0 {
		t.Error("something is left")
	}
}

func TestAmendLosesNoChange(t *testing.T) {
	r := New(Options{})
	if _, err := restMember(t, r, "me", "h:1", "T"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			_, err := r.Amend("bridge", 0, Claim{Owner: "me"}, func(s *Snapshot, l *Live) (Registration, error) {
				reg := Registration{MemberInfo: l.MemberInfo, Replace: true, KeepVersion: true, Topics: s.NewStatement(l.Cluster, l.Addr)}
				for t, c := range s.BrokerTopics("bridge") {
					reg.Topics.Add(t.Name, c)
				}
				reg.Topics.Add(fmt.Sprint("N", i), TopicConfig{QueueSpec: QueueSpec{1, 1, 6, 0}})
				return reg, nil
			}, Cause{})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := r.Snapshot().BrokerTopicCount("bridge"); n != 9 {
		t.Errorf("%d topics, want 9", n)
	}
	stop := errors.New("no")
	_, err := r.Amend("bridge", 0, Claim{Owner: "me"}, func(*Snapshot, *Live) (Registration, error) { return Registration{}, stop }, Cause{})
	if !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	_, err = r.Amend("bridge", 0, Claim{Owner: "you"}, nil, Cause{})
	mustCode(t, err, "member-held-by-other")
}

func TestRegisterOverWhatWasSeen(t *testing.T) {
	r := New(Options{})
	first, err := restMember(t, r, "me", "h:1", "A")
	if err != nil {
		t.Fatal(err)
	}
	reg := Registration{MemberInfo: first.Live.MemberInfo}
	reg.Zone, reg.HasZone = "z", true
	if _, moved, err := r.RegisterOver(first.Live, reg, Cause{}); moved || err != nil {
		t.Fatalf("moved %v, %v", moved, err)
	}
	at := r.Snapshot()
	if _, moved, err := r.RegisterOver(first.Live, reg, Cause{}); !moved || err != nil || r.Snapshot() != at {
		t.Errorf("over what is no longer there: moved %v, %v", moved, err)
	}
}
