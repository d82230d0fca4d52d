package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"
)

func TestSplitFrameFaults(t *testing.T) {
	tests := []struct {
		name   string
		in     string // as much as must have come for the fault to be seen
		fault  FrameFault
		size   int64
		limit  int64
		limits FrameLimits
	}{
		{name: "length -1", in: "ffffffff", fault: FrameNegative, size: 3},
		{name: "smallest length", in: "80000000", fault: FrameNegative, size: -1<<31 + 4},
		{name: "length 0", in: "00000000", fault: FrameShort, size: 4},
		{name: "length 3", in: "00000003", fault: FrameShort, size: 7},
		{name: "one byte over 16 MiB", in: "00fffffd", fault: FrameOverLimit, size: 16<<20 + 1, limit: 16 << 20},
		{name: "largest length", in: "7fffffff", fault: FrameOverLimit, size: 1<<31 + 3, limit: 16 << 20},
		{name: "over a limit that was set", in: "0000005d", fault: FrameOverLimit, size: 97, limit: 96, limits: FrameLimits{Frame: 96}},
		{name: "header type 2", in: "00000010 02000000", fault: FrameUnknownType, size: 2},
		{name: "header type 255", in: "00000010 ff000000", fault: FrameUnknownType, size: 255},
		{name: "header beyond the frame by 1", in: "00000010 0000000d", fault: FrameHeaderLong, size: 13, limit: 12},
		{name: "header of 24 bits", in: "00000010 01ffffff", fault: FrameHeaderLong, size: MaxHeader, limit: 12},
		{name: "header over the limit", in: "00fffffc 00100001", fault: FrameHeaderOverLimit, size: 1<<20 + 1, limit: 1 << 20},
		{name: "header over a limit that was set", in: "00000010 00000009", fault: FrameHeaderOverLimit, size: 9, limit: 8, limits: FrameLimits{Header: 8}},
		{name: "HTTP", in: "47455420 2f204854 54502f31", fault: FrameOverLimit, size: 0x47455420 + 4, limit: 16 << 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := unhex(t, tt.in)
			for n := range b { // nothing is said too early
				if _, _, ok, err := SplitFrame(b[:n], tt.limits); ok || err != nil && n < 4 {
					t.Errorf("%d bytes: ok %v, error %v", n, ok, err)
				}
			}
			_, _, ok, err := SplitFrame(b, tt.limits)
			fe, is := errors.AsType[*FrameError](err)
			if ok || !is {
				t.Fatalf("ok %v, error %v; want a *FrameError", ok, err)
			}
			if fe.Fault != tt.fault || fe.Size != tt.size || fe.Limit != tt.limit {
				t.Errorf("got %v size %d limit %d, want %v size %d limit %d", fe.Fault, fe.Size, fe.Limit, tt.fault, tt.size, tt.limit)
			}
		})
	}
}

func TestSplitFramePieces(t *testing.T) {
	frame := unhex(t, "0000000b"+ // 4 + 3 + 4 bytes
		"01 000003"+ // binary, header of 3 bytes
		"616263"+ // header
		"77787980") // body
	for n := range frame {
		f, size, ok, err := SplitFrame(frame[:n], FrameLimits{})
		want := 0
		if n >= 4 {
			want = len(frame)
		}
		if ok || err != nil || size != want || f.Header != nil || f.Body != nil {
			t.Errorf("%d bytes: size %d, ok %v, error %v, frame %v; want size %d", n, size, ok, err, f, want)
		}
	}
	f, size, ok, err := SplitFrame(append(frame, 0xff), FrameLimits{})
	if !ok || err != nil || size != len(frame) {
		t.Fatalf("size %d, ok %v, error %v", size, ok, err)
	}
	if f.Type != BinaryHeader || string(f.Header) != "abc" || string(f.Body) != "wxy\x80" {
		t.Errorf("frame %v", f)
	}
	if cap(f.Header) != 3 || cap(f.Body) != 4 {
		t.Errorf("an append to header or body would write into what follows: cap %d and %d", cap(f.Header), cap(f.Body))
	}
}

func TestSplitFrameLargest(t *testing.T) {
	b := unhex(t, "00fffffc 00000000") // 16 777 212
	if _, size, ok, err := SplitFrame(b, FrameLimits{}); size != DefaultMaxFrame || ok || err != nil {
		t.Errorf("size %d, ok %v, error %v; want to wait for %d bytes", size, ok, err, DefaultMaxFrame)
	}
}

