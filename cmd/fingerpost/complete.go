package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completeWord is the word before a command line that is to be completed. The scripts of
// `fingerpost completion` say it; it is no command for people.
const completeWord = "__complete"

// completionCmd is `fingerpost completion`.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"The shell: bash, zsh, fish or powershell."`
}

// completionScripts ask the program itself what can follow, so that they never fall
// behind it. Where it knows nothing, a shell proposes files.
var completionScripts = map[string]string{
	"bash": `# bash completion for fingerpost: source <(fingerpost completion bash)
_fingerpost() {
    local IFS=$'\n' line
    COMPREPLY=()
    while read -r line; do
        COMPREPLY+=("${line%%$'\t'*}")
    done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _fingerpost fingerpost
`,
	"zsh": `#compdef fingerpost
# zsh completion for fingerpost: fingerpost completion zsh > "${fpath[1]}/_fingerpost"
_fingerpost() {
    local line
    local -a found
    while IFS=$'\t' read -r line about; do
        found+=("${line//:/\\:}:$about")
    done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
    if (( ${#found} )); then
        _describe fingerpost found
    else
        _files
    fi
}
if [ "$funcstack[1]" = "_fingerpost" ]; then
    _fingerpost
else
    compdef _fingerpost fingerpost
fi
`,
	"fish": `# fish completion for fingerpost: fingerpost completion fish | source
function __fingerpost_complete
    set -l words (commandline -opc) (commandline -ct)
    $words[1] __complete $words[2..-1] 2>/dev/null
end
complete -c fingerpost -a '(__fingerpost_complete)'
`,
	"powershell": `# PowerShell completion for fingerpost: fingerpost completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName fingerpost -ScriptBlock {
    param($word, $ast, $position)
    $words = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
    if ($word -eq '') { $words += '""' }
    & $ast.CommandElements[0].ToString() __complete @words 2>$null | ForEach-Object {
        $part = $_ -split "` + "`t" + `", 2
        [System.Management.Automation.CompletionResult]::new($part[0], $part[0], 'ParameterValue', "$($part[1]) ")
    }
}
`,
}

// Run prints the script.
func (c *completionCmd) Run(a *app) error {
	_, err := io.WriteString(a.stdout, completionScripts[c.Shell])
	return err
}

// complete writes what can stand in place of the last word, a line each: the word, a
// tab, what it is. Nothing means that any text can, which for a shell is a file.
func complete(w io.Writer, root *kong.Node, words []string) error {
	last := ""
	if len(words) > 0 {
		last, words = strings.Trim(words[len(words)-1], `"`), words[:len(words)-1]
	}
	p := position{node: root}
	for _, word := range words {
		p.pass(word)
	}
	var b strings.Builder
	propose := func(word, about string) {
		if strings.HasPrefix(word, last) {
			about, _, _ = strings.Cut(about, "\n")
			b.WriteString(word + "\t" + about + "\n")
		}
	}
	switch {
	case p.open != nil:
		for _, v := range valuesOf(p.open.Value) {
			propose(v, "")
		}
	case strings.HasPrefix(last, "-"):
		p.flags(propose)
	default:
		for _, n := range p.node.Children {
			if p.arguments == 0 && !n.Hidden && n.Type == kong.CommandNode {
				propose(n.Name, n.Help)
			}
		}
		if args := p.leaf().Positional; p.arguments < len(args) {
			for _, v := range valuesOf(args[p.arguments]) {
				propose(v, "")
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// position is how far the words of a command line lead.
type position struct {
	node      *kong.Node
	open      *kong.Flag // whose value comes next
	arguments int        // that were given to the node
}

// leaf is the command that would run: the node, or what it runs by default.
func (p *position) leaf() *kong.Node {
	n := p.node
	for n.DefaultCmd != nil {
		n = n.DefaultCmd
	}
	return n
}

// nodes are those whose flags can stand here, from the command up.
func (p *position) nodes() (all []*kong.Node) {
	for n := p.leaf(); n != nil; n = n.Parent {
		all = append(all, n)
	}
	return all
}

// pass takes a word that is complete.
func (p *position) pass(word string) {
	switch {
	case p.open != nil:
		p.open = nil
	case strings.HasPrefix(word, "-"):
		if f := p.find(word); f != nil && !f.IsBool() && !strings.Contains(word, "=") {
			p.open = f
		}
	default:
		for _, n := range p.node.Children {
			if p.arguments == 0 && n.Type == kong.CommandNode && (n.Name == word || slices.Contains(n.Aliases, word)) {
				p.node = n
				return
			}
		}
		p.arguments++
	}
}

// find returns the flag that a word names.
func (p *position) find(word string) *kong.Flag {
	long, isLong := strings.CutPrefix(word, "--")
	long, _, _ = strings.Cut(long, "=")
	for _, n := range p.nodes() {
		for _, f := range n.Flags {
			if isLong && (f.Name == long || slices.Contains(f.Aliases, long)) || !isLong && word == "-"+string(f.Short) {
				return f
			}
		}
	}
	return nil
}

func (p *position) flags(propose func(word, about string)) {
	for _, n := range p.nodes() {
		for _, f := range n.Flags {
			if f.Hidden {
				continue
			}
			propose("--"+f.Name, f.Help)
			if f.Short != 0 {
				propose(fmt.Sprintf("-%c", f.Short), f.Help)
			}
		}
	}
}

// valuesOf returns what a value can be, if those are few.
func valuesOf(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return strings.Split(v.Enum, ",")
}
