package convert

import (
	"slices"
	"time"

	"fingerpost/api"
	"fingerpost/registry"
)

// Words for the state of a member.
const (
	StateLive    = "live"
	StateLate    = "late"
	StateExpired = "expired"
)

// Words for a write permission.
const (
	Granted = "granted"
	Wiped   = "wiped"
)

// Member returns a group's member.
func (v *View) Member(g *registry.Group, m registry.Member) api.Member {
	out := v.Registration(v.LiveOf(m))
	out.Role, out.FilterServerList = v.Role(g, m.ID), m.Filters
	return out
}

// Registration returns what a member has registered, whether or not it still holds its
// place in the view's snapshot.
func (v *View) Registration(l *registry.Live) api.Member {
	out := member(l.MemberInfo)
	out.Role = roleOf(l.ID)
	out.State, out.LeftMillis = v.State(l)
	out.Unconfirmed, out.Suspect = l.Unconfirmed(), l.Suspect()
	out.LastUpdateTimestamp = l.LastSeen().UnixMilli()
	out.ExpiresAt, out.RegisteredAt = api.TimeOf(l.ExpiresAt()), api.TimeOf(l.Registered)
	out.TopicCount = v.BrokerTopicCount(l.Name)
	out.WritePerm = v.writePerm(l.Name)
	out.Revision = v.Revision(l.Revision)
	out.Version = v.version(l.PeerVersion)
	return out
}

// Gone returns a member that is no longer registered, as it last was.
func (v *View) Gone(i *registry.MemberInfo, at time.Time) api.Member {
	out := member(*i)
	out.Role, out.State, out.WritePerm = roleOf(i.ID), StateExpired, Granted
	out.ExpiresAt, out.Version = api.TimeOf(at), v.version(i.PeerVersion)
	return out
}

func member(i registry.MemberInfo) api.Member {
	out := api.Member{
		BrokerName: i.Name, BrokerID: i.ID, ClusterName: i.Cluster, BrokerAddr: i.Addr, HAServerAddr: i.HAAddr,
		EnableActingMaster: i.Acting == registry.ActingOn, Source: i.Source.String(), Owner: i.Owner,
		DataVersion:            DataVersion(i.Version),
		HeartbeatTimeoutMillis: i.Timeout.Milliseconds(), Language: i.Language,
	}
	if i.HasZone {
		out.ZoneName = &i.Zone
	}
	return out
}

func (v *View) version(n int) string {
	if n == 0 || v.VersionName == nil {
		return ""
	}
	return v.VersionName(n)
}

// DataVersion returns a data version.
func DataVersion(d registry.DataVersion) api.DataVersion {
	return api.DataVersion{StateVersion: d.State, Timestamp: d.Timestamp, Counter: d.Counter}
}

// State tells whether a member is late, and how much of its timeout is left.
func (v *View) State(l *registry.Live) (state string, leftMillis int64) {
	left := l.ExpiresAt().Sub(v.Now)
	state = StateLive
	if left < l.Timeout/2 {
		state = StateLate
	}
	return state, max(0, left.Milliseconds())
}

// Roles of members.
const (
	roleMaster = "master"
	roleSlave  = "slave"
	roleActing = "actingMaster"
)

// Roles returns every role.
func Roles() []string { return []string{roleMaster, roleSlave, roleActing} }

func roleOf(id int64) string {
	if id == 0 {
		return roleMaster
	}
	return roleSlave
}

// Role says what a member is: the smallest slave of a group that may act without its
// master is the acting one, if the rules let routes show it so.
func (v *View) Role(g *registry.Group, id int64) string {
	if id > 0 && v.Rules().SupportActingMaster && g.Acting && !g.HasMaster() {
		first := slices.IndexFunc(g.Members, func(m registry.Member) bool { return m.ID > 0 })
		if g.Members[first].ID == id {
			return roleActing
		}
	}
	return roleOf(id)
}

