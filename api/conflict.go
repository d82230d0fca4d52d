package api

// Conflict is something that brokers do to each other, summed up over all the times it
// was seen.
type Conflict struct {
	// Kind is name-in-two-clusters: brokers of two clusters use one name.
	// registration-refused: a registration was refused as a whole, for the reason in Code.
	// place-contested: two addresses take the same name and id from each other.
	// address-contested: two broker names take the same address from each other.
	// removal-refused: a place was to be unregistered that another address holds by now.
	Kind string `json:"kind" enums:"name-in-two-clusters,registration-refused,place-contested,address-contested,removal-refused" example:"place-contested"`
	// BrokerName, BrokerID, ClusterName and BrokerAddr are those of whoever came last.
	BrokerName  string `json:"brokerName" example:"broker-a"`
	BrokerID    int64  `json:"brokerId" example:"0"`
	ClusterName string `json:"clusterName" example:"DefaultCluster"`
	BrokerAddr  string `json:"brokerAddr" example:"10.0.0.12:10911"`
	// Against is whom it stands against: an address, a cluster, or a name and id.
	Against string `json:"against,omitempty" example:"10.0.0.11:10911"`
	// Code is that of the refusal, of the kind registration-refused alone.
	Code   string `json:"code,omitempty" example:"stale-state-version"`
	Detail string `json:"detail" example:"the place was held by 10.0.0.11:10911"`
	// Active tells one that stands now, or was seen in the last three minutes.
	Active bool `json:"active" example:"true"`
	// FirstAt and LastAt are when it was seen, Count how often.
	FirstAt *Time  `json:"firstAt" swaggertype:"string" format:"date-time"`
	LastAt  *Time  `json:"lastAt" swaggertype:"string" format:"date-time"`
	Count   uint64 `json:"count" example:"12"`
}

// ConflictList is what brokers are at odds about, the latest first.
type ConflictList struct {
	Revision string     `json:"revision" example:"k7f2mq3a.1842"`
	Total    int        `json:"total" example:"1"`
	Items    []Conflict `json:"items"`
}