func TestSplitFrameWithoutBody(t *testing.T) {
	f := split(t, unhex(t, "00000006 00000002 7b7d"))
	if f.Body != nil {
		t.Errorf("body %v, want nil", f.Body)
	}
}

func TestReadFrame(t *testing.T) {
	var stream []byte
	for i := range 20 {
		c := Request(GetRouteInfoByTopic, Fields{{FieldTopic, fmt.Sprint("T", i)}}, bytes.Repeat([]byte{'b'}, i*7000))
		var err error
		if stream, err = c.AppendTo(stream, HeaderType(i%2)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		wrap func(io.Reader) io.Reader
	}{
		{"whole", func(r io.Reader) io.Reader { return r }},
		{"one byte at a time", iotest.OneByteReader},
		{"data with the end", iotest.DataErrReader},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := bufio.NewReader(tt.wrap(bytes.NewReader(stream)))
			var buf []byte
			for i := range 20 {
				var f Frame
				var err error
				if f, buf, err = ReadFrame(r, buf, FrameLimits{}); err != nil {
					t.Fatalf("frame %d: %v", i, err)
				}
				var c Command
				if err := c.Decode(f); err != nil {
					t.Fatalf("frame %d: %v", i, err)
				}
				if topic, _ := c.Ext.Get(FieldTopic); topic != fmt.Sprint("T", i) || len(c.Body) != i*7000 {
					t.Errorf("frame %d: topic %q, body of %d bytes", i, topic, len(c.Body))
				}
			}
			if _, _, err := ReadFrame(r, buf, FrameLimits{}); err != io.EOF {
				t.Errorf("after the last frame: %v, want io.EOF", err)
			}
		})
	}
	t.Run("ends inside a frame", func(t *testing.T) {
		for n := 1; n < 60; n++ {
			r := bufio.NewReader(bytes.NewReader(stream[:n]))
			if _, _, err := ReadFrame(r, nil, FrameLimits{}); err != io.ErrUnexpectedEOF {
				t.Fatalf("%d bytes: %v, want io.ErrUnexpectedEOF", n, err)
			}
		}
	})
	t.Run("a claim costs nothing", func(t *testing.T) {
		// 16 MiB are claimed and 100 bytes sent.
		r := bufio.NewReader(bytes.NewReader(append(unhex(t, "00fffffc 00000000"), make([]byte, 92)...)))
		_, buf, err := ReadFrame(r, nil, FrameLimits{})
		if err != io.ErrUnexpectedEOF {
			t.Error(err)
		}
		if cap(buf) > 64<<10 {
			t.Errorf("the buffer grew to %d bytes", cap(buf))
		}
	})
}

func TestFrameErrorsSpeak(t *testing.T) {
	for fault := range FrameFault(len(frameFaults)) {
		e := &FrameError{Fault: fault, Size: 42, Limit: 7}
		if e.Error() == "" || fault.String() == "" {
			t.Errorf("fault %d says nothing", fault)
		}
	}
}

func TestEncodeRefusals(t *testing.T) {
	long := string(bytes.Repeat([]byte{'k'}, maxKeyLength+1))
	tests := []struct {
		name   string
		c      Command
		header HeaderType
		field  string
	}{
		{"code beyond 16 bits", Command{Code: 200050}, BinaryHeader, "code"},
		{"version beyond 16 bits", Command{Version: 40000}, BinaryHeader, "version"},
		{"name beyond 16 bits", Command{Ext: Fields{{long, "v"}}}, BinaryHeader, long[:32] + "…"},
		{"header beyond 24 bits", Command{Remark: string(make([]byte, MaxHeader))}, JSONHeader, "header"},
		{"header beyond 24 bits, binary", Command{Remark: string(make([]byte, MaxHeader))}, BinaryHeader, "header"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.c.AppendTo([]byte("before"), tt.header)
			ee, is := errors.AsType[*EncodeError](err)
			if !is || ee.Field != tt.field || ee.Error() == "" {
				t.Errorf("error %v, want an *EncodeError for %s", err, tt.field)
			}
			if string(got) != "before" {
				t.Errorf("dst became %d bytes", len(got))
			}
		})
	}
}
