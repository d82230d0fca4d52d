package wire

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strconv"
)

// The compressed form of a registration is a zlib stream. Inside, every length and
// count is an int32:
//
//	length, bytes       data version, JSON
//	N                   number of topics
//	N × length, bytes   a topic as text: name, read queues, write queues, permission
//	                    and filter type, one blank between two, and from 5.0 on the
//	                    attributes as JSON
//	length, bytes       filter servers, a JSON array
//	M                   number of static-topic mappings, from 5.0 on
//	M × length, bytes   a mapping, JSON; its own topic is the name it stands under

// isZlib reports whether b begins like a zlib stream: deflate, and a check value that
// makes the first two bytes a multiple of 31. No JSON begins so.
func isZlib(b []byte) bool {
	return len(b) >= 2 && b[0] == 0x78 && (uint(b[0])<<8|uint(b[1]))%31 == 0
}

// inflater reads lengths and entries from a zlib stream. Like a cursor it goes bad
// once.
type inflater struct {
	r     *bufio.Reader
	read  int64 // bytes that have come out
	limit int64
	buf   []byte // the last entry
	cur   cursor // over it
	err   error
}

func (z *inflater) fail(reason string) {
	if z.err == nil {
		z.err = &BodyError{Body: registerBody, Offset: int(z.read), Reason: reason}
	}
}

// failRead turns an error of the stream into ours.
func (z *inflater) failRead(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		z.fail("the compressed body ends early")
		return
	}
	z.fail("the compressed body is damaged: " + err.Error())
}

// int32 reads a length or a count.
func (z *inflater) int32() int32 {
	if z.err != nil {
		return 0
	}
	if z.read+4 > z.limit {
		z.overLimit()
		return 0
	}
	b, err := z.r.Peek(4)
	if err != nil {
		z.failRead(err)
		return 0
	}
	n := int32(binary.BigEndian.Uint32(b))
	skipped, _ := z.r.Discard(4) // they are there: Peek saw them
	z.read += int64(skipped)
	return n
}

func (z *inflater) overLimit() {
	if z.err == nil {
		z.err = &BodyError{
			Body: registerBody, Offset: int(z.read), Limit: true,
			Reason: "more than " + strconv.FormatInt(z.limit, 10) + " bytes when inflated",
		}
	}
}

// entry reads a length and as many bytes, which are lent until the next call. The
// buffer grows with what arrives, not with what is claimed.
func (z *inflater) entry() []byte {
	size := int64(z.int32())
	switch {
	case z.err != nil:
		return nil
	case size < 0:
		z.fail("negative length")
		return nil
	case z.read+size > z.limit:
		z.overLimit()
		return nil
	}
	z.buf = z.buf[:0]
	if err := readTo(z.r, &z.buf, int(size)); err != nil {
		z.failRead(err)
		return nil
	}
	z.read += size
	return z.buf
}

// count reads a number of entries, each of which takes at least its length field.
func (z *inflater) count() int32 {
	n := z.int32()
	switch {
	case n < 0:
		z.fail("negative count")
		return 0
	case int64(n) > (z.limit-z.read)/4:
		z.overLimit()
		return 0
	}
	return n
}

func (d *RegisterDecoder) decodeCompressed(body []byte, v Version, now int64) error {
	stream, err := zlib.NewReader(bytes.NewReader(body))
	if err != nil {
		return &BodyError{Body: registerBody, Offset: 0, Reason: "no zlib stream"}
	}
	defer stream.Close() // reads from memory: there is nothing to fail
	z := &inflater{r: bufio.NewReader(stream), limit: int64(limit(d.MaxInflated, DefaultMaxInflated)), buf: d.scratch}
	d.compressed(z, v, now)
	d.scratch = z.buf
	if z.err == nil {
		z.drain()
	}
	d.sum.Inflated = int(z.read)
	return z.err
}

// drain reads to the end of the stream, where its checksum is, past what a later
// version may have added.
func (z *inflater) drain() {
	n, err := io.Copy(io.Discard, io.LimitReader(z.r, z.limit-z.read+1))
	z.read += n
	if err != nil {
		z.failRead(err)
	} else if z.read > z.limit {
		z.overLimit()
	}
}

func (d *RegisterDecoder) compressed(z *inflater, v Version, now int64) {
	d.sum.DataVersion.Timestamp = now
	z.parse(z.entry(), func(r *cursor) {
		if len(r.b) > 0 && !r.absent() {
			d.sum.DataVersion = r.dataVersion(now)
		}
	})
	for n := z.count(); n > 0 && z.err == nil; n-- {
		z.parse(z.entry(), d.topicText)
	}
	list := z.entry()
	if d.sum.HasFilterServers = len(list) > 0; d.sum.HasFilterServers {
		r := &cursor{b: list}
		d.filterServers(r)
		if r.end(); r.bad() { // Java takes what it cannot read for an empty list
			d.sum.FilterServers, d.sum.HasFilterServers = nil, true
		}
	}
	if !v.SendsMappings() || z.err != nil || z.atEnd() {
		return
	}
	for n := z.count(); n > 0 && z.err == nil; n-- {
		z.parse(z.entry(), d.mappingEntry)
	}
}

