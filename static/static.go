// Package static is the dashboard's files, embedded as they are written: no build
// step stands between them and the browser.
package static

import "embed"

// FS holds index.html and everything it loads. What is served of it, under which
// paths and with which headers, is decided by package web.
//
//go:embed index.html *.css *.js lang lib ui views vendor/*.js vendor/LICENSE-*.txt
var FS embed.FS
