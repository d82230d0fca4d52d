// Package wire turns bytes into commands and bodies and back: it knows the Apache
// RocketMQ remoting protocol and no registry.
//
// # Frame
//
// All integers are big-endian. A frame is
//
//	offset  width  content
//	0       4      T, signed: how many bytes follow; T = 4 + H + B
//	4       1      header type: 0 JSON, 1 binary
//	5       3      H, the length of the header
//	8       H      header
//	8+H     B      body; B = 0 means that there is none
//
// The limit on a frame counts the four bytes of T: with the default of 16 MiB the
// largest T is 16 777 212.
//
// # JSON header
//
// A UTF-8 object. Its members, in the order in which they are written:
//
//	code                     int32   what is asked, or how it went
//	extFields                object  the typed fields, every value a string
//	flag                     int32   bit 0 answer, bit 1 oneway
//	language                 string  the sender's language by name
//	opaque                   int32   chosen by who asks, repeated by who answers
//	remark                   string  a text for people
//	serializeTypeCurrentRPC  string  "JSON"; nobody reads it
//	version                  int32   see [Version]
//
// # Binary header
//
//	offset  width  content
//	0       2      code, signed
//	2       1      language
//	3       2      version, signed
//	5       4      opaque
//	9       4      flag
//	13      4      R, length of the remark; 0 means none
//	17      R      remark, UTF-8
//	17+R    4      E, length of what follows; 0 or less means no fields
//	21+R    E      fields: K (2 bytes, signed), key, V (4 bytes, signed), value
//
// An empty key or value in the binary form is an absent one, not an empty text.
//
// # Reading and writing
//
// Reading is as lenient as the Java NameServer 5.5 and no more: what it answers is
// accepted, what makes it close the connection or answer with an exception is an
// error. Writing is exact: byte for byte what the Java NameServer 5.5 writes, but for
// the order of what it keeps in hash tables. Encoders append to a slice and allocate
// nothing else. Decoders check every length against the bytes that are left before
// they allocate, and each says what its result may cost and how long it lives.
package wire
