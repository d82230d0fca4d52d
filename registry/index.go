package registry

import (
	"hash/maphash"
	"iter"
	"math/bits"
	"slices"
)

// seed makes the hash of a name differ from process to process, so that nobody
// can choose names that collide.
var seed = maphash.MakeSeed()

func hashString(s string) uint64 { return maphash.String(seed, s) }
func hashBytes(b []byte) uint64  { return maphash.Bytes(seed, b) }

// keyed is what an index holds: a pointer that knows its own name and its hash.
type keyed interface {
	comparable
	key() string
	hash() uint64
}

// owner marks the nodes that one draft has copied and may therefore write in place.
// It must not be of size zero: two of them have to be different pointers.
type owner struct{ _ byte }

const (
	levelBits = 6
	levelMask = 1<<levelBits - 1
	// maxShift is the last level that still has fresh hash bits; a node below it
	// keeps names whose hashes are equal in all 64 bits, in a plain list.
	maxShift = 60
)

// index is a persistent hash trie: a copy of it costs three words, a change costs
// the path to the changed name, and both versions stay readable. Its zero value is
// empty. Readers need no lock; a writer passes the owner of its draft.
type index[V keyed] struct {
	root *node[V]
	n    int
}

// node is one level of 64 places, each empty, a value or a further node.
type node[V keyed] struct {
	own  *owner
	has  uint64 // places with a value, in vals in order of place
	deep uint64 // places with a node, in kids in order of place
	vals []V
	kids []*node[V]
}

func (x index[V]) len() int { return x.n }

// get returns the value named k, or the zero V.
func (x index[V]) get(k string) V { return find(x.root, hashString(k), k) }

// getHashed is get for a name whose hash is known.
func (x index[V]) getHashed(k string, h uint64) V { return find(x.root, h, k) }

// getBytes is get for a name that is not a string yet; it does not allocate.
func (x index[V]) getBytes(k []byte) V { return find(x.root, hashBytes(k), k) }

func find[V keyed, K string | []byte](n *node[V], h uint64, k K) V { return findBelow(n, h, k, 0) }

func findBelow[V keyed, K string | []byte](n *node[V], h uint64, k K, shift uint) (v V) {
	for ; n != nil; shift += levelBits {
		if shift > maxShift {
			for _, c := range n.vals {
				if c.key() == string(k) {
					return c
				}
			}
			return v
		}
		bit := uint64(1) << (h >> shift & levelMask)
		if n.has&bit != 0 {
			if c := n.vals[bits.OnesCount64(n.has&(bit-1))]; c.key() == string(k) {
				return c
			}
			return v
		}
		if n.deep&bit == 0 {
			return v
		}
		n = n.kids[bits.OnesCount64(n.deep&(bit-1))]
	}
	return v
}

// put stores v under its name in x, copying only nodes that o does not own.
func (x *index[V]) put(v V, o *owner) {
	if x.root == nil {
		x.root = &node[V]{own: o}
	}
	var added bool
	x.root, added = x.root.put(v, v.hash(), 0, o)
	if added {
		x.n++
	}
}

// del removes the value named k, if there is one.
func (x *index[V]) del(k string, o *owner) { x.remove(k, hashString(k), o) }

func (x *index[V]) remove(k string, h uint64, o *owner) {
	if x.root == nil {
		return
	}
	var gone bool
	if x.root, gone = x.root.del(k, h, 0, o); gone {
		x.n--
	}
	if x.n == 0 {
		x.root = nil
	}
}

// all yields every value once, in an order that only depends on the hashes.
func (x index[V]) all() iter.Seq[V] {
	return func(yield func(V) bool) {
		if x.root != nil {
			x.root.each(yield)
		}
	}
}

func (n *node[V]) each(yield func(V) bool) bool {
	for _, v := range n.vals {
		if !yield(v) {
			return false
		}
	}
	for _, k := range n.kids {
		if !k.each(yield) {
			return false
		}
	}
	return true
}

// mine returns n if o owns it, else a copy that o owns.
func (n *node[V]) mine(o *owner) *node[V] {
	if n.own == o {
		return n
	}
	return &node[V]{own: o, has: n.has, deep: n.deep, vals: slices.Clone(n.vals), kids: slices.Clone(n.kids)}
}

func (n *node[V]) put(v V, h uint64, shift uint, o *owner) (*node[V], bool) {
	n = n.mine(o)
	if shift > maxShift {
		for i, c := range n.vals {
			if c.key() == v.key() {
				n.vals[i] = v
				return n, false
			}
		}
		n.vals = append(n.vals, v)
		return n, true
	}
	bit := uint64(1) << (h >> shift & levelMask)
	at := bits.OnesCount64(n.has & (bit - 1))
	switch {
	case n.has&bit != 0:
		old := n.vals[at]
		if old.key() == v.key() {
			n.vals[at] = v
			return n, false
		}
		// Two names share the place: both move one level down.
		kid := &node[V]{own: o}
		kid, _ = kid.put(old, old.hash(), shift+levelBits, o)
		kid, _ = kid.put(v, h, shift+levelBits, o)
		n.vals = slices.Delete(n.vals, at, at+1)
		n.has &^= bit
		n.kids = slices.Insert(n.kids, bits.OnesCount64(n.deep&(bit-1)), kid)
		n.deep |= bit
		return n, true
	case n.deep&bit != 0:
		k := bits.OnesCount64(n.deep & (bit - 1))
		kid, added := n.kids[k].put(v, h, shift+levelBits, o)
		n.kids[k] = kid
		return n, added
	}
	n.vals = slices.Insert(n.vals, at, v)
	n.has |= bit
	return n, true
}

func (n *node[V]) del(k string, h uint64, shift uint, o *owner) (*node[V], bool) {
	if shift > maxShift {
		at := slices.IndexFunc(n.vals, func(c V) bool { return c.key() == k })
		if at < 0 {
			return n, false
		}
		n = n.mine(o)
		n.vals = slices.Delete(n.vals, at, at+1)
		return n, true
	}
	bit := uint64(1) << (h >> shift & levelMask)
	if n.has&bit != 0 {
		at := bits.OnesCount64(n.has & (bit - 1))
		if n.vals[at].key() != k {
			return n, false
		}
		n = n.mine(o)
		n.vals = slices.Delete(n.vals, at, at+1)
		n.has &^= bit
		return n, true
	}
	if n.deep&bit == 0 {
		return n, false
	}
	at := bits.OnesCount64(n.deep & (bit - 1))
	kid, gone := n.kids[at].del(k, h, shift+levelBits, o)
	if !gone {
		return n, false
	}
	n = n.mine(o)
	n.setKid(at, bit, kid)
	return n, true
}

// setKid stores a new version of the node that stands at a place.
func (n *node[V]) setKid(at int, bit uint64, kid *node[V]) {
	n.kids[at] = kid
	if len(kid.kids) == 0 && len(kid.vals) <= 1 {
		// A node with one value is that value one level up; with none it is nothing.
		n.kids = slices.Delete(n.kids, at, at+1)
		n.deep &^= bit
		if len(kid.vals) == 1 {
			n.vals = slices.Insert(n.vals, bits.OnesCount64(n.has&(bit-1)), kid.vals[0])
			n.has |= bit
		}
	}
}
