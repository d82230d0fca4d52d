package registry

import "time"

// Rules are the settings that the registry itself obeys. They are part of a
// [Snapshot]: a reader sees one set of rules for as long as it holds one.
// The names are those of the Apache RocketMQ NameServer's properties.
type Rules struct {
	// SupportActingMaster lets routes show the smallest slave of a group without
	// a master under id 0 (supportActingMaster, off by default).
	SupportActingMaster bool
	// OrderMessageEnable attaches the order configuration of a topic to its route
	// (orderMessageEnable, off by default).
	OrderMessageEnable bool
	// ReturnOrderTopicConfigToBroker hands the namespace ORDER_TOPIC_CONFIG to a
	// broker that registers (returnOrderTopicConfigToBroker, on by default).
	ReturnOrderTopicConfigToBroker bool
	// DeleteTopicWithBrokerRegistration makes a registration a full statement over
	// remoting too: topics it does not name leave that broker
	// (deleteTopicWithBrokerRegistration, off by default).
	DeleteTopicWithBrokerRegistration bool
	// NotifyMinBrokerIDChanged asks for a notice to a group's members when its
	// smallest id changes (notifyMinBrokerIdChanged, off by default).
	NotifyMinBrokerIDChanged bool
	// EnableAllTopicList answers the list of all topics (enableAllTopicList, on by default).
	EnableAllTopicList bool
	// EnableTopicList answers the lists by cluster and by unit (enableTopicList, on by default).
	EnableTopicList bool
	// NeedWaitForService refuses routes with NotReady until WaitForService has
	// passed since the start (needWaitForService, off by default).
	NeedWaitForService bool
	// WaitForService is the length of that wait (waitSecondsForService, 45 s by default).
	WaitForService time.Duration
	// MassExpiryShare and MassExpiryMinimum say when members that vanish at once are an
	// alarm: more than that share of all in percent, and at least that many (50 and 5).
	MassExpiryShare, MassExpiryMinimum int
	// MassExpiryHold keeps members that are over their time while the alarm stands
	// (off by default), MassExpiryLimit is how long it stands at most (10 minutes).
	MassExpiryHold  bool
	MassExpiryLimit time.Duration
}

// DefaultRules returns the rules of a server that nobody configured.
func DefaultRules() Rules {
	return Rules{
		ReturnOrderTopicConfigToBroker: true,
		EnableAllTopicList:             true,
		EnableTopicList:                true,
		WaitForService:                 45 * time.Second,
		MassExpiryShare:                50,
		MassExpiryMinimum:              5,
		MassExpiryLimit:                10 * time.Minute,
	}
}
