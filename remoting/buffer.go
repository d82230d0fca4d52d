package remoting

import (
	"math/bits"
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

// outputs are buffers that answers have filled, of any size up to 4*flushAt. They are kept
// apart, so that reading begins with small ones.
var outputs = sync.Pool{New: func() any { return newBuffer() }}

// firstClass is the exponent of the smallest size of the larger buffers.
const firstClass = 15

// sized keeps larger buffers by size, for the next large frame, until the next garbage
// collection or two. In one pool of all sizes whoever needs much would mostly find little,
// and each time make what the next one does not find either. There are four sizes to each
// doubling, so that no more than a fifth of a buffer is in excess.
var sized [4 * (31 - firstClass)]sync.Pool

// sizeClass returns the largest class of buffers that a capacity is enough for, or -1.
func sizeClass(size int) int {
	k := bits.Len(uint(size)) - 1
	if k < firstClass {
		return -1
	}
	return 4*(k-firstClass) + size>>(k-2)&3
}

// sizeOf is the size of the buffers of a class.
func sizeOf(class int) int {
	k := firstClass + class/4
	return 1<<k + class%4<<(k-2)
}

func newBuffer() *buffer { return smallBuffers.Get().(*buffer) }

// newOutput returns a buffer for answers.
func newOutput() *buffer { return outputs.Get().(*buffer) }

// freeOutput gives back a buffer for answers. It must not be used any more.
func (b *buffer) freeOutput() {
	if cap(b.b) <= 4*flushAt {
		b.b = b.b[:0]
		outputs.Put(b)
	}
}

// free gives the buffer back. It must not be used any more.
func (b *buffer) free() {
	b.b = b.b[:0]
	if cap(b.b) == smallBuffer {
		smallBuffers.Put(b)
	} else if class := sizeClass(cap(b.b)); class >= 0 && class < len(sized) {
		sized[class].Put(b)
	}
}

// reserve makes room for n bytes in all.
func (b *buffer) reserve(n int) {
	if n <= cap(b.b) {
		return
	}
	class := max(0, sizeClass(n))
	if sizeOf(class) < n {
		class++
	}
	var larger *buffer
	if class < len(sized) {
		n = sizeOf(class)
		larger, _ = sized[class].Get().(*buffer)
	}
	if larger == nil {
		larger = &buffer{b: make([]byte, 0, n)}
	}
	b.b, larger.b = append(larger.b[:0], b.b...), b.b
	larger.free()
}

// escapedNoRouteHelp is the end of the remark as it stands in a JSON text.
var escapedNoRouteHelp = strings.Trim(string(wire.AppendString(nil, remarkNoRouteHelp)), `"`)
