package wire

import "strconv"

// The names of typed fields, as they stand in extFields.
const (
	FieldAcceptStrictJSON  = "acceptStandardJsonOnly"
	FieldAddTopicCount     = "addTopicCount"
	FieldBodyCRC           = "bodyCrc32"
	FieldBrokerAddr        = "brokerAddr"
	FieldBrokerID          = "brokerId"
	FieldBrokerName        = "brokerName"
	FieldChanged           = "changed"
	FieldCluster           = "cluster" // of 224 only
	FieldClusterName       = "clusterName"
	FieldCompressed        = "compressed"
	FieldEnableActing      = "enableActingMaster"
	FieldHABrokerAddr      = "haBrokerAddr"
	FieldHAServerAddr      = "haServerAddr"
	FieldHeartbeatTimeout  = "heartbeatTimeoutMillis"
	FieldKey               = "key"
	FieldMasterAddr        = "masterAddr"
	FieldMinBrokerAddr     = "minBrokerAddr"
	FieldMinBrokerID       = "minBrokerId"
	FieldNamespace         = "namespace"
	FieldOfflineBrokerAddr = "offlineBrokerAddr"
	FieldTopic             = "topic"
	FieldValue             = "value"
	FieldWipeTopicCount    = "wipeTopicCount"
	FieldZoneMode          = "__ZONE_MODE"
	FieldZoneName          = "__ZONE_NAME"
)

// The names of typed fields of our own. A server of ours that is asked for 106 with
// FieldDigests says in its answer who it is and what identifies its tables, so that two
// of ours compare themselves without sending them. Every other server passes the field
// over, and no other client sends it.
const (
	FieldDigests      = "fingerpostDigests"
	FieldEpoch        = "fingerpostEpoch"
	FieldTopicsDigest = "fingerpostTopicsDigest"
	FieldKVDigest     = "fingerpostKVDigest"
)

// BrokerIdentity are the fields by which 103, 104, 322 and 904 name a broker. The
// texts are opaque; the address is what clients shall use.
type BrokerIdentity struct {
	Cluster, Name, Addr Text
	ID                  Int
}

// BrokerIdentity reads the four fields.
func (f Fields) BrokerIdentity() BrokerIdentity {
	return BrokerIdentity{
		Cluster: f.Text(FieldClusterName),
		Name:    f.Text(FieldBrokerName),
		Addr:    f.Text(FieldBrokerAddr),
		ID:      f.Long(FieldBrokerID),
	}
}

// Check returns a *FieldError for the first of the four that is missing or no number,
// for the requests that make or end a registration (103, 104).
func (b *BrokerIdentity) Check() error {
	if err := b.CheckNames(); err != nil {
		return err
	}
	if b.ID.Presence == Absent {
		return &FieldError{Field: FieldBrokerID}
	}
	return nil
}

// CheckNames is Check for the requests that only keep a registration alive (322,
// 904): the id may be missing, since it decides nothing there.
func (b *BrokerIdentity) CheckNames() error {
	switch {
	case !b.Cluster.Present:
		return &FieldError{Field: FieldClusterName}
	case !b.Name.Present:
		return &FieldError{Field: FieldBrokerName}
	case !b.Addr.Present:
		return &FieldError{Field: FieldBrokerAddr}
	case b.ID.Presence == Unparsable:
		return &FieldError{Field: FieldBrokerID, Raw: b.ID.Raw, Unparsable: true}
	}
	return nil
}

// Fields returns the identity as extension fields.
func (b *BrokerIdentity) Fields() Fields {
	var f Fields
	f.addInt(FieldBrokerID, b.ID)
	f.addText(FieldClusterName, b.Cluster)
	f.addText(FieldBrokerAddr, b.Addr)
	f.addText(FieldBrokerName, b.Name)
	return f
}

// RegisterBrokerHeader are the fields of 103.
type RegisterBrokerHeader struct {
	Broker       BrokerIdentity
	HAServerAddr Text
	// HeartbeatTimeoutMillis is after how long a silent broker is dead; absent or
	// unparsable means 120 s.
	HeartbeatTimeoutMillis Int
	// EnableActingMaster present, whatever its value, marks a broker of 5.0 or later.
	EnableActingMaster Bool
	// Compressed says that the body is a zlib stream. Brokers of 5.x say false even
	// when it is; see [RegisterDecoder].
	Compressed bool
	// BodyCRC is the checksum of the body as sent; see [BodyCRC].
	BodyCRC Int
	// ZoneName is no part of Java's typed header, but of the same map.
	ZoneName Text
}

// RegisterBrokerHeader reads the fields of 103 and refuses nothing; see
// [BrokerIdentity.Check].
func (f Fields) RegisterBrokerHeader() RegisterBrokerHeader {
	return RegisterBrokerHeader{
		Broker:                 f.BrokerIdentity(),
		HAServerAddr:           f.Text(FieldHAServerAddr),
		HeartbeatTimeoutMillis: f.Long(FieldHeartbeatTimeout),
		EnableActingMaster:     f.Bool(FieldEnableActing),
		Compressed:             f.Bool(FieldCompressed).Value,
		BodyCRC:                f.Integer(FieldBodyCRC),
		ZoneName:               f.Text(FieldZoneName),
	}
}

// Fields returns the header as extension fields, as a broker sends them.
func (h *RegisterBrokerHeader) Fields() Fields {
	f := h.Broker.Fields()
	f.addInt(FieldBodyCRC, h.BodyCRC)
	f.addBool(FieldCompressed, Bool{Value: h.Compressed, Present: true})
	f.addBool(FieldEnableActing, h.EnableActingMaster)
	f.addText(FieldHAServerAddr, h.HAServerAddr)
	f.addInt(FieldHeartbeatTimeout, h.HeartbeatTimeoutMillis)
	f.addText(FieldZoneName, h.ZoneName)
	return f
}

// MinBrokerIDChange are the fields of 905: who is now the smallest of a group.
type MinBrokerIDChange struct {
	MinBrokerID   int64
	MinBrokerAddr string
	// HABrokerAddr is set when a smaller id arrived and told its HA address.
	HABrokerAddr Text
	// OfflineBrokerAddr is set when the smallest left: its address.
	OfflineBrokerAddr Text
}

// Fields returns the notice as extension fields. Java never fills in brokerName.
func (m *MinBrokerIDChange) Fields() Fields {
	var f Fields
	f.addText(FieldHABrokerAddr, m.HABrokerAddr)
	f.addText(FieldOfflineBrokerAddr, m.OfflineBrokerAddr)
	return append(f,
		Field{FieldMinBrokerAddr, m.MinBrokerAddr},
		Field{FieldMinBrokerID, strconv.FormatInt(m.MinBrokerID, 10)})
}

// MinBrokerIDChange reads the fields of 905, for a broker in a test.
func (f Fields) MinBrokerIDChange() MinBrokerIDChange {
	return MinBrokerIDChange{
		MinBrokerID:       f.Long(FieldMinBrokerID).Value,
		MinBrokerAddr:     f.Text(FieldMinBrokerAddr).Value,
		HABrokerAddr:      f.Text(FieldHABrokerAddr),
		OfflineBrokerAddr: f.Text(FieldOfflineBrokerAddr),
	}
}
