package wire

import "testing"

func TestVersionNames(t *testing.T) {
	for v, want := range map[Version]string{
		213: "V4_0_0", 212: "V4_0_0_SNAPSHOT", 253: "V4_2_0", 273: "V4_3_0", 317: "V4_5_2", 355: "V4_7_1", 373: "V4_8_0",
		399: "V4_9_3", 401: "V4_9_4", 403: "V4_9_5", 409: "V4_9_8", 411: "V4_9_9", 412: "V5_0_0_SNAPSHOT", 413: "V5_0_0",
		433: "V5_1_0", 441: "V5_1_4", 453: "V5_2_0", 473: "V5_3_0", 475: "V5_3_1", 477: "V5_3_2", 479: "V5_3_3", 480: "V5_3_4_SNAPSHOT",
		481: "V5_3_4", 493: "V5_4_0", 513: "V5_5_0", 611: "V5_9_9", 612: "HIGHER_VERSION", 99999: "HIGHER_VERSION",
		0: "0", 37: "37", -1: "-1",
	} {
		if got := v.String(); got != want {
			t.Errorf("%d: %s, want %s", int(v), got, want)
		}
		if got, ok := ParseVersion(want); v >= v4_0_0-1 && v <= HigherVersion && (got != v || !ok) {
			t.Errorf("%s: %d, %v; want %d", want, got, ok, int(v))
		}
	}
	for _, name := range []string{"", "37", "V3_0_11", "V5_10_0", "V5_3_3_SNAPSHOT_1", "v5_3_3"} {
		if v, ok := ParseVersion(name); ok {
			t.Errorf("%q was read as %d", name, int(v))
		}
	}
}

func TestVersionRules(t *testing.T) {
	rules := []struct {
		name  string
		rule  func(Version) bool
		first Version
	}{
		{"SendsRegisterBody", Version.SendsRegisterBody, 37},
		{"ReadsStrictJSON", Version.ReadsStrictJSON, 401},
		{"SendsMappings", Version.SendsMappings, 413},
		{"UnderstandsGoAway", Version.UnderstandsGoAway, 476},
	}
	for _, r := range rules {
		for _, v := range []Version{-1 << 31, -1, 0, r.first - 1, r.first, 612, 1<<31 - 1} {
			if got := r.rule(v); got != (v >= r.first) {
				t.Errorf("%s of %d: %v", r.name, int(v), got)
			}
		}
	}
	for v, want := range map[Version]Version{-5: 0, 0: 0, 513: 513, 612: 612, 613: 612, 99999: 612} {
		if got := v.Clamp(); got != want {
			t.Errorf("Clamp of %d: %d, want %d", int(v), int(got), int(want))
		}
	}
}

func TestNamesOfCodes(t *testing.T) {
	if got := GetRouteInfoByTopic.Name(); got != "GET_ROUTEINFO_BY_TOPIC" {
		t.Error(got)
	}
	if got := RequestCode(9999).Name(); got != "UNKNOWN" {
		t.Error(got)
	}
	if got := RequestCode(9999).String(); got != "9999" {
		t.Error(got)
	}
	// 206 is a request and an answer: each kind has its own names.
	if got := ResponseCode(206).Name(); got != "UNKNOWN" {
		t.Error(got)
	}
	if got := TopicNotExist.String(); got != "TOPIC_NOT_EXIST" {
		t.Error(got)
	}
	if got := ResponseCode(-3).String(); got != "-3" {
		t.Error(got)
	}
	for l := range Language(len(languageNames)) {
		if got := languageOf([]byte(l.String())); got != l {
			t.Errorf("%s: %v", l, got)
		}
	}
	if got := Language(77).String(); got != "77" {
		t.Error(got)
	}
	if got := UnknownLanguage.String(); got != "UNKNOWN" {
		t.Error(got)
	}
}
