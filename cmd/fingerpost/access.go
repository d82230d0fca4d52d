package main

import (
	"fmt"

	"fingerpost/config"
	"fingerpost/internal/auth"
	"fingerpost/remoting"
)

// accessModes are the settings' words.
var accessModes = map[string]remoting.Mode{
	"open": remoting.Open, "listed": remoting.Listed, "signed": remoting.Signed,
	"either": remoting.Either, "both": remoting.Both, "closed": remoting.Closed,
}

// access makes the rules of the remoting port from the settings, and says in the log what
// they come to where they are not the usual ones.
func (n *node) access(c *config.Access) (remoting.Access, error) {
	a := remoting.Access{ReplayWindow: c.ReplayWindow}
	log := n.log.With("face", "remoting")
	if c.KeysFile != "" {
		accounts, err := auth.OpenAccounts(c.KeysFile, log)
		if err != nil {
			return a, fmt.Errorf("remoting.access.keysFile: %w", err)
		}
		a.Keys = func(accessKey string) (remoting.Key, bool) {
			found, ok := accounts.Find(accessKey)
			k := remoting.Key{Secret: found.Secret}
			for class := range k.May {
				k.May[class] = found.May(remoting.AccessClass(class).String())
			}
			return k, ok
		}
	}
	classes := [remoting.AccessClasses]*config.ClassAccess{
		remoting.ForClient: &c.Client, remoting.ForBroker: &c.Broker, remoting.ForAdmin: &c.Admin, remoting.ForConfig: &c.Config,
	}
	said := []any{"protection", c.Protection}
	restricted := false
	for class, from := range classes {
		mode := c.For(from, remoting.AccessClass(class) != remoting.ForClient)
		r := &a.Rules[class]
		r.Mode = accessModes[mode]
		for _, p := range from.Addresses {
			r.Addresses = append(r.Addresses, prefix(p))
		}
		said = append(said, remoting.AccessClass(class).String(), mode)
		restricted = restricted || r.Mode != remoting.Open
		if mode == "closed" && from.Mode == "auto" {
			n.log.Warn("a class of requests is closed to everybody, since neither keys nor addresses are set for it",
				"class", remoting.AccessClass(class).String(), "setting", "remoting.access.keysFile")
		}
	}
	if restricted {
		log.Info("requests are ruled by class", said...)
	}
	return a, nil
}
