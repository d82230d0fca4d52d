package main

// universe gathers every name that a sequence used, so that the state dump asks for all of them.
type universe struct {
	clusters, names, topics, spaces map[string]bool
	kv                              map[[2]string]bool
	live                            map[regKey]bool
}

func newUniverse() *universe {
	return &universe{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[[2]string]bool{}, map[regKey]bool{}}
}

func (u *universe) learn(st *Step, e *env) {
	for _, p := range st.Pipe {
		u.learn(p, e)
	}
	switch st.Op {
	case "close", "rst", "half", "closemany", "raw":
		return
	}
	h, _, _ := st.compile(e)
	if v, ok := h.ext["clusterName"]; ok {
		u.clusters[v] = true
		if a, ok := h.ext["brokerAddr"]; ok {
			u.live[regKey{v, a}] = true
		}
	}
	if v, ok := h.ext["cluster"]; ok {
		u.clusters[v] = true
	}
	if v, ok := h.ext["brokerName"]; ok {
		u.names[v] = true
	}
	if v, ok := h.ext["topic"]; ok {
		u.topics[v] = true
	}
	if v, ok := h.ext["namespace"]; ok {
		u.spaces[v] = true
		if k, ok := h.ext["key"]; ok {
			u.kv[[2]string{v, k}] = true
		}
	}
	if st.Reg != nil {
		for _, t := range st.Reg.Topics {
			u.topics[e.sub(t.Name)] = true
		}
		for _, m := range st.Reg.Maps {
			u.topics[e.sub(m.Topic)] = true
		}
	}
}
