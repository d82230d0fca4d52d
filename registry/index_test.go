package registry

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// item is a value whose hash a test chooses.
type item struct {
	k string
	h uint64
	n int
}

func (i *item) key() string  { return i.k }
func (i *item) hash() uint64 { return i.h }

// TestIndexAgainstMap puts, replaces and removes in an index and in a map, in drafts of
// a few changes, with hashes that share their first bits or are wholly equal. Versions
// made before must stay as they were.
func TestIndexAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Which bits of a name's hash differ at all: few of them, and none, make names
		// share places on every level down to the plain lists.
		mask := rapid.SampledFrom([]uint64{0, 1 << 63, 0b1 << 30, 0b11 << 59, 0x3f, 0xfff, 1<<62 | 1, ^uint64(0)}).Draw(t, "mask")
		hash := func(k string) uint64 {
			h := uint64(14695981039346656037)
			for _, c := range []byte(k) {
				h = (h ^ uint64(c)) * 1099511628211
			}
			return bits.ReverseBytes64(h) & mask
		}
		keys := make([]string, rapid.IntRange(1, 90).Draw(t, "keys"))
		for i := range keys {
			keys[i] = fmt.Sprint("key", i)
		}
		type version struct {
			x index[*item]
			m map[string]*item
		}
		var versions []version
		x, m := index[*item]{}, map[string]*item{}
		for range rapid.IntRange(1, 8).Draw(t, "drafts") {
			o := new(owner)
			for n := range rapid.IntRange(1, 60).Draw(t, "changes") {
				k := rapid.SampledFrom(keys).Draw(t, "key")
				switch rapid.IntRange(0, 4).Draw(t, "what") {
				case 0:
					x.remove(k, hash(k), o)
					delete(m, k)
				case 1:
					// Some of many are replaced, come, go, or stay away.
					var with []*item
					what := map[string]int{}
					for _, k := range rapid.SliceOfDistinct(rapid.SampledFrom(keys), func(k string) string { return k }).Draw(t, "many") {
						with = append(with, &item{k, hash(k), n})
						what[k] = rapid.IntRange(0, 2).Draw(t, "outcome")
					}
					y := newIndex(with, o)
					if err := sameAs(y, with); err != nil {
						t.Fatal(err)
					}
					was := maps.Clone(m)
					merge(&x, y, o, func(old, w *item) *item {
						if old != was[w.k] {
							t.Fatalf("%s is %v, not %v", w.k, old, was[w.k])
						}
						delete(m, w.k)
						if what[w.k] == 0 {
							return nil
						}
						m[w.k] = w
						return w
					})
				default:
					v := &item{k, hash(k), n}
					x.put(v, o)
					m[k] = v
				}
			}
			versions = append(versions, version{x, maps.Clone(m)})
			for i, v := range versions {
				sameIndex(t, fmt.Sprintf("version %d of %d", i, len(versions)), v.x, v.m, keys, hash)
			}
		}
		// Emptied it is as if nothing had ever been there.
		o := new(owner)
		for _, k := range keys {
			x.remove(k, hash(k), o)
		}
		if x.root != nil || x.len() != 0 {
			t.Fatalf("emptied, but %d values and root %v", x.len(), x.root)
		}
	})
}

// sameAs reports what is wrong with an index of these values.
func sameAs(x index[*item], vs []*item) error {
	n := 0
	for v := range x.all() {
		if n++; !slices.Contains(vs, v) {
			return fmt.Errorf("%s is in it", v.k)
		}
	}
	if n != len(vs) || x.len() != n || (x.root == nil) != (n == 0) {
		return fmt.Errorf("yields %d and says %d of %d", n, x.len(), len(vs))
	}
	if x.root != nil {
		return wellFormed(x.root, 0, true)
	}
	return nil
}

