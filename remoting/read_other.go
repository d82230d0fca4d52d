//go:build !unix

package remoting

// attachRaw does nothing here: reads hold a small buffer while they wait.
func (c *conn) attachRaw() {}