func (v *View) writePerm(broker string) string {
	if v.Snapshot.Wiped(broker) != nil {
		return Wiped
	}
	return Granted
}

// BrokerSet returns a group with its members and what is wrong with it.
func (v *View) BrokerSet(g *registry.Group) api.BrokerSet {
	out := api.BrokerSet{
		BrokerName: g.Name, ClusterName: g.Cluster, EnableActingMaster: g.Acting, HasMaster: g.HasMaster(),
		TopicCount: v.BrokerTopicCount(g.Name), WritePerm: v.writePerm(g.Name),
		Members: make([]api.Member, 0, len(g.Members)), Problems: v.GroupProblems(g),
		Digest: v.GroupDigest(g), Revision: v.Revision(g.Revision),
	}
	if g.HasZone {
		out.ZoneName = &g.Zone
	}
	for _, m := range g.Members {
		out.Members = append(out.Members, v.Member(g, m))
	}
	return out
}

// Problems of a broker set.
const (
	ProblemNoMaster    = "no-master"
	ProblemLate        = "member-late"
	ProblemUnconfirmed = "member-unconfirmed"
	ProblemSuspect     = "member-suspect"
	ProblemWiped       = "write-perm-wiped"
	ProblemTwoClusters = "name-in-two-clusters"
)

// GroupProblems says what is wrong with a group, in a fixed order; none is an empty list.
func (v *View) GroupProblems(g *registry.Group) []string {
	out := []string{}
	if !g.HasMaster() {
		out = append(out, ProblemNoMaster)
	}
	late := func(m registry.Member) bool { state, _ := v.State(v.LiveOf(m)); return state == StateLate }
	if slices.ContainsFunc(g.Members, late) {
		out = append(out, ProblemLate)
	}
	if slices.ContainsFunc(g.Members, func(m registry.Member) bool { return v.LiveOf(m).Unconfirmed() }) {
		out = append(out, ProblemUnconfirmed)
	}
	if slices.ContainsFunc(g.Members, func(m registry.Member) bool { return v.LiveOf(m).Suspect() }) {
		out = append(out, ProblemSuspect)
	}
	if v.Snapshot.Wiped(g.Name) != nil {
		out = append(out, ProblemWiped)
	}
	if slices.ContainsFunc(g.Members, func(m registry.Member) bool { return m.Cluster != g.Cluster }) {
		out = append(out, ProblemTwoClusters)
	}
	return out
}

// Cluster returns a cluster with the named groups, which must be of the snapshot.
func (v *View) Cluster(name string, brokers []string) api.Cluster {
	out := api.Cluster{ClusterName: name, BrokerNames: brokers, Zones: []string{}, Health: "ok", Problems: []api.BrokerProblem{}}
	topics := make(map[string]struct{})
	for _, b := range brokers {
		g := v.Group(b)
		out.MemberCount += len(g.Members)
		if g.HasMaster() {
			out.MasterCount++
		}
		if g.HasZone && !slices.Contains(out.Zones, g.Zone) {
			out.Zones = append(out.Zones, g.Zone)
		}
		for t := range v.BrokerTopics(b) {
			topics[t.Name] = struct{}{}
		}
		for _, p := range v.GroupProblems(g) {
			out.Problems = append(out.Problems, api.BrokerProblem{BrokerName: b, Code: p})
		}
	}
	slices.Sort(out.Zones)
	out.TopicCount = len(topics)
	if len(out.Problems) > 0 {
		out.Health = "degraded"
	}
	return out
}

// WritePermCause tells who wiped a write permission.
func (v *View) WritePermCause(w *registry.Wipe) *api.WritePermCause {
	if w == nil {
		return nil
	}
	return &api.WritePermCause{
		At: api.TimeOf(w.At), Face: w.Cause.Face, Actor: w.Cause.Actor,
		TopicCount: w.Topics, Revision: v.Revision(w.Revision),
	}
}
