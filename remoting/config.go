package remoting

import "fingerpost/remoting/wire"

// Settings are the server's settings as admin tools read and change them.
type Settings interface {
	// RemoteText returns all settings as lines of key=value in order of key,
	// secrets left out. It is never empty: tools fail on an empty answer.
	RemoteText() []byte
	// UpdateRemote applies a text in Java's properties syntax as one change, or
	// nothing of it. A *registry.Error of kind Denied is a key that may not be
	// changed this way; Invalid is a text or value that cannot be read.
	UpdateRemote(text []byte, actor string) error
}

// updateConfig answers 318.
func (c *conn) updateConfig(req *wire.Command, a *answer) {
	if req.Body == nil {
		return
	}
	if err := c.srv.Settings.UpdateRemote(req.Body, c.peer); err != nil {
		c.srv.Log.Warn("a change of settings was refused", "peer", c.peer, "err", err)
		c.refuse(a, err)
	}
}

// getConfig answers 319.
func (c *conn) getConfig(_ *wire.Command, a *answer) { a.body = c.srv.Settings.RemoteText() }
