package warmfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fingerpost/internal/warmfile"
	"fingerpost/registry"
)

// full returns a registry that holds something of everything.
func full(t testing.TB) *registry.Registry {
	t.Helper()
	r := registry.New(registry.Options{})
	for id := range int64(3) {
		addr := fmt.Sprint("10.0.0.1:", id)
		reg := registry.Registration{
			MemberInfo: registry.MemberInfo{
				Cluster: "c", Name: "b", ID: id, Addr: addr, HAAddr: "h", HasHA: true, Timeout: time.Minute, Zone: "z", HasZone: true,
				Version: registry.DataVersion{State: 1, Timestamp: 2, Counter: 3}, Acting: registry.ActingOn, PeerVersion: 479, Language: "JAVA",
			},
			Filters: []string{"f:1"}, HasFilters: true, Topics: r.Snapshot().NewStatement("c", addr),
			Mappings: []*registry.Mapping{{Topic: "T0", Broker: "b", TotalQueues: 4, Epoch: 5, Scope: "s", HasScope: true, CurrIDs: []registry.QueueID{{Logical: 1, Physical: 2}}}},
		}
		for i := range 3 {
			reg.Topics.Add(fmt.Sprint("T", i), registry.TopicConfig{
				QueueSpec: registry.QueueSpec{ReadQueues: 4, WriteQueues: 4, Perm: 6, SysFlag: int32(i)}, Order: i == 1, MultiTag: i == 2, Attributes: "a=b",
			})
		}
		if _, err := r.Register(reg, nil, registry.Cause{}); err != nil {
			t.Fatal(err)
		}
	}
	r.WipeWritePerm("b", registry.Cause{Face: "rest", Actor: "me"})
	return r
}

func dump(t testing.TB, r *registry.Registry) string {
	t.Helper()
	var b strings.Builder
	if err := r.Snapshot().Dump(&b); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(b.String(), "\n") // the revision
	return rest
}

func TestWrittenAndRead(t *testing.T) {
	r := full(t)
	at := time.Date(2025, 11, 29, 6, 0, 0, 123, time.UTC)
	data, err := warmfile.Encode(r.Snapshot().Image(), at)
	if err != nil {
		t.Fatal(err)
	}
	if err := warmfile.Check(data); err != nil {
		t.Error(err)
	}
	img, taken, err := warmfile.Decode(data)
	if err != nil || !taken.Equal(at) {
		t.Fatalf("taken %v, %v", taken, err)
	}
	n := registry.New(registry.Options{})
	if err := n.Restore(img, 0, registry.Cause{}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(dump(t, r), dump(t, n)); d != "" {
		t.Error(d)
	}
	if a, b := r.Snapshot().Digests(), n.Snapshot().Digests(); a != b {
		t.Errorf("digests %+v became %+v", a, b)
	}
	a, b := r.Snapshot().Wiped("b"), n.Snapshot().Wiped("b")
	if b == nil || a.Cause != b.Cause || !a.At.Equal(b.At) {
		t.Errorf("the wipe %+v became %+v", a, b)
	}
}

// Every beginning of a file and every file with one wrong byte is refused.
func TestEveryDamageIsSeen(t *testing.T) {
	data, err := warmfile.Encode(full(t).Snapshot().Image(), time.Unix(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	for n := range data {
		if err := warmfile.Check(data[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes are taken for whole", n, len(data))
		}
		bad := bytes.Clone(data)
		bad[n] ^= 0x10
		if err := warmfile.Check(bad); err == nil {
			t.Fatalf("a wrong byte at %d is not seen", n)
		}
		if _, _, err := warmfile.Decode(bad); err == nil {
			t.Fatalf("a wrong byte at %d is read", n)
		}
	}
	if err := warmfile.Check(append(bytes.Clone(data), 'x')); err == nil {
		t.Error("a byte more is not seen")
	}
}

func TestRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "no such file",
		"x":                               "no such file",
		"fingerpost-registry 1 1 1 1":     "not whole",
		"fingerpost-registry one\n":       "first line is broken",
		"fingerpost-registry 2 1 1 00\nx": "another version: 2, not 1",
		"fingerpost-registry 1 1 9 00\nx": "it has 1 bytes where 9 should be",
		"fingerpost-registry 1 1 1 00\nx": "checksum is wrong",
		"fingerpost-registry " + strings.Repeat("1 ", 1000): "not whole",
	} {
		if err := warmfile.Check([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
	if err := warmfile.Check([]byte("fingerpost-registry 2 1 1 00\nx")); !errors.Is(err, warmfile.ErrVersion) {
		t.Errorf("another version: %v", err)
	}
}

// Whatever stands behind a right checksum, reading it ends with an error or with an image
// that a registry takes or refuses.
func FuzzDecode(f *testing.F) {
	data, err := warmfile.Encode(full(f).Snapshot().Image(), time.Unix(1, 2))
	if err != nil {
		f.Fatal(err)
	}
	_, body, _ := bytes.Cut(data, []byte("\n"))
	f.Add(body)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		img, _, err := warmfile.Decode(warmfile.Seal(body))
		if err != nil {
			return
		}
		r := registry.New(registry.Options{})
		if err := r.Restore(img, 0, registry.Cause{}); err != nil && r.Snapshot().Revision != 0 {
			t.Errorf("refused with %v, but revision %d", err, r.Snapshot().Revision)
		}
		if err := r.Snapshot().Dump(new(strings.Builder)); err != nil {
			t.Error(err)
		}
	})
}
