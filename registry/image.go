package registry

import "time"

// Image is what a snapshot holds of brokers and topics, as plain data that can be written
// down and read again by another process: see [Registry.Restore]. The key-value table and
// the rules are not part of it, nor are addresses that have lost their place, nor who holds
// which lease. Topic names and configurations stand in it once and are referred to by index.
type Image struct {
	// Names are the names of topics, those that stand and those that are only listed.
	// Changed is, for each, [Topic.ChangedMillis], 0 for one that does not stand.
	Names   []string
	Changed []int64
	// Configs and Specs are what was registered of topics and what clients see of them.
	Configs  []TopicConfig
	Specs    []QueueSpec
	Groups   []ImageGroup
	Mappings []*Mapping
}

// ImageGroup is one group with what it serves.
type ImageGroup struct {
	Name, Cluster, Zone string
	HasZone, Acting     bool
	// Masterless is since when the group has had no master, if it has none.
	Masterless time.Time
	Members    []ImageMember // sorted by id
	// Part is what was last registered of each topic that the group serves, and Seen the
	// index of what clients see of it.
	Part ImageList
	Seen []uint32
	Wipe *Wipe
}

// ImageMember is one member with what it lists.
type ImageMember struct {
	MemberInfo
	Filters    []string
	Registered time.Time
	// Left is how long a member that is unconfirmed itself may still be silent; 0 for any
	// other. A process that is restarted again and again keeps no broker for ever.
	Left time.Duration
	// Listed is the member's last list, if HasList, under the data version that it has
	// spoken of since Since. Counted tells that the list is the broker's, Total how long
	// the last statement was.
	HasList, Counted bool
	Listed           ImageList
	Since            time.Time
	Total            int
}

// ImageList is a list of topics: indexes of names and, for each, of its configuration.
type ImageList struct{ Topics, Configs []uint32 }

// Image returns the snapshot as plain data. It reads everything; what it returns shares
// parts with the snapshot and must not be changed.
func (s *Snapshot) Image() *Image {
	b := imager{
		s: s, out: new(Image), names: make(map[string]uint32, s.topics.len()),
		configs: make(map[TopicConfig]uint32), specs: make(map[QueueSpec]uint32),
	}
	for _, g := range s.Groups() {
		b.out.Groups = append(b.out.Groups, b.group(g))
	}
	for _, name := range s.TopicNames() {
		b.out.Mappings = append(b.out.Mappings, s.topics.get(name).mappings...)
	}
	return b.out
}

// imager builds an image.
type imager struct {
	s       *Snapshot
	out     *Image
	names   map[string]uint32
	configs map[TopicConfig]uint32
	specs   map[QueueSpec]uint32
}

// entry returns the index of a value in a list that holds each once.
func entry[V comparable](at map[V]uint32, list *[]V, v V) (i uint32, isNew bool) {
	i, ok := at[v]
	if !ok {
		i = uint32(len(*list)) //nolint:gosec // as many as there are topics, which fit the memory
		at[v] = i
		*list = append(*list, v)
	}
	return i, !ok
}

func (b *imager) add(to *ImageList, l *Listed) {
	name, isNew := entry(b.names, &b.out.Names, l.Name)
	if isNew {
		var changed int64
		if t := b.s.topics.getHashed(l.Name, l.h); t != nil {
			changed = t.ChangedMillis
		}
		b.out.Changed = append(b.out.Changed, changed)
	}
	config, _ := entry(b.configs, &b.out.Configs, l.Config)
	to.Topics, to.Configs = append(to.Topics, name), append(to.Configs, config)
}

func (b *imager) group(g *Group) ImageGroup {
	out := ImageGroup{
		Name: g.Name, Cluster: g.Cluster, Zone: g.Zone, HasZone: g.HasZone, Acting: g.Acting, Masterless: g.masterless,
		Wipe: b.s.Wiped(g.Name),
	}
	for _, m := range g.Members {
		l := b.s.LiveOf(m)
		x := ImageMember{MemberInfo: l.MemberInfo, Filters: m.Filters, Registered: l.Registered, Counted: l.counted, Total: l.total}
		if l.Unconfirmed() {
			x.Left = max(1, l.ExpiresAt().Sub(b.s.reg.now()))
		}
		if l.listing != nil {
			x.HasList, x.Since = true, l.listing.since
			for _, t := range l.listing.topics {
				b.add(&x.Listed, t)
			}
		}
		out.Members = append(out.Members, x)
	}
	if tab := b.s.tables.get(g.Name); tab != nil {
		for l := range tab.topics.all() {
			b.add(&out.Part, l)
			q := b.s.topics.getHashed(l.Name, l.h).layout.find(g.Name)
			seen, _ := entry(b.specs, &b.out.Specs, q.QueueSpec)
			out.Seen = append(out.Seen, seen)
		}
	}
	return out
}
