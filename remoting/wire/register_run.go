package wire

// runTopics is how many entries of a table of topics are told to Wrote at once. Of a table in
// which one topic has changed so many are decoded; hashing the others costs a tenth of that.
const runTopics = 32

// run is some entries in the usual form, one behind the other.
type run struct{ begin, behind, topics int }

// add takes in the entry that began at begin and has just been read.
func (u *run) add(d *RegisterDecoder, r *cursor, begin int) {
	if d.Wrote == nil || r.bad() {
		return
	}
	if u.topics == 0 {
		u.begin = begin
	}
	u.topics++
	u.behind = r.i
	if u.topics == runTopics {
		u.end(d, r)
	}
}

// end tells what has been taken in, if anything.
func (u *run) end(d *RegisterDecoder, r *cursor) {
	if u.topics > 0 && !r.bad() {
		d.Wrote(r.b[u.begin:u.behind], u.topics)
	}
	u.topics = 0
}

// skipKnown passes over entries that the caller knows, and reports whether there were any.
// It asks once behind each topic: what is asked for may be megabytes, and entries without a
// name can stand there by the million.
func (d *RegisterDecoder) skipKnown(r *cursor) bool {
	if d.Known == nil || d.asked > d.sum.Topics {
		return false
	}
	d.asked = d.sum.Topics + 1
	size, topics := d.Known(r.b[r.i:])
	if size == 0 {
		return false
	}
	r.i += size
	if d.sum.Topics += topics; d.sum.Topics > limit(d.MaxTopics, DefaultMaxTopics) {
		r.overLimit("topics", d.sum.Topics-topics)
	}
	return true
}
