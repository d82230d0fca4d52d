package web

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fingerpost/static"
)

func texts(files map[string]string) map[string][]byte {
	out := make(map[string][]byte, len(files))
	for name, text := range files {
		out[name] = []byte(text)
	}
	return out
}

func TestJoin(t *testing.T) {
	first, rest, err := join(texts(map[string]string{
		"app.js":      "import { a as b,\n  c } from './lib/a.js';\nimport './lib/b.js';\nconst late = () => import('./views/v.js');\nb(c);\n",
		"lib/a.js":    "export function a() {}\nexport const c = 1;\nexport async function d() {}\nexport class E {}\n",
		"lib/b.js":    "import texts from '../lang/en.js';\nconst soon = () => import('./a.js');\n",
		"lang/en.js":  "export default {\n'a': 'export this',\n};\n",
		"views/v.js":  "import { a } from '../lib/a.js';\nimport { u } from './u.js';\nexport default function V() {}\nexport const w = 2;\n",
		"views/u.js":  "const u=1;\nexport { u as x,u };\n",
		"style.css":   "import 'nothing'",
		"license.txt": "export nothing",
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := `export const $ = {};
// lib/a.js
$['lib/a.js'] = (() => {
function a() {}
const c = 1;
async function d() {}
class E {}
return {a, c, d, E};
})();
// lang/en.js
$['lang/en.js'] = (() => {
const $default = {
'a': 'export this',
};
return {default: $default};
})();
// lib/b.js
$['lib/b.js'] = (() => {
const {default: texts} = $['lang/en.js'];
const soon = () => Promise.resolve($['lib/a.js']);
return {};
})();
// app.js
$['app.js'] = (() => {
const { a: b,
  c } = $['lib/a.js'];
const {} = $['lib/b.js'];
const late = () => import('./rest.js').then(() => $['views/v.js']);
b(c);
return {};
})();
`
	if diff := cmp.Diff(want, string(first)); diff != "" {
		t.Errorf("the first script (-want +got):\n%s", diff)
	}
	want = `import { $ } from './app.js';
// views/u.js
$['views/u.js'] = (() => {
const u=1;

return {x: u,u};
})();
// views/v.js
$['views/v.js'] = (() => {
const { a } = $['lib/a.js'];
const { u } = $['views/u.js'];
function V() {}
const w = 2;
return {default: V, w};
})();
`
	if diff := cmp.Diff(want, string(rest)); diff != "" {
		t.Errorf("the second script (-want +got):\n%s", diff)
	}
}

func TestJoinRefuses(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"a.js imports itself by way of others": {"app.js": "import { a } from './a.js';\n", "a.js": "import { b } from './b.js';\n", "b.js": "import { a } from './a.js';\n"},
		"a.js is imported and missing":         {"app.js": "import { a } from './a.js';\n"},
		// Whoever reads such a variable would go on seeing its first value.
		`"export let n = 1;" is a form`:             {"app.js": "export let n = 1;\n"},
		`"import * as a from './a.js';" is a form`:  {"app.js": "import * as a from './a.js';\n", "a.js": ""},
		`"export const { a } = b;" is a form`:       {"app.js": "export const { a } = b;\n"},
		`"export * from './a.js';" is a form`:       {"app.js": "export * from './a.js';\n", "a.js": ""},
		`"import { a } from \"./a.js\";" is a form`: {"app.js": "import { a } from \"./a.js\";\n", "a.js": ""},
	} {
		if _, _, err := join(texts(files)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// Each module is in one of the two scripts, once, and behind those it reads from.
func TestJoinedModules(t *testing.T) {
	d := newDashboard(t)
	all := string(d.files[firstScript].plain) + string(d.files[restScript].plain)
	made := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^\$\['([^']+)'\] = |^const \{[^}]*\} = \$\['([^']+)'\];`).FindAllStringSubmatch(all, -1) {
		switch name := m[1]; {
		case name == "" && !made[m[2]]:
			t.Errorf("%s is read before it is made", m[2])
		case made[name]:
			t.Errorf("%s is there twice", name)
		case name != "":
			made[name] = true
		}
	}
	for _, dir := range []string{"lib", "ui", "views", "lang"} {
		files, err := static.FS.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !made[dir+"/"+f.Name()] {
				t.Errorf("%s/%s is in no script", dir, f.Name())
			}
		}
	}
	if made["begin.js"] || d.files["begin.js"] == nil {
		t.Error("begin.js is no script of its own")
	}
}
