package remoting

import "testing"

// A buffer that is taken for n bytes has room for them, and not much more; one that has
// grown to any size serves whoever needs what it is counted for.
func TestBufferSizes(t *testing.T) {
	for n := 1; n < 1<<30; n += 1 + n/7 {
		class := max(0, sizeClass(n))
		if sizeOf(class) < n {
			class++
		}
		if size := sizeOf(class); size < n || n > 1<<firstClass && size > n+n/4 {
			t.Fatalf("for %d bytes a buffer of %d", n, size)
		}
		if class := sizeClass(n); class >= 0 && sizeOf(class) > n {
			t.Fatalf("a buffer of %d counts as one of %d", n, sizeOf(class))
		}
	}
	b := newBuffer()
	for _, n := range []int{smallBuffer + 1, 1 << 16, 400_000, 10_000_000} {
		b.b = append(b.b[:0], "begun"...)
		if b.reserve(n); cap(b.b) < n || string(b.b) != "begun" {
			t.Errorf("with room for %d there are %d and %q", n, cap(b.b), b.b)
		}
	}
	b.free()
}
