package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// recheck is how often the files of a certificate are looked at, at most: as a new
// connection comes, never in between.
const recheck = time.Second

// certificate is a TLS configuration made from files, which is made anew when one of
// them has changed and all of them fit together; until then the old one stays.
type certificate struct {
	face             string // that shows it, for the metrics
	cert, key, trust string // file names; trust may be empty
	clients          tls.ClientAuthType
	min              uint16 // the oldest version of TLS
	protocols        []string
	log              *slog.Logger

	mu      sync.Mutex
	config  *tls.Config
	seen    string // what the files looked like when they were last read
	wrong   error  // why the files as they are now are not in use
	checked time.Time
}

// load reads the files for the first time.
func (c *certificate) load() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen, err := c.look()
	if err == nil {
		c.config, err = c.read()
	}
	c.seen, c.checked = seen, time.Now()
	return err
}

// current returns the configuration for a new connection. It is never nil after load
// has succeeded, and may be called by anybody at any time.
func (c *certificate) current() *tls.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Sub(c.checked) < recheck {
		return c.config
	}
	c.checked = now
	seen, err := c.look()
	// What could not be read is read again although it looks the same: a mode or an owner
	// set right does not show, nor that there are descriptors again.
	if seen == c.seen && c.wrong == nil {
		return c.config
	}
	said := seen == c.seen && c.wrong != nil
	c.seen = seen
	if err == nil {
		var next *tls.Config
		if next, err = c.read(); err == nil {
			c.config = next
			c.log.Info("a changed certificate is in use", "file", c.cert, "ends", next.Certificates[0].Leaf.NotAfter)
		}
	}
	if c.wrong = err; err != nil && !said {
		c.log.Warn("a changed certificate cannot be used; the old one stays in use", "err", err)
	}
	return c.config
}

// look returns a text that is another one when a file has changed.
func (c *certificate) look() (string, error) {
	var text strings.Builder
	for _, name := range []string{c.cert, c.key, c.trust} {
		if name == "" {
			continue
		}
		fi, err := os.Stat(name)
		if err != nil {
			return err.Error(), err
		}
		text.WriteString(fmt.Sprintf("%d %d;", fi.Size(), fi.ModTime().UnixNano()))
	}
	return text.String(), nil
}

func (c *certificate) read() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s with key %s: %w", c.cert, c.key, err)
	}
	conf := &tls.Config{
		MinVersion:   max(c.min, tls.VersionTLS12),
		Certificates: []tls.Certificate{pair},
		ClientAuth:   c.clients,
		NextProtos:   c.protocols,
	}
	if c.trust != "" {
		pem, err := os.ReadFile(c.trust)
		if err != nil {
			return nil, err
		}
		conf.ClientCAs = x509.NewCertPool()
		if !conf.ClientCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate in PEM form", c.trust)
		}
	}
	return conf, nil
}

// ends returns when the certificate in use ends.
func (c *certificate) ends() time.Time {
	return c.current().Certificates[0].Leaf.NotAfter
}

// endsSoon is how long before its end a certificate is worth a look.
const endsSoon = 7 * 24 * time.Hour

// check returns what somebody should do about the certificate.
func (c *certificate) check() error {
	left := time.Until(c.ends())
	c.mu.Lock()
	wrong := c.wrong
	c.mu.Unlock()
	switch {
	case left <= 0:
		return fmt.Errorf("the certificate %s has ended", c.cert)
	case left < endsSoon:
		return fmt.Errorf("the certificate %s ends in %s", c.cert, left.Truncate(time.Minute))
	case wrong != nil:
		return fmt.Errorf("the certificate %s has changed and the new one is not in use; the log says why", c.cert)
	}
	return nil
}

// tlsVersions are the words of the settings.
var tlsVersions = map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}
