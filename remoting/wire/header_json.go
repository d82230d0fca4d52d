package wire

import "strconv"

// The members of a JSON header. Names are exact: "CODE" is an unknown member.
const (
	memberCode     = "code"
	memberExt      = "extFields"
	memberFlag     = "flag"
	memberLanguage = "language"
	memberOpaque   = "opaque"
	memberRemark   = "remark"
	memberVersion  = "version"
	memberType     = "serializeTypeCurrentRPC"
	memberBody     = "body"
)

// decodeJSON reads a JSON header as the Java NameServer 5.5 does: comments, single
// quotes, trailing commas, quoted and fractional numbers and members it does not know
// pass; names without quotes, anything after the object and numbers beyond 32 bits do
// not.
func (c *Command) decodeJSON(h []byte) error {
	r := &cursor{b: h}
	c.NoOpaque = true
	r.document(c.decodeMembers)
	if r.err != nil {
		return &HeaderError{Type: JSONHeader, Offset: r.err.Offset, Reason: r.err.Reason}
	}
	return nil
}

func (c *Command) decodeMembers(r *cursor) {
	r.open('{')
	for r.more('}') {
		switch string(r.name()) {
		case memberCode:
			c.Code = r.int32()
		case memberFlag:
			c.Flag = r.int32()
		case memberVersion:
			c.Version = Version(r.int32())
		case memberOpaque:
			c.Opaque, c.NoOpaque = r.int32(), false
		case memberLanguage:
			c.Language = r.language()
		case memberRemark:
			c.Remark, c.HasRemark = r.string()
		case memberExt:
			c.decodeExt(r)
		case memberType:
			r.serializeType()
		case memberBody:
			// Java's own name for the bytes after the header: it fails on a text there.
			if !r.absent() {
				r.fail("member body")
			}
		default:
			r.skip()
		}
	}
}

func (c *Command) decodeExt(r *cursor) {
	c.Ext, c.HasExt = c.Ext[:0], false
	if r.null() {
		return
	}
	c.HasExt = true
	r.open('{')
	for r.more('}') {
		name := r.nameString()
		if value, ok := r.string(); ok {
			c.Ext.Set(name, value)
		} else {
			c.Ext.remove(name)
		}
		if len(c.Ext) > MaxFields {
			r.fail("too many extension fields")
		}
	}
}

// language reads a language by its name or its number; a name may be unknown, a
// number may not.
func (r *cursor) language() Language {
	if r.null() {
		return UnknownLanguage
	}
	if b, ok := r.quoted(); ok {
		return languageOf(b)
	}
	return Language(r.ordinal(len(languageNames)))
}

// serializeType passes over a value that says nothing, but whose number must exist.
func (r *cursor) serializeType() {
	if r.null() {
		return
	}
	if _, ok := r.quoted(); ok {
		return
	}
	r.ordinal(2)
}

// appendJSONHeader writes the header as Java does: members in alphabetical order,
// those that are null left out.
func (c *Command) appendJSONHeader(dst []byte) []byte {
	dst = append(dst, `{"code":`...)
	dst = strconv.AppendInt(dst, int64(c.Code), 10)
	if c.HasExt || len(c.Ext) > 0 {
		dst = append(dst, `,"extFields":{`...)
		for i, f := range c.Ext {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendString(dst, f.Name)
			dst = append(dst, ':')
			dst = AppendString(dst, f.Value)
		}
		dst = append(dst, '}')
	}
	dst = append(dst, `,"flag":`...)
	dst = strconv.AppendInt(dst, int64(c.Flag), 10)
	if c.Language.known() {
		dst = append(dst, `,"language":"`...)
		dst = append(dst, languageNames[c.Language]...)
		dst = append(dst, '"')
	}
	dst = append(dst, `,"opaque":`...)
	dst = strconv.AppendInt(dst, int64(c.Opaque), 10)
	if c.HasRemark || c.Remark != "" {
		dst = append(dst, `,"remark":`...)
		dst = AppendString(dst, c.Remark)
	}
	dst = append(dst, `,"serializeTypeCurrentRPC":"JSON","version":`...)
	dst = strconv.AppendInt(dst, int64(c.Version), 10)
	return append(dst, '}')
}
