package wire

// ClusterInfo is the answer to 106: every group and every cluster.
type ClusterInfo struct {
	// Brokers are the groups; each stands under its own name.
	Brokers []BrokerData
	// Clusters are the clusters with the names of their groups.
	Clusters []Cluster
}

// Cluster is the list of one cluster's groups.
type Cluster struct {
	Name    string
	Brokers []string
}

// AppendJSON appends the answer in the legacy dialect, as every NameServer does for
// every peer; Clusters and Brokers stand in the order given.
func (c *ClusterInfo) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"brokerAddrTable":{`...)
	for i := range c.Brokers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, c.Brokers[i].Name)
		dst = append(dst, ':')
		dst = c.Brokers[i].AppendJSON(dst, Legacy)
	}
	dst = append(dst, `},"clusterAddrTable":{`...)
	for i := range c.Clusters {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, c.Clusters[i].Name)
		dst = append(dst, ':')
		dst = appendStrings(dst, c.Clusters[i].Brokers)
	}
	return append(dst, "}}"...)
}

// DecodeClusterInfo reads the answer to 106, for clients.
func DecodeClusterInfo(body []byte) (*ClusterInfo, error) {
	c := &ClusterInfo{}
	r := &cursor{b: body, bareNumbers: true}
	r.document(func(r *cursor) {
		r.open('{')
		for r.more('}') {
			switch string(r.name()) {
			case "brokerAddrTable":
				r.table(func(name string) {
					b := r.brokerData()
					b.Name = name
					c.Brokers = append(c.Brokers, b)
				})
			case "clusterAddrTable":
				r.table(func(name string) {
					cluster := Cluster{Name: name}
					r.list(func() { cluster.Brokers = r.appendString(cluster.Brokers) })
					c.Clusters = append(c.Clusters, cluster)
				})
			default:
				r.skip()
			}
		}
	})
	if err := r.bodyError("cluster information"); err != nil {
		return nil, err
	}
	return c, nil
}

// MemberGroup is the answer to 901: the members of one group. Cluster and Name repeat
// the request and are left out where it had none.
type MemberGroup struct {
	Addrs         []BrokerAddr // ascending by id
	Cluster, Name Text
}

// AppendJSON appends the answer in the legacy dialect.
func (g *MemberGroup) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"brokerMemberGroup":{"brokerAddrs":`...)
	dst = appendAddrs(dst, g.Addrs, Legacy)
	if g.Name.Present {
		dst = append(dst, `,"brokerName":`...)
		dst = AppendString(dst, g.Name.Value)
	}
	if g.Cluster.Present {
		dst = append(dst, `,"cluster":`...)
		dst = AppendString(dst, g.Cluster.Value)
	}
	return append(dst, "}}"...)
}

// DecodeMemberGroup reads the answer to 901, for clients.
func DecodeMemberGroup(body []byte) (*MemberGroup, error) {
	g := &MemberGroup{}
	r := &cursor{b: body, bareNumbers: true}
	r.document(func(r *cursor) {
		r.open('{')
		for r.more('}') {
			if string(r.name()) == "brokerMemberGroup" {
				g.decode(r)
			} else {
				r.skip()
			}
		}
	})
	if err := r.bodyError("member group"); err != nil {
		return nil, err
	}
	return g, nil
}

func (g *MemberGroup) decode(r *cursor) {
	if r.absent() {
		return
	}
	r.open('{')
	for r.more('}') {
		switch string(r.name()) {
		case "brokerAddrs":
			g.Addrs = r.brokerAddrs()
		case "brokerName":
			g.Name.Value, g.Name.Present = r.string()
		case "cluster":
			g.Cluster.Value, g.Cluster.Present = r.string()
		default:
			r.skip()
		}
	}
}
