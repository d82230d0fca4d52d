package api

// Cluster is a cluster in short.
type Cluster struct {
	ClusterName string `json:"clusterName" example:"DefaultCluster"`
	// BrokerNames are the broker names of the cluster, sorted.
	BrokerNames []string `json:"brokerNames" example:"broker-a,broker-b"`
	Zones       []string `json:"zones" example:"cn-hz-a"`
	MemberCount int      `json:"memberCount" example:"4"`
	MasterCount int      `json:"masterCount" example:"2"`
	TopicCount  int      `json:"topicCount" example:"214"`
	// Health is ok or degraded.
	Health string `json:"health" enums:"ok,degraded" example:"ok"`
	// Problems say what is wrong, by broker name.
	Problems []BrokerProblem `json:"problems"`
}

// BrokerProblem is one thing wrong with a broker set; see [BrokerSet.Problems].
type BrokerProblem struct {
	BrokerName string `json:"brokerName" example:"broker-b"`
	Code       string `json:"code" example:"no-master"`
}

// ClusterList is all clusters at one revision.
type ClusterList struct {
	Revision string    `json:"revision" example:"k7f2mq3a.1842"`
	Total    int       `json:"total" example:"1"`
	Items    []Cluster `json:"items"`
	Next     string    `json:"next,omitempty"`
}

// ClusterInfo is RocketMQ's ClusterInfo in standard JSON.
type ClusterInfo struct {
	BrokerAddrTable  map[string]BrokerData `json:"brokerAddrTable"`
	ClusterAddrTable map[string][]string   `json:"clusterAddrTable"`
}
