package remoting

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the peers' form; as an HMAC it is not broken
	"encoding/base64"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"fingerpost/remoting/wire"
)

// The fields that a signing peer adds to a request.
const (
	fieldAccessKey = "AccessKey"
	fieldSignature = "Signature"
)

// signature is the HMAC-SHA1 over the values of all fields but itself, in the order of
// their names, and the body. Neither the code nor the names are in it: it does not say
// what is asked, only that its sender has the secret.
type signature [sha1.Size]byte

// sign returns the signature of a request, leaving out the fields named by without.
func sign(secret string, req *wire.Command, without ...string) signature {
	fields := make(wire.Fields, 0, wire.MaxFields/8)
	for _, f := range req.Ext {
		if f.Name != fieldSignature && !slices.Contains(without, f.Name) {
			fields = append(fields, f)
		}
	}
	slices.SortFunc(fields, func(a, b wire.Field) int { return strings.Compare(a.Name, b.Name) })
	mac := hmac.New(sha1.New, []byte(secret))
	for _, f := range fields {
		mac.Write([]byte(f.Value))
	}
	mac.Write(req.Body)
	return signature(mac.Sum(nil))
}

// verify checks the signature of a request. An unknown key takes as long as a known one.
func (g *guard) verify(class AccessClass, req *wire.Command) (signature, reason) {
	accessKey, hasKey := req.Ext.Get(fieldAccessKey)
	text, has := req.Ext.Get(fieldSignature)
	if !has || !hasKey {
		return signature{}, reasonUnsigned
	}
	var key Key
	known := false
	if g.Keys != nil {
		key, known = g.Keys(accessKey)
	}
	said, err := base64.StdEncoding.DecodeString(text)
	want := sign(key.Secret, req)
	right := hmac.Equal(said, want[:])
	if _, zoned := req.Ext.Get(wire.FieldZoneMode); zoned && !right {
		// Clients add their zone after they have signed; brokers before.
		want = sign(key.Secret, req, wire.FieldZoneMode, wire.FieldZoneName)
		right = hmac.Equal(said, want[:])
	}
	switch {
	case !known:
		return want, reasonUnknownKey
	case !right || err != nil:
		return want, reasonWrongSignature
	case !key.May[class]:
		return want, reasonKeyNotAllowed
	}
	return want, allowed
}

// maxSeen bounds how many signatures are remembered, twice: a group of 1000 brokers
// makes some 3000 in the longest sensible window.
const maxSeen = 32 << 10

// replays remembers from where signed requests came. A signature has no number of its
// own, so a broker's heartbeat is the same each time, and repeating one is no fault; that
// it comes from somewhere else is.
type replays struct {
	window time.Duration

	mu       sync.Mutex
	now, old map[signature]sighting
	turned   time.Time
}

type sighting struct {
	from netip.Addr
	at   time.Time
}

// take remembers a signature and reports whether it may come from there.
func (r *replays) take(s signature, from netip.Addr, at time.Time) bool {
	if r.window <= 0 {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now == nil || at.Sub(r.turned) >= r.window || len(r.now) >= maxSeen {
		r.old, r.now, r.turned = r.now, make(map[signature]sighting), at
	}
	last, ok := r.now[s]
	if !ok {
		last, ok = r.old[s]
	}
	if ok && last.from != from && at.Sub(last.at) < r.window {
		return false
	}
	r.now[s] = sighting{from, at}
	return true
}
