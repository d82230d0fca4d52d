package registry

import (
	"strconv"
	"time"
)

// Cause is why something changed: which face did what for whom.
type Cause struct {
	// Face is "remoting", "rest", "dashboard" or "server".
	Face string
	// Action is what was asked, such as "registerBroker"; a fixed set of words.
	Action string
	// Actor is a peer's address or a principal.
	Actor string
	// RequestID is the HTTP request's, empty elsewhere.
	RequestID string
}

// Op is what happened to a thing.
type Op uint8

// What may happen.
const (
	OpCreated Op = iota
	OpChanged
	OpDeleted
	OpExpired
	OpDisconnected
	OpRejected
	OpOwnerChanged
	OpWiped
	OpRestored
	OpDiverged
	OpConverged
	OpStarted
	OpStopping
	OpUnreachable
	OpReachable
	OpDraining
	OpServing
	OpMassExpiry
	OpMassExpiryOver
)

var opNames = [...]string{
	"created", "changed", "deleted", "expired", "disconnected", "rejected", "ownerChanged",
	"wiped", "restored", "diverged", "converged", "started", "stopping",
	"unreachable", "reachable", "draining", "serving", "massExpiry", "massExpiryOver",
}

// String returns the word used on the wire, such as "ownerChanged".
func (o Op) String() string { return opNames[o] }

// Change is one transaction: everything it changed and why. It is immutable.
type Change struct {
	// Revision is the first that contains the change. A change that only reports,
	// such as a refusal, has the revision it found and Step false; of changes with
	// Step true no revision is missing and none comes twice.
	Revision uint64
	Step     bool
	// Number counts all changes of the process, also those that only report: it tells
	// changes of one revision apart, however long each is kept.
	Number uint64
	Time   time.Time
	Cause  Cause

	Members    []MemberChange
	Topics     []TopicChange
	Clusters   []ClusterChange
	WritePerms []WritePermChange
	KV         []KVChange
	Config     []ConfigChange
	Server     []ServerChange
	Peers      []PeerChange
	// MinIDs are notices due to members of groups whose smallest id changed.
	MinIDs []MinIDChange

	size int // its bytes, once it is in the history
}

// MemberChange is what happened to one member. Before is nil for a new one, After
// for one that is gone; a rejected one has neither changed nor, if it is new, either.
type MemberChange struct {
	Op            Op
	Broker        string
	ID            int64
	Before, After *MemberInfo
	// Code and Detail say why a registration was rejected, or what is in conflict.
	Code, Detail string
}

// TopicChange is what happened to one broker's part of one topic. Before means
// nothing if it was created, After if it was deleted.
type TopicChange struct {
	Op            Op
	Mapping       bool // the broker's part of a static topic changed
	Topic, Broker string
	Before, After QueueSpec
}

// ClusterChange is a cluster that came or went.
type ClusterChange struct {
	Op      Op
	Cluster string
}

// WritePermChange is a broker's write permission wiped or restored.
type WritePermChange struct {
	Op     Op
	Broker string
	Topics int
}

// KVChange is one key set or removed.
type KVChange struct {
	Op             Op
	Namespace, Key string
	Before, After  string
}

// ConfigChange is one setting that was changed while running. Values of secret
// settings never come here.
type ConfigChange struct {
	Key, Before, After string
}

// ServerChange is something about the process itself, such as its start.
type ServerChange struct {
	Op     Op
	Detail string
}

// PeerChange is news of another NameServer of the set: that what it holds differs from
// what is here (OpDiverged), differs less than before (OpChanged), or no longer
// (OpConverged), or whether it can be asked at all.
type PeerChange struct {
	Op   Op
	Peer string
	// Before and After are how many differences there were and are.
	Before, After int
	// Detail names some of the differences, or says why the peer cannot be asked.
	Detail string
}

// MinIDChange is a notice for the members of a group whose smallest id changed.
type MinIDChange struct {
	Broker       string
	MinID        int64
	MinAddr      string
	OfflineAddr  string // the address that left, if one did
	HAAddr       string // that of the newcomer, if one came
	HasHA        bool   // it came and said one
	NoticeToAddr []string
}

func (c *Change) empty() bool {
	return len(c.Members)+len(c.Topics)+len(c.Clusters)+len(c.WritePerms)+len(c.KV)+len(c.Config)+len(c.Server)+len(c.Peers)+len(c.MinIDs) == 0
}

// Size is the number of things changed.
func (c *Change) Size() int {
	return len(c.Members) + len(c.Topics) + len(c.Clusters) + len(c.WritePerms) + len(c.KV) + len(c.Config) + len(c.Server) + len(c.Peers)
}

// bytes is a rough measure of what keeping the change costs: the size of its parts and
// of the texts that nothing else may keep any more.
func (c *Change) bytes() int {
	n := 320 + 72*len(c.Topics) + 480*len(c.Members) + 64*(len(c.Clusters)+len(c.WritePerms)+len(c.Config)+len(c.Server)+len(c.Peers))
	for i := range c.Topics {
		n += len(c.Topics[i].Topic)
	}
	for _, x := range c.Server {
		n += len(x.Detail)
	}
	for _, x := range c.Peers {
		n += len(x.Peer) + len(x.Detail)
	}
	for _, m := range c.Members {
		n += len(m.Detail)
		for _, i := range []*MemberInfo{m.Before, m.After} {
			if i != nil {
				n += len(i.Cluster) + len(i.Name) + len(i.Addr) + len(i.HAAddr) + len(i.Zone)
			}
		}
	}
	for _, k := range c.KV {
		n += 80 + len(k.Namespace) + len(k.Key) + len(k.Before) + len(k.After)
	}
	for _, k := range c.Config {
		n += len(k.Key) + len(k.Before) + len(k.After)
	}
	return n
}

// FormatRevision writes a revision of an epoch as "epoch.revision".
func FormatRevision(epoch string, revision uint64) string {
	return epoch + "." + strconv.FormatUint(revision, 10)
}
