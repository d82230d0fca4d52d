package kvfile_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fingerpost/internal/kvfile"
)

func TestTableForm(t *testing.T) {
	// As NameServer 5.5.0 writes it after two puts.
	const java = `{"configTable":{"ORDER_TOPIC_CONFIG":{"Order":"broker-a:4;broker-b:4"},"n":{"k":"a<b>&\"c\" 中"}}}`
	table, err := kvfile.Decode([]byte(java))
	if err != nil {
		t.Fatal(err)
	}
	want := kvfile.Table{"ORDER_TOPIC_CONFIG": {"Order": "broker-a:4;broker-b:4"}, "n": {"k": `a<b>&"c" 中`}}
	if d := cmp.Diff(want, table); d != "" {
		t.Error(d)
	}
	if b, err := kvfile.Encode(table); err != nil || string(b) != java {
		t.Errorf("written %s, %v", b, err)
	}
	if b, err := kvfile.Encode(nil); err != nil || string(b) != `{"configTable":{}}` {
		t.Errorf("an empty table is written %s, %v", b, err)
	}
}

func TestDecodeTable(t *testing.T) {
	for _, c := range []struct{ text, want, fail string }{
		{text: "", want: `{"configTable":{}}`},
		{text: " \n", want: `{"configTable":{}}`},
		{text: `{"configTable":{}}`, want: `{"configTable":{}}`},
		{text: "{\"configTable\":{\"n\":{}}}\n", want: `{"configTable":{"n":{}}}`},
		{text: `{"configTable":{"n":{"k":null,"l":"v"},"m":null},"other":1}`, want: `{"configTable":{"n":{"l":"v"}}}`},
		{text: `{}`, fail: `has no "configTable"`},
		{text: `{"configTable":null}`, fail: `has no "configTable"`},
		{text: `null`, fail: `has no "configTable"`},
		{text: `{"configTable":{"n":{"k":"v"}}`, fail: "ends too early"},
		{text: `{"configTable":{"n":{"k":"v`, fail: "ends too early"},
		{text: `{"configTable":{"n":{"k":1}}}`, fail: "not the JSON of"},
		{text: `{"configTable":{"n":"k"}}`, fail: "not the JSON of"},
		{text: `{"configTable":{}}{}`, fail: "something follows"},
		{text: `[]`, fail: "not the JSON of"},
		{text: "{\"configTable\":{\"n\":{\"k\":\"\xff\"}}}", fail: "not UTF-8"},
		{text: strings.Repeat("\x00", 100), fail: "not the JSON of"},
	} {
		table, err := kvfile.Decode([]byte(c.text))
		if c.fail != "" {
			if err == nil || !strings.Contains(err.Error(), c.fail) {
				t.Errorf("%.40q: got %v, want an error with %q", c.text, err, c.fail)
			}
			continue
		}
		if err != nil {
			t.Errorf("%.40q: %v", c.text, err)
			continue
		}
		if b, _ := kvfile.Encode(table); string(b) != c.want {
			t.Errorf("%.40q: read as %s", c.text, b)
		}
	}
}

func TestTableSavedAndLoaded(t *testing.T) {
	f := kvfile.NewTable(filepath.Join(t.TempDir(), "namesrv", "kvConfig.json"), nil)
	if table, note, err := kvfile.LoadTable(f); err != nil || note != "" || len(table) != 0 || table == nil {
		t.Fatalf("missing: %v, %q, %v", table, note, err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		want := rapid.MapOf(rapid.String(), rapid.MapOf(rapid.String(), rapid.String())).Draw(rt, "table")
		if err := kvfile.SaveTable(f, want); err != nil {
			rt.Fatal(err)
		}
		got, note, err := kvfile.LoadTable(kvfile.NewTable(f.Path(), nil))
		if err != nil || note != "" {
			rt.Fatal(note, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			rt.Fatal(d)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"", "{}", `{"configTable":{"n":{"k":"v"}}}`, `{"configTable":{"n":null}}`, "{\"configTable\":{\"\xff\":{}}}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		table, err := kvfile.Decode(b)
		if err != nil {
			return
		}
		out, err := kvfile.Encode(table)
		if err != nil {
			t.Fatal(err)
		}
		again, err := kvfile.Decode(out)
		if err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if d := cmp.Diff(table, again); d != "" {
			t.Error(d)
		}
	})
}
