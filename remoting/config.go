package remoting

import (
	"errors"

	"fingerpost/registry"
	"fingerpost/remoting/wire"
)

// Settings are the server's settings as admin tools read and change them.
type Settings interface {
	// Text returns all settings as lines of key=value in order of key, secrets left
	// out. It is never empty: tools fail on an empty answer.
	Text() []byte
	// Update applies a text in Java's properties syntax as one change, or nothing of
	// it. A *registry.Error of kind Denied is a key that may not be changed this way;
	// Invalid is a text ("malformed-properties") or a value that cannot be read. The
	// warnings tell what was ignored.
	Update(text []byte, cause registry.Cause) (warnings []string, err error)
}

// Remarks of refused changes as peers know them.
const (
	remarkBlackList = "Can not update config in black list."
	remarkMalformed = "string2Properties error"
)

// updateConfig answers 318.
func (c *conn) updateConfig(req *wire.Command, a *answer) {
	if req.Body == nil {
		return
	}
	warnings, err := c.srv.Settings.Update(req.Body, c.cause("updateConfig"))
	for _, w := range warnings {
		c.srv.Log.Warn("part of a change of settings was ignored", "peer", c.peer, "why", w)
	}
	if err == nil {
		return
	}
	c.srv.Log.Warn("a change of settings was refused", "peer", c.peer, "err", err)
	e, ok := errors.AsType[*registry.Error](err)
	switch {
	case ok && e.Kind == registry.Denied && e.Field != "":
		a.fail(wire.NoPermission, remarkBlackList)
	case ok && e.Code == "malformed-properties":
		a.fail(wire.SystemError, remarkMalformed)
	default:
		c.refuse(a, err)
	}
}

// getConfig answers 319.
func (c *conn) getConfig(_ *wire.Command, a *answer) { a.body = c.srv.Settings.Text() }
