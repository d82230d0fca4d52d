package config

import "time"

// Access says who may send what over remoting.
type Access struct {
	Protection string
	// Client, Broker, Admin and Config are what each class of requests takes.
	Client, Broker, Admin, Config ClassAccess
	KeysFile                      string
	ReplayWindow                  time.Duration
}

// ClassAccess is what a class of requests takes, in the words of [AccessModes] or
// "auto", and the addresses that count for it.
type ClassAccess struct {
	Mode      string
	Addresses []string
}

// AccessModes are the words for what a class of requests takes, besides "auto".
var AccessModes = []string{"open", "listed", "signed", "either", "both", "closed"}

// For returns the mode of a class, "auto" resolved: open without protection; with it
// all that is configured for the class is asked for, and where that is nothing the class
// is closed. guarded tells that protection is about the class at all.
func (a *Access) For(c *ClassAccess, guarded bool) string {
	signed, listed := a.KeysFile != "", len(c.Addresses) > 0
	switch {
	case c.Mode != "auto":
		return c.Mode
	case a.Protection != "on" || !guarded:
		return "open"
	case signed && listed:
		return "both"
	case signed:
		return "signed"
	case listed:
		return "listed"
	}
	return "closed"
}

// conflicts finds what does not go together. bad takes the sentence that begins with a
// key, if it is so.
func (a *Access) conflicts(bad func(is bool, key, text string)) {
	for _, c := range []struct {
		class string
		*ClassAccess
	}{{"client", &a.Client}, {"broker", &a.Broker}, {"admin", &a.Admin}, {"config", &a.Config}} {
		key := "remoting.access." + c.class
		bad((c.Mode == "signed" || c.Mode == "either" || c.Mode == "both") && a.KeysFile == "", key, c.Mode+" needs remoting.access.keysFile")
		bad((c.Mode == "listed" || c.Mode == "either" || c.Mode == "both") && len(c.Addresses) == 0, key, c.Mode+" needs "+key+"Addresses")
	}
}

// accessWords are what a class of requests may take.
var accessWords = append([]string{"auto"}, AccessModes...)

// accessTable is who may send what over remoting.
var accessTable = []Setting{
	{
		Key: "remotingProtection", Doc: "whether the classes broker, admin and config are closed to requests that are not signed or not from a listed address",
		Traits: Locked, Words: []string{"off", "on"}, ptr: func(c *Config) any { return &c.Access.Protection },
	},
	{
		Key: "remoting.access.client", Doc: "what a peer needs for lookups of routes and of the brokers of clusters (105, 106)",
		Traits: Locked, Words: accessWords, ptr: func(c *Config) any { return &c.Access.Client.Mode },
	},
	{
		Key: "remoting.access.clientAddresses", Doc: "addresses or networks that are listed for that",
		Traits: Locked, check: network, ptr: func(c *Config) any { return &c.Access.Client.Addresses },
	},
	{
		Key: "remoting.access.broker", Doc: "what a peer needs for what brokers send (103, 104, 217, 322, 901, 904)",
		Traits: Locked, Words: accessWords, ptr: func(c *Config) any { return &c.Access.Broker.Mode },
	},
	{
		Key: "remoting.access.brokerAddresses", Doc: "addresses or networks that are listed for that",
		Traits: Locked, check: network, ptr: func(c *Config) any { return &c.Access.Broker.Addresses },
	},
	{
		Key: "remoting.access.admin", Doc: "what a peer needs for what mqadmin and consoles send (such as 100, 205, 206, 216)",
		Traits: Locked, Words: accessWords, ptr: func(c *Config) any { return &c.Access.Admin.Mode },
	},
	{
		Key: "remoting.access.adminAddresses", Doc: "addresses or networks that are listed for that",
		Traits: Locked, check: network, ptr: func(c *Config) any { return &c.Access.Admin.Addresses },
	},
	{
		Key: "remoting.access.config", Doc: "what a peer needs for showing and changing settings (318, 319), and for codes that are not served",
		Traits: Locked, Words: accessWords, ptr: func(c *Config) any { return &c.Access.Config.Mode },
	},
	{
		Key: "remoting.access.configAddresses", Doc: "addresses or networks that are listed for that",
		Traits: Locked, check: network, ptr: func(c *Config) any { return &c.Access.Config.Addresses },
	},
	{
		Key: "remoting.access.keysFile", Doc: "the file of access keys and their secrets, in the form of the peers' plain_acl.yml or tools.yml",
		Traits: Locked, ptr: func(c *Config) any { return &c.Access.KeysFile },
	},
	{
		Key: "remoting.access.replayWindow", Doc: "for how long after its last use a signed request that changes something is refused from any other address; 0 is never",
		Traits: Locked, Max: int64(time.Hour), ptr: func(c *Config) any { return &c.Access.ReplayWindow },
	},
}
