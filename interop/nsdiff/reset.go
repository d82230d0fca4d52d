package main

import (
	"fmt"
	"time"
)

// ---- reset

// baselineConfig is what every sequence begins with. The wait for service is long: a short one would end on the two
// sides a moment apart.
const baselineConfig = `enableAllTopicList=true
enableTopicList=true
orderMessageEnable=false
returnOrderTopicConfigToBroker=true
supportActingMaster=false
notifyMinBrokerIdChanged=false
deleteTopicWithBrokerRegistration=false
needWaitForService=false
waitSecondsForService=100000
clusterTest=false
enableControllerInNamesrv=false
productEnvName=center
shutdownWaitTimeSeconds=30
`

const orderSpace = "ORDER_TOPIC_CONFIG"

// reset brings both servers back to "nothing registered, default settings" with ordinary requests.
func (r *runner) reset() error {
	r.a.closeAll()
	r.b.closeAll()
	var ea, eb error
	r.pushOn = false
	u := r.uni
	r.both(func(s *side) {
		err := s.reset(u, r.hub.addrs)
		if s == r.a {
			ea = err
		} else {
			eb = err
		}
	})
	r.regs, r.memory = map[regKey]regInfo{}, newMemory()
	r.uni = newUniverse()
	r.uniq++
	r.env = &env{addrs: r.hub.addrs, u: fmt.Sprintf("_%s%d", r.runID, r.uniq)}
	r.before, r.previous = nil, nil
	r.readConfig()
	time.Sleep(2 * time.Millisecond)
	r.hub.clear()
	if ea != nil {
		return fmt.Errorf("A: %w", ea)
	}
	if eb != nil {
		return fmt.Errorf("B: %w", eb)
	}
	if f, err := r.a.ask(rcCluster, v5_5_0, nil, nil); err == nil {
		r.before, _, _ = parseJSON(string(f.body))
		r.previous = r.before
	}
	return nil
}

func (s *side) reset(u *universe, addrs []string) error {
	l, err := s.observer()
	if err != nil {
		return err
	}
	if _, err := s.ask(rcUpdateConfig, v5_5_0, nil, []byte(baselineConfig)); err != nil {
		return fmt.Errorf("reset, config: %w", err)
	}
	s.closeBarrier()
	// every live entry that may be left (by this run or an earlier one), under every name it may have
	var hs []*header
	keys, names := map[regKey]bool{}, map[string]bool{"b1": true, "b2": true, "b3": true, "b4": true}
	for k := range u.live {
		keys[k] = true
	}
	for n := range u.names {
		names[n] = true
	}
	for _, c := range []string{"c1", "c2", "c3", "簇", ""} {
		for _, a := range addrs {
			keys[regKey{c, a}] = true
		}
	}
	for k := range keys {
		for n := range names {
			if !u.live[k] && n != "b1" {
				continue // the live entry goes under any name
			}
			hs = append(hs, &header{code: rcUnregister, version: v5_5_0, hasExt: true, ext: map[string]string{
				"clusterName": k.cluster, "brokerAddr": k.addr, "brokerName": n, "brokerId": "0",
			}})
		}
	}
	if _, err := l.callMany(hs, nil, 10*time.Second); err != nil {
		return fmt.Errorf("reset, unregister: %w", err)
	}
	s.unregisterBarrier()
	left := ""
	for round := 0; round < 6; round++ {
		f, err := s.ask(rcCluster, v5_5_0, nil, nil)
		if err != nil {
			return err
		}
		d, _, err := parseJSON(string(f.body))
		if err != nil {
			return fmt.Errorf("reset: cluster info: %w", err)
		}
		left = string(f.body)
		type pair struct{ cluster, name string }
		ps := map[pair]bool{}
		ids := map[string]map[string]string{}
		if t := d.get("brokerAddrTable"); t != nil {
			for _, m := range t.mem {
				ps[pair{m.val.get("cluster").strOr(""), m.key}] = true
				ids[m.key] = map[string]string{}
				if as := m.val.get("brokerAddrs"); as != nil {
					for _, x := range as.mem {
						ids[m.key][x.key] = x.val.strOr("")
					}
				}
			}
		}
		if t := d.get("clusterAddrTable"); t != nil {
			for _, m := range t.mem {
				for _, n := range m.val.arr {
					ps[pair{m.key, n.strOr("")}] = true
				}
				if len(m.val.arr) == 0 {
					ps[pair{m.key, "nsdiff.reset"}] = true
				}
			}
		}
		if len(ps) == 0 {
			left = ""
			break
		}
		for p := range ps {
			req := func(code int, id, addr string) {
				body := []byte(nil)
				if code == rcRegister {
					body = []byte(`{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":1000000000000,"timestamp":1600000000000},"topicConfigTable":{}}}`)
				}
				l.call(&header{code: code, version: v5_5_0, hasExt: true, ext: map[string]string{
					"clusterName": p.cluster, "brokerName": p.name,
					"brokerAddr": addr, "haServerAddr": "reset", "brokerId": id,
				}}, body, 5*time.Second)
			}
			for id, addr := range ids[p.name] {
				req(rcUnregister, id, addr)
			}
			s.unregisterBarrier()
			all := map[string]bool{"0": true, "1": true, "2": true, "3": true, "-1": true}
			for id := range ids[p.name] {
				all[id] = true
			}
			for id := range all {
				req(rcRegister, id, "reset."+id+":1")
			}
			for id := range all {
				req(rcUnregister, id, "reset."+id+":1")
			}
			s.unregisterBarrier()
		}
	}
	if left != "" {
		return fmt.Errorf("reset: brokers are still registered: %s", clip(left, 300))
	}
	// topics without brokers
	if f, err := s.ask(rcAllTopics, v5_5_0, nil, nil); err == nil {
		if d, _, err := parseJSON(string(f.body)); err == nil && d.get("topicList") != nil {
			for _, t := range d.get("topicList").arr {
				s.ask(rcDelTopic, v5_5_0, map[string]string{"topic": t.strOr("")}, nil)
			}
		}
	}
	for sp := range u.spaces {
		f, err := s.ask(rcKVList, v5_5_0, map[string]string{"namespace": sp}, nil)
		if err != nil || f.hdr.code != 0 {
			continue
		}
		if d, _, err := parseJSON(string(f.body)); err == nil {
			for _, k := range d.get("table").keys() {
				s.ask(rcDelKV, v5_5_0, map[string]string{"namespace": sp, "key": k}, nil)
			}
		}
	}
	for k := range u.kv {
		s.ask(rcDelKV, v5_5_0, map[string]string{"namespace": k[0], "key": k[1]}, nil)
	}
	// A namespace once used stays (empty) for ever: make that so for the fixed ones on both sides from the start.
	for _, ns := range []string{orderSpace, "", "R1"} {
		s.ask(rcPutKV, v5_5_0, map[string]string{"namespace": ns, "key": "nsdiff", "value": "x"}, nil)
		keys := []string{"nsdiff", "k"}
		if f, err := s.ask(rcKVList, v5_5_0, map[string]string{"namespace": ns}, nil); err == nil {
			if d, _, err := parseJSON(string(f.body)); err == nil {
				keys = append(keys, d.get("table").keys()...)
			}
		}
		for _, k := range keys {
			s.ask(rcDelKV, v5_5_0, map[string]string{"namespace": ns, "key": k}, nil)
		}
	}
	return nil
}
