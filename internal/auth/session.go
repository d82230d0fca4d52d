package auth

import (
	"crypto/sha256"
	"sync"
	"time"
)

// SessionIdle is how long a session lasts without being used.
const SessionIdle = 8 * time.Hour

// maxSessions bounds the sessions; beyond it the one that ends first goes.
const maxSessions = 10_000

// Sessions are the browsers that have logged in. They live in memory and end with the
// process. The zero value is ready for use, but for Keeper.
type Sessions struct {
	// Keeper knows whether the credential that began a session still counts.
	Keeper *Keeper

	mu      sync.Mutex
	m       map[[sha256.Size]byte]*session
	trimmed time.Time
}

// trimEvery is how often sessions that are over are looked for, as long as there is room.
const trimEvery = time.Minute

type session struct {
	principal Principal
	hash      string // of its token or password
	ends      time.Time
}

// Begin returns the secret of a new session of p and when it ends unless it is used.
func (s *Sessions) Begin(p Principal) (secret string, ends time.Time) {
	now := s.Keeper.o.Now()
	secret, ends = NewToken(), now.Add(SessionIdle)
	_, hash, _ := s.Keeper.still(p.Name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil {
		s.m = make(map[[sha256.Size]byte]*session)
	}
	s.trim(now)
	p.Method = Session
	s.m[sha256.Sum256([]byte(secret))] = &session{p, hash, ends}
	return secret, ends
}

// trim forgets sessions that are over and, if there are too many, the one that ends first.
func (s *Sessions) trim(now time.Time) {
	if len(s.m) < maxSessions && now.Sub(s.trimmed) < trimEvery {
		return
	}
	s.trimmed = now
	var first [sha256.Size]byte
	var at time.Time
	for k, v := range s.m {
		if !v.ends.After(now) {
			delete(s.m, k)
		} else if at.IsZero() || v.ends.Before(at) {
			first, at = k, v.ends
		}
	}
	if len(s.m) >= maxSessions {
		delete(s.m, first)
	}
}

// Of returns whose session it is and when it ends, having put that off. A session ends
// with the credential it began with, and has the role which that has now.
func (s *Sessions) Of(secret string) (p Principal, ends time.Time, ok bool) {
	now, key := s.Keeper.o.Now(), sha256.Sum256([]byte(secret))
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.m[key]
	if v == nil {
		return p, ends, false
	}
	p, hash, ok := s.Keeper.still(v.principal.Name)
	if !ok || hash != v.hash || !v.ends.After(now) {
		delete(s.m, key)
		return Principal{}, ends, false
	}
	p.Method = Session
	v.ends = now.Add(SessionIdle)
	return p, v.ends, true
}

// End ends the session, if there is one.
func (s *Sessions) End(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.m, sha256.Sum256([]byte(secret)))
}
