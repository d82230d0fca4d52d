package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// These are what CycloneDX 1.6 calls the parts of a bill of materials, as far as they
// are used here.
type (
	bomFile struct {
		Format       string       `json:"bomFormat"`
		SpecVersion  string       `json:"specVersion"`
		SerialNumber string       `json:"serialNumber"`
		Version      int          `json:"version"`
		Metadata     bomMetadata  `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	bomMetadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Type       string          `json:"type"`
		Ref        string          `json:"bom-ref"`
		Name       string          `json:"name"`
		Version    string          `json:"version"`
		Hashes     []hash          `json:"hashes,omitempty"`
		Licences   []licenceChoice `json:"licenses,omitempty"`
		PURL       string          `json:"purl"`
		Properties []property      `json:"properties,omitempty"`
	}
	hash struct {
		Alg     string `json:"alg"`
		Content string `json:"content"`
	}
	licenceChoice struct {
		Licence licence `json:"license"`
	}
	licence struct {
		ID string `json:"id"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn"`
	}
)

// bom says what a program is made of, as the program itself tells it: a build for
// another platform links other modules.
func (r *release) bom(p *program) ([]byte, error) {
	self := "pkg:generic/fingerpost@" + r.version + "?arch=" + p.arch + "&os=" + p.os
	b := bomFile{Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Metadata: bomMetadata{
		Timestamp: r.time.Format(time.RFC3339),
		Component: component{
			Type: "application", Ref: self, Name: "fingerpost", Version: r.version, PURL: self,
			Hashes:     []hash{{"SHA-256", fmt.Sprintf("%x", sha256.Sum256(p.content))}},
			Licences:   []licenceChoice{{licence{"Apache-2.0"}}},
			Properties: []property{{"fingerpost:commit", r.commit}, {"fingerpost:go", p.info.GoVersion}},
		},
	}}
	// Those who look for known weaknesses know the standard library by this name.
	std := component{
		Type: "library", Name: "stdlib", Version: strings.TrimPrefix(p.info.GoVersion, "go"),
		Licences: []licenceChoice{{licence{"BSD-3-Clause"}}},
	}
	std.PURL = "pkg:golang/stdlib@" + std.Version
	std.Ref = std.PURL
	b.Components = append(b.Components, std)
	for _, d := range p.info.Deps {
		texts, err := licenceTexts(p.modules[d.Path].Dir)
		if err != nil {
			return nil, fmt.Errorf("module %s: %w", d.Path, err)
		}
		id := ""
		for _, t := range texts {
			if id = licenceID(t.content); id != "" {
				break
			}
		}
		if id == "" {
			return nil, fmt.Errorf("module %s: its licence is none of those that are known here", d.Path)
		}
		purl := "pkg:golang/" + d.Path + "@" + d.Version
		b.Components = append(b.Components, component{
			Type: "library", Ref: purl, Name: d.Path, Version: d.Version, PURL: purl,
			Licences: []licenceChoice{{licence{id}}}, Properties: []property{{"go:sum", d.Sum}},
		})
	}
	var refs []string
	for _, c := range b.Components {
		refs = append(refs, c.Ref)
		b.Dependencies = append(b.Dependencies, dependency{c.Ref, []string{}})
	}
	b.Dependencies = append([]dependency{{self, refs}}, b.Dependencies...)
	// The serial number is made of the content, so that the same content has the same one.
	without, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	b.SerialNumber = "urn:uuid:" + uuid(sha256.Sum256(without))
	out, err := json.MarshalIndent(b, "", "  ")
	return append(out, '\n'), err
}

// uuid writes the beginning of a hash as an identifier of version 8, whose bits are
// anybody's choice (RFC 9562).
func uuid(sum [sha256.Size]byte) string {
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// licenceID returns SPDX's name of a licence by words that only its text has, empty if it
// is none of those that we link.
func licenceID(text []byte) string {
	has := func(words string) bool {
		return bytes.Contains(bytes.Join(bytes.Fields(text), []byte(" ")), []byte(words))
	}
	switch {
	case has("Apache License Version 2.0"):
		return "Apache-2.0"
	case has("Permission is hereby granted, free of charge"):
		return "MIT"
	case has("Permission to use, copy, modify, and/or distribute this software"), has("Permission to use, copy, modify, and distribute this software"):
		return "ISC"
	case has("Redistribution and use in source and binary forms") && (has("Neither the name") || has("names of its contributors may be used")):
		return "BSD-3-Clause"
	case has("Redistribution and use in source and binary forms"):
		return "BSD-2-Clause"
	}
	return ""
}