func sameIndex(t *rapid.T, what string, x index[*item], m map[string]*item, keys []string, hash func(string) uint64) {
	for _, k := range keys {
		if got := find(x.root, hash(k), k); got != m[k] {
			t.Fatalf("%s: %s is %v, not %v", what, k, got, m[k])
		}
		if got := find(x.root, hash(k), []byte(k)); got != m[k] {
			t.Fatalf("%s: by bytes %s is %v, not %v", what, k, got, m[k])
		}
	}
	seen := map[string]*item{}
	for v := range x.all() {
		if seen[v.k] != nil {
			t.Fatalf("%s: %s comes twice", what, v.k)
		}
		seen[v.k] = v
	}
	if !maps.Equal(seen, m) || x.len() != len(m) {
		t.Fatalf("%s: yields %d, says %d, has %d", what, len(seen), x.len(), len(m))
	}
	if x.root != nil {
		if err := wellFormed(x.root, 0, true); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// wellFormed returns what is wrong with a node: a place with two things or another number
// of things than bits, or a node below the root that has too little to be one.
func wellFormed[V keyed](n *node[V], shift uint, root bool) error {
	if shift > maxShift {
		if n.has|n.deep != 0 || len(n.kids) > 0 || len(n.vals) < 2 && !root {
			return fmt.Errorf("a list of equal hashes with %d values and %d nodes", len(n.vals), len(n.kids))
		}
		return nil
	}
	if n.has&n.deep != 0 || bits.OnesCount64(n.has) != len(n.vals) || bits.OnesCount64(n.deep) != len(n.kids) {
		return fmt.Errorf("places %x and %x for %d values and %d nodes", n.has, n.deep, len(n.vals), len(n.kids))
	}
	if !root && len(n.kids) == 0 && len(n.vals) < 2 {
		return fmt.Errorf("a node with %d values at %d", len(n.vals), shift)
	}
	for _, v := range n.vals {
		if n.has&(1<<(v.hash()>>shift&levelMask)) == 0 {
			return fmt.Errorf("%s stands in a foreign place", v.key())
		}
	}
	for _, k := range n.kids {
		if err := wellFormed(k, shift+levelBits, false); err != nil {
			return err
		}
	}
	return nil
}

// TestIndexStopsYielding leaves a loop over an index in the middle.
func TestIndexStopsYielding(t *testing.T) {
	x, o := index[*item]{}, new(owner)
	for i := range 300 {
		k := fmt.Sprint(i)
		x.put(&item{k: k, h: hashString(k)}, o)
	}
	for stop := 1; stop <= 300; stop += 13 {
		n := 0
		for range x.all() {
			if n++; n == stop {
				break
			}
		}
		if n != stop {
			t.Fatalf("stopped at %d, not %d", n, stop)
		}
	}
}

// TestIndexSharesWhatDoesNotChange counts the nodes that a change of one of many makes.
func TestIndexSharesWhatDoesNotChange(t *testing.T) {
	x, o := index[*item]{}, new(owner)
	for i := range 100_000 {
		k := fmt.Sprint(i)
		x.put(&item{k: k, h: hashString(k)}, o)
	}
	before := nodes(x.root, nil)
	y := x
	y.put(&item{k: "7", h: hashString("7"), n: 1}, new(owner))
	fresh := 0
	for n := range nodes(y.root, nil) {
		if _, shared := before[n]; !shared {
			fresh++
		}
	}
	if fresh < 1 || fresh > 6 {
		t.Errorf("changing one of 100,000 made %d of %d nodes", fresh, len(before))
	}
	if v := x.get("7"); v.n != 0 {
		t.Errorf("the version before has changed")
	}
}

func nodes[V keyed](n *node[V], to map[*node[V]]struct{}) map[*node[V]]struct{} {
	if to == nil {
		to = make(map[*node[V]]struct{})
	}
	to[n] = struct{}{}
	for _, k := range n.kids {
		nodes(k, to)
	}
	return to
}

// TestNamesThatLookAlike registers topics and brokers whose names differ only where a
// careless key would not.
func TestNamesThatLookAlike(t *testing.T) {
	b := newBed(t)
	names := []string{"", "\x00", "a", "a\x00", "a\x00b", "%RETRY%g", "%retry%g", "ä", "a\u0308", "\xff", "T\nU"}
	st := b.Snapshot().NewStatement("c", "x")
	for _, n := range names {
		st.Add(n, TopicConfig{QueueSpec: QueueSpec{1, 1, 6, 0}})
	}
	for i, at := range [][2]string{{"c", "x"}, {"c\x00x", "y"}, {"c", "x\x00y"}, {"c\x00", "x"}} {
		reg := Registration{MemberInfo: MemberInfo{Cluster: at[0], Addr: at[1], Name: fmt.Sprint("b", i), Timeout: DefaultTimeout}, Topics: st}
		if _, err := b.Register(reg, nil, Cause{}); err != nil {
			t.Fatal(err)
		}
	}
	got := slices.Clone(b.Snapshot().TopicNames())
	slices.Sort(names)
	if !slices.Equal(got, names) {
		t.Errorf("topics %q, not %q", got, names)
	}
	for i := range 4 {
		b.want(fmt.Sprintf("group %d", i), fmt.Sprint(b.Snapshot().Group(fmt.Sprint("b", i)) != nil), "true")
	}
}
