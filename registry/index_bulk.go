package registry

import (
	"math/bits"
	"runtime"
	"slices"
)

// newIndex returns an index of values of distinct names. Each node is made once and with the
// room that it needs, so that a long list costs a fraction of what putting its values one
// by one would.
func newIndex[V keyed](vs []V, o *owner) index[V] {
	if len(vs) == 0 {
		return index[V]{}
	}
	// The hashes stand beside the values, which lie anywhere in memory.
	all := make([]hashed[V], len(vs))
	for i, v := range vs {
		all[i] = hashed[V]{v.hash(), v}
	}
	return index[V]{root: newNode(all, 0, o), n: len(vs)}
}

type hashed[V keyed] struct {
	h uint64
	v V
}

func newNode[V keyed](all []hashed[V], shift uint, o *owner) *node[V] {
	n := &node[V]{own: o}
	if shift > maxShift {
		n.vals = make([]V, len(all))
		for i, x := range all {
			n.vals[i] = x.v
		}
		return n
	}
	var counts [1 << levelBits]int
	for _, x := range all {
		counts[x.h>>shift&levelMask]++
	}
	for place, c := range counts {
		switch {
		case c == 1:
			n.has |= 1 << place
		case c > 1:
			n.deep |= 1 << place
		}
	}
	if n.has != 0 {
		n.vals = make([]V, 0, bits.OnesCount64(n.has))
	}
	if n.deep != 0 {
		n.kids = make([]*node[V], 0, bits.OnesCount64(n.deep))
	}
	sortByPlace(all, &counts, shift)
	for begin := 0; begin < len(all); {
		place := all[begin].h >> shift & levelMask
		end := begin + counts[place]
		if end-begin == 1 {
			n.vals = append(n.vals, all[begin].v)
		} else {
			n.kids = append(n.kids, newNode(all[begin:end], shift+levelBits, o))
		}
		begin = end
	}
	return n
}

// sortByPlace orders values by their place in a node at shift, of which counts says how
// many have each.
func sortByPlace[V keyed](all []hashed[V], counts *[1 << levelBits]int, shift uint) {
	var next, ends [1 << levelBits]int
	sum := 0
	for place, c := range counts {
		next[place] = sum
		sum += c
		ends[place] = sum
	}
	// Each value is swapped to the next free position of its place, until the one that
	// comes back belongs where it is.
	for place := range ends {
		for next[place] < ends[place] {
			x := all[next[place]]
			at := x.h >> shift & levelMask
			if int(at) != place {
				all[next[at]], all[next[place]] = x, all[next[at]]
			}
			next[at]++
		}
	}
}

// merge puts into x, for each value w of y, what f makes of x's value of w's name and of w.
// f gets the zero V where x has none, and returns it for a name that x is not to have. The
// two are walked node beside node, so that no name is looked for.
func merge[V, W keyed](x *index[V], y index[W], o *owner, f func(old V, w W) V) {
	if y.root == nil {
		return
	}
	if x.root == nil {
		x.root = &node[V]{own: o}
	}
	m := merger[V, W]{o: o}
	calls := 0
	m.f = func(old V, w W) V {
		if calls++; calls%yieldEvery == 0 {
			runtime.Gosched()
		}
		return f(old, w)
	}
	x.root = m.node(x.root, y.root, 0)
	if x.n += m.more; x.n == 0 {
		x.root = nil
	}
}

// yieldEvery is after how many values a merge lets others run. Of a few processors one may
// be collecting garbage, and the other is this one: whoever looks something up would wait
// for milliseconds. A thousand values take some tenths of one.
const yieldEvery = 1024

type merger[V, W keyed] struct {
	o    *owner
	f    func(V, W) V
	more int // values that came, less those that went
}

func (m *merger[V, W]) node(n *node[V], with *node[W], shift uint) *node[V] {
	if shift > maxShift {
		for _, w := range with.vals {
			n = m.below(n, w, shift)
		}
		return n
	}
	n = n.mine(m.o)
	if len(n.vals) == 0 && len(n.kids) == 0 {
		n.vals = make([]V, 0, len(with.vals))
		n.kids = make([]*node[V], 0, len(with.kids))
	}
	for places := with.has | with.deep; places != 0; places &= places - 1 {
		bit := places & -places
		if with.has&bit != 0 {
			m.value(n, bit, with.vals[bits.OnesCount64(with.has&(bit-1))], shift)
		} else {
			m.deeper(n, bit, with.kids[bits.OnesCount64(with.deep&(bit-1))], shift)
		}
	}
	return n
}

// value merges one value that stands at a place of the other node.
func (m *merger[V, W]) value(n *node[V], bit uint64, w W, shift uint) {
	var none V
	if n.deep&bit != 0 {
		k := bits.OnesCount64(n.deep & (bit - 1))
		n.setKid(k, bit, m.below(n.kids[k], w, shift+levelBits))
		return
	}
	at := bits.OnesCount64(n.has & (bit - 1))
	if n.has&bit == 0 || n.vals[at].key() != w.key() {
		if v := m.f(none, w); v != none {
			n.put(v, v.hash(), shift, m.o) // n is the owner's, and stays where it is
			m.more++
		}
		return
	}
	if v := m.f(n.vals[at], w); v != none {
		n.vals[at] = v
		return
	}
	n.vals = slices.Delete(n.vals, at, at+1)
	n.has &^= bit
	m.more--
}

// deeper merges what stands below a place of the other node.
func (m *merger[V, W]) deeper(n *node[V], bit uint64, with *node[W], shift uint) {
	k := bits.OnesCount64(n.deep & (bit - 1))
	if n.deep&bit == 0 {
		kid := &node[V]{own: m.o}
		if n.has&bit != 0 {
			at := bits.OnesCount64(n.has & (bit - 1))
			kid, _ = kid.put(n.vals[at], n.vals[at].hash(), shift+levelBits, m.o)
			n.vals = slices.Delete(n.vals, at, at+1)
			n.has &^= bit
		}
		n.kids = slices.Insert(n.kids, k, kid)
		n.deep |= bit
	}
	n.setKid(k, bit, m.node(n.kids[k], with, shift+levelBits))
}

// below merges one value into all that stands below a place.
func (m *merger[V, W]) below(n *node[V], w W, shift uint) *node[V] {
	var none V
	old := findBelow(n, w.hash(), w.key(), shift)
	switch v := m.f(old, w); {
	case v != none:
		var added bool
		if n, added = n.put(v, v.hash(), shift, m.o); added {
			m.more++
		}
	case old != none:
		n, _ = n.del(w.key(), w.hash(), shift, m.o)
		m.more--
	}
	return n
}
