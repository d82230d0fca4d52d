package api

// KVNamespaces is the namespaces of the key-value table.
type KVNamespaces struct {
	Revision string        `json:"revision" example:"k7f2mq3a.1842"`
	Total    int           `json:"total" example:"1"`
	Items    []KVNamespace `json:"items"`
}

// KVNamespace is one namespace and its size.
type KVNamespace struct {
	Namespace string `json:"namespace" example:"ORDER_TOPIC_CONFIG"`
	Keys      int    `json:"keys" example:"12"`
	// Bytes is the size of all keys and values.
	Bytes int `json:"bytes" example:"418"`
}

// KVTable is all keys of a namespace.
type KVTable struct {
	Namespace string            `json:"namespace" example:"ORDER_TOPIC_CONFIG"`
	Table     map[string]string `json:"table"`
	Revision  string            `json:"revision" example:"k7f2mq3a.1842"`
}

// KVPut is the body that sets a key.
type KVPut struct {
	Value *string `json:"value" validate:"required" example:"broker-a:4;broker-b:4"`
}

// KVEntry is one key.
type KVEntry struct {
	Namespace string `json:"namespace" example:"ORDER_TOPIC_CONFIG"`
	Key       string `json:"key" example:"OrderCreated"`
	Value     string `json:"value" example:"broker-a:4;broker-b:4"`
	// Revision is that at which the key was last set.
	Revision string `json:"revision" example:"k7f2mq3a.1842"`
}

// KVSet is the answer to setting a key.
type KVSet struct {
	KVEntry
	Created  bool   `json:"created"`
	DryRun   bool   `json:"dryRun,omitempty"`
	Warnings []Note `json:"warnings"`
	PeerResults
}

// KVDeleted is the answer to the removal of a key on the peers too.
type KVDeleted struct {
	Namespace string `json:"namespace" example:"ORDER_TOPIC_CONFIG"`
	Key       string `json:"key" example:"OrderCreated"`
	DryRun    bool   `json:"dryRun,omitempty"`
	Revision  string `json:"revision" example:"k7f2mq3a.1843"`
	PeerResults
}
