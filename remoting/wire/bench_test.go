package wire

import (
	"fmt"
	"testing"
)

func BenchmarkReadRouteRequest(b *testing.B) {
	for _, typ := range []HeaderType{JSONHeader, BinaryHeader} {
		b.Run(typ.String(), func(b *testing.B) {
			frame := request(b, typ)
			b.ReportAllocs()
			b.SetBytes(int64(len(frame)))
			var q RouteRequest
			for b.Loop() {
				f, _, ok, err := SplitFrame(frame, FrameLimits{})
				if !ok || err != nil || !q.ReadRouteRequest(f) {
					b.Fatal("not read")
				}
			}
		})
	}
}

func BenchmarkDecodeCommand(b *testing.B) {
	for _, typ := range []HeaderType{JSONHeader, BinaryHeader} {
		b.Run(typ.String(), func(b *testing.B) {
			frame := request(b, typ)
			f, _, _, _ := SplitFrame(frame, FrameLimits{})
			b.ReportAllocs()
			b.SetBytes(int64(len(frame)))
			var c Command
			for b.Loop() {
				if err := c.Decode(f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendResponse(b *testing.B) {
	body := someRoute.AppendJSON(nil, Strict)
	for _, typ := range []HeaderType{JSONHeader, BinaryHeader} {
		b.Run(typ.String(), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			var out []byte
			for opaque := int32(0); b.Loop(); opaque++ {
				c := Command{Version: V5_5_0, Opaque: opaque, Flag: FlagResponse, Body: body}
				var err error
				if out, err = c.AppendTo(out[:0], typ); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendRoute(b *testing.B) {
	for _, d := range []Dialect{Legacy, Strict} {
		b.Run(d.String(), func(b *testing.B) {
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				out = someRoute.AppendJSON(out[:0], d)
			}
			b.SetBytes(int64(len(out)))
		})
	}
}

func BenchmarkDecodeRoute(b *testing.B) {
	body := someRoute.AppendJSON(nil, Legacy)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := DecodeRoute(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeRegister(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		reg := bigRegistration(n)
		zipped, err := reg.AppendCompressed(nil, V5_5_0)
		if err != nil {
			b.Fatal(err)
		}
		for _, form := range []struct {
			name string
			body []byte
		}{{"JSON", reg.AppendJSON(nil)}, {"compressed", zipped}} {
			b.Run(fmt.Sprintf("%s/%d", form.name, n), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(form.body)))
				in := interner{}
				topics := 0
				d := RegisterDecoder{Intern: in.intern, Topic: func(*TopicConfig) { topics++ }}
				for b.Loop() {
					topics = 0
					if _, err := d.Decode(form.body, V5_5_0, form.name == "compressed", 0); err != nil {
						b.Fatal(err)
					}
				}
				if topics != n {
					b.Fatalf("%d topics", topics)
				}
			})
		}
	}
}
