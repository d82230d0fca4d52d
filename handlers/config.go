package handlers

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"fingerpost/api"
)

// getConfig answers every setting, as Java properties to those who ask for text.
//
//	@Summary	Every setting with its origin
//	@Description	[319] As text: Java properties. Secrets are hidden.
//	@Tags	server
//	@Success	200	{object}	api.Config	"the settings"
//	@Router	/api/v1/config [get]
func (h *Handler) getConfig(c *call) (reply, error) {
	f := c.nameFilter()
	version := h.deps.Settings.Version()
	out := api.Config{Revision: c.revision(c.snap.Revision), Items: []api.ConfigItem{}}
	for _, i := range h.deps.Settings.Items() {
		if f.fits(i.Key) {
			out.Items = append(out.Items, i)
		}
	}
	out.Total = len(out.Items)
	return reply{body: out, lines: seqOf(out.Items), text: func() []byte { return linesThatFit(h.deps.Settings.Text(), f) }, etag: c.configTag(version), keys: []hubKey{waitFor(keyConfig, "")}}, nil
}

// linesThatFit leaves those lines of key=value whose keys the filter takes.
func linesThatFit(text []byte, f nameFilter) []byte {
	if !f.any() {
		return text
	}
	var out []byte
	for line := range bytes.Lines(text) {
		if key, _, _ := bytes.Cut(line, []byte("=")); f.fits(string(key)) {
			out = append(out, line...)
		}
	}
	return out
}

func (c *call) configTag(version uint64) string {
	return c.snap.Epoch + "." + strconv.FormatUint(version, 10)
}

// patchConfig changes live settings.
//
//	@Summary	Change settings
//	@Description	[318] A JSON merge patch: texts, numbers and booleans by key; null takes a value out of the file. All or none. From a session of the dashboard If-Match is required.
//	@Tags	server
//	@Param	If-Match	header	string	false	"the ETag that the resource must still have"
//	@Param	body	body	map[string]string	true	"the settings by key"
//	@Success	200	{object}	api.ConfigUpdate	"what came of it"
//	@Failure	403	{object}	api.Problem	"config-key-protected, forbidden, cross-origin-blocked, host-not-allowed"
//	@Failure	412	{object}	api.Problem	"precondition-failed"
//	@Failure	428	{object}	api.Problem	"precondition-required"
//	@Failure	503	{object}	api.Problem	"not-saved, overloaded"
//	@Router	/api/v1/config [patch]
func (h *Handler) patchConfig(c *call) (reply, error) {
	values, err := c.configPatch()
	if err != nil {
		return reply{}, err
	}
	version, err := c.configVersion()
	if err != nil {
		return reply{}, err
	}
	out, err := h.deps.Settings.Patch(values, version, c.dry, c.cause(c.op.action))
	if err != nil {
		return reply{}, err
	}
	revision := h.deps.Registry.Snapshot().Revision
	out.DryRun, out.Revision = c.dry, c.revision(revision)
	return reply{body: out, revision: revision, etag: c.configTag(h.deps.Settings.Version()), text: func() []byte {
		tb := newTable("APPLIED", "UNCHANGED", "RESTART-REQUIRED", "OVERRIDDEN")
		tb.row(out.Applied, out.Unchanged, out.RestartRequired, out.Overridden)
		return tb.bytes()
	}}, nil
}

// configPatch reads a merge patch: texts, numbers and booleans by key, null to take a
// value out of the file.
func (c *call) configPatch() (map[string]*string, error) {
	raw, err := c.body(c.h.limits.Body, "application/json", "application/merge-patch+json")
	if err != nil {
		return nil, err
	}
	if err := scan(raw, nil); err != nil {
		return nil, err
	}
	var body map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&body); err != nil || body == nil {
		return nil, refuse("validation-failed", "The body must be an object of settings.", "请求体必须是由设置组成的对象。")
	}
	c.subject = strings.Join(sortedKeys(body), ",")
	out := make(map[string]*string, len(body))
	bad := &problem{code: "validation-failed", detail: text{"A setting is a text, a number, true, false or null.", "设置的值应为文本、数字、true、false 或 null。"}}
	for _, k := range sortedKeys(body) {
		switch v := body[k].(type) {
		case nil:
			out[k] = nil
		case string:
			out[k] = &v
		case json.Number:
			out[k] = new(v.String())
		case bool:
			out[k] = new(strconv.FormatBool(v))
		default:
			bad.errors = append(bad.errors, fieldError{pointer: pointerTo(k), code: "wrong-type", detail: text{"must be a text, a number, true, false or null", "应为文本、数字、true、false 或 null"}})
		}
	}
	if len(bad.errors) > 0 {
		return nil, bad
	}
	return out, nil
}

// configVersion reads If-Match, without which a page may not change settings: it may
// show old ones.
func (c *call) configVersion() (uint64, error) {
	match := c.r.Header.Get("If-Match")
	if match == "" || match == "*" {
		if match == "" && c.fromPage() {
			return 0, &problem{code: "precondition-required"}
		}
		return 0, nil
	}
	state, _, _ := strings.Cut(bareTag(match), "-")
	epoch, n, _ := strings.Cut(state, ".")
	version, err := strconv.ParseUint(n, 10, 64)
	if err != nil || epoch != c.snap.Epoch || version == 0 {
		return 0, refuse("precondition-failed", "The settings have changed since they were read.", "设置在读取之后已被修改。")
	}
	return version, nil
}
