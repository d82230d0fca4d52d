package remoting

import "fingerpost/remoting/wire"

// AccessClass is who sends a request, by which access to it is ruled.
type AccessClass uint8

// The classes, from the one that is open the longest to the strictest.
const (
	// ForClient are the questions of producers, consumers and proxies.
	ForClient AccessClass = iota
	// ForBroker is what brokers send.
	ForBroker
	// ForAdmin is what mqadmin and consoles send.
	ForAdmin
	// ForConfig shows and changes the server's own settings. Codes that are not
	// served are here too.
	ForConfig

	// AccessClasses is how many there are.
	AccessClasses = 4
)

// String returns the class's word in settings, logs and counters.
func (c AccessClass) String() string {
	return [AccessClasses]string{"client", "broker", "admin", "config"}[c]
}

// kind is what access control knows of a request.
type kind struct {
	class AccessClass
	// changes tells that the request moves the registry or the settings, so that it is
	// worth repeating for somebody who overheard it.
	changes bool
}

// kinds has a row for each request that is served.
var kinds = map[wire.RequestCode]kind{
	wire.GetRouteInfoByTopic:  {ForClient, false},
	wire.GetBrokerClusterInfo: {ForClient, false}, // also of proxies and of brokers

	wire.RegisterBroker:           {ForBroker, true},
	wire.UnregisterBroker:         {ForBroker, true},
	wire.RegisterTopicInNamesrv:   {ForBroker, true}, // of brokers that register topics one by one
	wire.QueryDataVersion:         {ForBroker, true}, // a heartbeat too
	wire.BrokerHeartbeat:          {ForBroker, true},
	wire.GetBrokerMemberGroup:     {ForBroker, false},
	wire.GetSystemTopicListFromNS: {ForAdmin, false},

	wire.PutKVConfig:                  {ForAdmin, true},
	wire.GetKVConfig:                  {ForAdmin, false},
	wire.DeleteKVConfig:               {ForAdmin, true},
	wire.GetKVListByNamespace:         {ForAdmin, false},
	wire.WipeWritePermOfBroker:        {ForAdmin, true},
	wire.AddWritePermOfBroker:         {ForAdmin, true},
	wire.DeleteTopicInNamesrv:         {ForAdmin, true},
	wire.GetAllTopicListFromNamesrv:   {ForAdmin, false},
	wire.GetTopicsByCluster:           {ForAdmin, false},
	wire.GetUnitTopicList:             {ForAdmin, false},
	wire.GetHasUnitSubTopicList:       {ForAdmin, false},
	wire.GetHasUnitSubUnunitTopicList: {ForAdmin, false},

	wire.UpdateNamesrvConfig: {ForConfig, true},
	wire.GetNamesrvConfig:    {ForConfig, false},
}

// strictest is what a code without a row is: nobody knows what it would do.
var strictest = kind{ForConfig, true}

func kindOf(code wire.RequestCode) kind {
	if k, ok := kinds[code]; ok {
		return k
	}
	return strictest
}
