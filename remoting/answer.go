package remoting

import (
	"errors"

	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// answer is what a handler says: success with nothing to tell unless it says more.
type answer struct {
	code      wire.ResponseCode
	remark    string
	hasRemark bool
	// ext are the typed fields; typed tells that the request's answers have such, so
	// that an empty set is written.
	ext   wire.Fields
	typed bool
	body  []byte
}

func (a *answer) fail(code wire.ResponseCode, remark string) {
	a.code, a.remark, a.hasRemark = code, remark, true
}

// fault answers a request that cannot be understood. Where Java's NameServer answers
// the text of an exception, we say which field is wrong and, like it, no typed fields.
func (a *answer) fault(err error) {
	a.fail(wire.SystemError, err.Error())
	a.typed = false
}

// codes is how each kind of refusal is said over remoting.
var codes = map[registry.Kind]wire.ResponseCode{
	registry.Internal:      wire.SystemError,
	registry.Invalid:       wire.SystemError,
	registry.TopicNotFound: wire.TopicNotExist,
	registry.NotFound:      wire.QueryNotFound,
	registry.Denied:        wire.NoPermission,
	registry.Disabled:      wire.SystemError,
	registry.Conflict:      wire.SystemError,
	registry.NotReady:      wire.SystemError,
	registry.Unsaved:       wire.SystemError,
}

// Texts of remarks that peers and people know.
const (
	remarkNotReady    = "name server not ready"
	remarkDisabled    = "disable"
	remarkCRC         = "crc32 not match"
	remarkRefused     = "register broker failed"
	remarkGoAway      = "please go away"
	remarkUnset       = "not set any response code"
	remarkKVFields    = "namespace or key is null"
	remarkInternal    = "internal error of the name server; its log has the details"
	remarkNoRoute     = "No topic route info in name server for the topic: "
	remarkNoRouteHelp = "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."
)

// refuse answers an error. One that is not the registry's is logged and shown as nothing.
func (c *conn) refuse(a *answer, err error) {
	kind := registry.KindOf(err)
	switch kind {
	case registry.Internal:
		c.srv.Log.Error("a request failed", "peer", c.peer, "err", err)
		a.fail(wire.SystemError, remarkInternal)
	case registry.Disabled:
		a.fail(wire.SystemError, remarkDisabled)
	case registry.NotReady:
		a.fail(wire.SystemError, remarkNotReady)
	case registry.Unsaved:
		c.srv.Log.Error("a change could not be saved", "peer", c.peer, "err", err)
		a.fail(wire.SystemError, kindMessage(err))
	case registry.Invalid:
		a.fail(codes[kind], kindMessage(err))
		a.typed = false
	default:
		a.fail(codes[kind], kindMessage(err))
	}
}

// kindMessage is the registry's own sentence, without the cause, which may name files.
func kindMessage(err error) string {
	if e, ok := errors.AsType[*registry.Error](err); ok {
		return e.Message
	}
	return err.Error()
}
