package remoting

import (
	"strings"
	"sync"

	"fingerpost/remoting/wire"
)

const (
	// smallBuffer holds some hundred route requests, or the answers to a few.
	smallBuffer = 16 << 10
	// flushAt is how much is answered before it is written although more requests
	// are waiting.
	flushAt = 128 << 10
	// directBody is the size from which a body is written from where it is
	// remembered instead of being copied.
	directBody = 64 << 10
)

// buffer is a growing slice of bytes that goes back to its pool when a connection
// has nothing to do, so that a silent connection has none.
type buffer struct{ b []byte }

var smallBuffers = sync.Pool{New: func() any { return &buffer{b: make([]byte, 0, smallBuffer)} }}

// grownBuffers are those that answers and frames have made larger. They are kept apart,
// so that reading begins with small ones.
var grownBuffers = sync.Pool{New: func() any { return newBuffer() }}

// largeBuffers keeps the buffers of large frames for the next one, until the next
// garbage collection or two.
var largeBuffers = sync.Pool{}

func newBuffer() *buffer { return smallBuffers.Get().(*buffer) }

// newOutput returns a buffer for answers.
func newOutput() *buffer { return grownBuffers.Get().(*buffer) }

// free gives the buffer back. It must not be used any more.
func (b *buffer) free() {
	b.b = b.b[:0]
	switch c := cap(b.b); {
	case c == smallBuffer:
		smallBuffers.Put(b)
	case c <= 4*flushAt:
		grownBuffers.Put(b)
	default:
		largeBuffers.Put(b)
	}
}

// reserve makes room for n bytes in all.
func (b *buffer) reserve(n int) {
	if n <= cap(b.b) {
		return
	}
	pool := &grownBuffers
	if n > 4*flushAt {
		pool = &largeBuffers
	}
	if l, ok := pool.Get().(*buffer); ok {
		// Much more than is needed would be kept from whoever needs it.
		fits := n <= cap(l.b) && cap(l.b) <= 4*n
		if fits {
			b.b, l.b = append(l.b[:0], b.b...), b.b
		}
		l.free()
		if fits {
			return
		}
	}
	grown := make([]byte, len(b.b), n)
	copy(grown, b.b)
	b.b = grown
}

// escapedNoRouteHelp is the end of the remark as it stands in a JSON text.
var escapedNoRouteHelp = strings.Trim(string(wire.AppendString(nil, remarkNoRouteHelp)), `"`)
