package wire

import "strconv"

// Version is the software version in a header: an ordinal of Apache RocketMQ's list
// of releases, in which every release is preceded by its snapshot. From 4.0.0 on
//
//	V<a>_<b>_<c>          = 213 + 2*((a-4)*100 + b*10 + c)
//	V<a>_<b>_<c>_SNAPSHOT = one less
//
// A program that does not know its own version sends 0.
type Version int32

// The versions at which something on the wire changes, and our own.
const (
	// V3_0_11 and later register with the whole registration body; older ones with
	// the bare table of topics.
	V3_0_11 Version = 37
	// V4_9_4 and later read strict JSON in a route.
	V4_9_4 Version = 401
	// V5_0_0 and later write static topic mappings into a compressed registration.
	V5_0_0 Version = 413
	// V5_3_1 is the last one that does not understand GoAway.
	V5_3_1 Version = 475
	// V5_5_0 is what we send: the release whose NameServer we behave like.
	V5_5_0 Version = 513
	// HigherVersion is the end of the list; larger numbers count as this one.
	HigherVersion Version = 612

	v4_0_0 Version = 213
)

// Clamp returns v as peers compare it: numbers beyond the list are its last entry.
// A negative number, with which the Java NameServer fails, is the oldest version.
func (v Version) Clamp() Version { return min(max(v, 0), HigherVersion) }

// SendsRegisterBody reports whether a registration carries the whole registration
// body rather than the bare table of topics.
func (v Version) SendsRegisterBody() bool { return v >= V3_0_11 }

// ReadsStrictJSON reports whether a route is to be written in strict JSON.
func (v Version) ReadsStrictJSON() bool { return v >= V4_9_4 }

// SendsMappings reports whether a compressed registration has a section of static
// topic mappings.
func (v Version) SendsMappings() bool { return v >= V5_0_0 }

// UnderstandsGoAway reports whether a peer of that version may be sent GoAway.
func (v Version) UnderstandsGoAway() bool { return v > V5_3_1 }

// String returns the name in Apache RocketMQ's list, such as "V5_3_3" or
// "V5_3_4_SNAPSHOT"; "HIGHER_VERSION" beyond it; and for the releases before 4.0.0,
// which follow no rule, the number.
func (v Version) String() string {
	switch {
	case v >= HigherVersion:
		return "HIGHER_VERSION"
	case v < v4_0_0-1:
		return strconv.Itoa(int(v))
	}
	step := int(v-v4_0_0+1) / 2 // releases since 4.0.0
	name := "V" + strconv.Itoa(4+step/100) + "_" + strconv.Itoa(step/10%10) + "_" + strconv.Itoa(step%10)
	if (v-v4_0_0)%2 != 0 {
		name += "_SNAPSHOT"
	}
	return name
}

// ParseVersion is the inverse of String for 4.0.0 and later.
func ParseVersion(name string) (Version, bool) {
	for v := v4_0_0 - 1; v <= HigherVersion; v++ {
		if v.String() == name {
			return v, true
		}
	}
	return 0, false
}