// mappingEntry reads a mapping; null or nothing is one without a broker.
func (d *RegisterDecoder) mappingEntry(r *cursor) {
	switch {
	case len(r.b) == 0 || r.null():
		d.sum.Skipped++
	case d.Mapping == nil:
		r.skip()
	default:
		r.mapping(&d.mapping, d.intern)
		if !r.bad() {
			d.giveMapping(r, d.mapping.Topic)
		}
	}
}

// parse reads an entry with a cursor.
func (z *inflater) parse(entry []byte, read func(*cursor)) {
	if z.err != nil {
		return
	}
	z.cur = cursor{b: entry, bareNumbers: true, scratch: z.cur.scratch}
	r := &z.cur
	read(r)
	r.end()
	if r.bad() {
		z.err = &BodyError{
			Body: registerBody, Offset: int(z.read) - len(entry) + r.err.Offset,
			Reason: r.err.Reason, Limit: r.err.Limit,
		}
	}
}

// atEnd reports whether nothing follows in the stream.
func (z *inflater) atEnd() bool {
	_, err := z.r.Peek(1)
	if err != nil && !errors.Is(err, io.EOF) {
		z.failRead(err)
	}
	return err != nil
}

// topicText reads a topic as text. Its tokens are separated by one blank each, so a
// name with a blank in it shifts the rest and is refused. Attributes that cannot be
// read are left out, as Java does.
func (d *RegisterDecoder) topicText(r *cursor) {
	t := &d.topic
	*t = TopicConfig{Attributes: t.Attributes[:0]}
	name := r.token()
	t.ReadQueues = r.tokenInt()
	t.WriteQueues = r.tokenInt()
	t.Perm = r.tokenInt()
	filter, ok := filterOf(r.token())
	if !ok {
		r.fail("unknown filter type")
	}
	if r.bad() {
		return
	}
	t.FilterType = filter
	if len(name) > 0 {
		t.Name = d.intern(name)
	}
	if attributes := r.token(); len(attributes) > 0 {
		d.inner = cursor{b: attributes, bareNumbers: true, scratch: d.inner.scratch}
		t.Attributes = d.inner.attributes(t.Attributes, d.intern)
		if d.inner.end(); d.inner.bad() {
			t.Attributes = t.Attributes[:0]
		}
	}
	r.i = len(r.b) // further tokens mean nothing
	d.giveTopic(r)
}

// token reads up to the next blank and passes over it.
func (r *cursor) token() []byte {
	if r.bad() {
		return nil
	}
	rest := r.b[r.i:]
	end := bytes.IndexByte(rest, ' ')
	if end < 0 {
		r.i = len(r.b)
		return rest
	}
	r.i += end + 1
	return rest[:end]
}

// tokenInt reads a token as Java's Integer.parseInt does.
func (r *cursor) tokenInt() int32 {
	n, err := strconv.ParseInt(string(r.token()), 10, 32)
	if err != nil {
		r.fail("expected a number")
		return 0
	}
	return int32(n)
}

// AppendCompressed appends the body as a broker of version v with
// compressedRegister=true sends it: a zlib stream of the best compression, with the
// section of mappings from 5.0 on and attributes only then.
func (b *RegisterBody) AppendCompressed(dst []byte, v Version) ([]byte, error) {
	var plain []byte
	entry := func(write func([]byte) []byte) {
		at := len(plain)
		plain = write(append(plain, 0, 0, 0, 0))
		binary.BigEndian.PutUint32(plain[at:], uint32(len(plain)-at-4))
	}
	entry(b.DataVersion.AppendJSON)
	plain = binary.BigEndian.AppendUint32(plain, uint32(len(b.Topics)))
	for i := range b.Topics {
		entry(func(dst []byte) []byte { return b.Topics[i].appendText(dst, v) })
	}
	entry(func(dst []byte) []byte { return appendStrings(dst, b.FilterServers) })
	if v.SendsMappings() {
		plain = binary.BigEndian.AppendUint32(plain, uint32(len(b.Mappings)))
		for i := range b.Mappings {
			entry(func(dst []byte) []byte { return b.Mappings[i].AppendJSON(dst, Legacy) })
		}
	}
	if len(plain) > math.MaxInt32 {
		return dst, &EncodeError{Field: "body", Reason: "is too large"}
	}
	out := bytes.NewBuffer(dst)
	w, err := zlib.NewWriterLevel(out, zlib.BestCompression)
	if err != nil {
		return dst, err
	}
	if _, err := w.Write(plain); err != nil {
		return dst, err
	}
	if err := w.Close(); err != nil {
		return dst, err
	}
	return out.Bytes(), nil
}

func (t *TopicConfig) appendText(dst []byte, v Version) []byte {
	dst = append(dst, t.Name...)
	for _, n := range []int32{t.ReadQueues, t.WriteQueues, t.Perm} {
		dst = append(dst, ' ')
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	dst = append(dst, ' ')
	dst = append(dst, t.FilterType.String()...)
	if v.SendsMappings() {
		dst = append(dst, ' ')
		dst = appendFields(dst, t.Attributes)
	}
	return dst
}
