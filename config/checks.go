package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// The forms of texts. Each error is the end of a sentence that begins with the key.

// hostPort is an address to listen on or to call: a host, or nothing, and a port.
func hostPort(v string) error {
	_, port, err := net.SplitHostPort(v)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("must be an address such as 127.0.0.1:8876 or [::1]:8876, not %s", quote(v))
	}
	return nil
}

// unitAddress is an address for clients of a unit.
func unitAddress(v string) error {
	unit, addr, ok := strings.Cut(v, "=")
	if !ok || unit == "" || strings.ContainsAny(unit, " /?#%") || hostPort(addr) != nil {
		return fmt.Errorf("must hold entries such as east=10.0.0.1:9876, not %s", quote(v))
	}
	return nil
}

// host is what the remoting port binds to: a name or an address without a port.
func host(v string) error {
	if _, err := netip.ParseAddr(strings.Trim(v, "[]")); err == nil {
		return nil
	}
	if strings.ContainsAny(v, ": /\\") {
		return fmt.Errorf("must be a host name or an IP address without a port, not %s", quote(v))
	}
	return nil
}

// webURL is an http or https URL of a server.
func webURL(v string) error {
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("must be a URL such as https://names.example.com, not %s", quote(v))
	}
	return nil
}

// origin is a web origin, which has no path.
func origin(v string) error {
	if v == "*" {
		return errors.New("must name each origin; * is not taken, because credentials are used")
	}
	if err := webURL(v); err != nil {
		return err
	}
	if u, _ := url.Parse(v); u.Path != "" {
		return fmt.Errorf("must be an origin such as https://ops.example.com, without a path, not %s", quote(v))
	}
	return nil
}

// network is an address or a prefix of addresses.
func network(v string) error {
	if _, err := netip.ParsePrefix(v); err == nil {
		return nil
	}
	if _, err := netip.ParseAddr(v); err == nil {
		return nil
	}
	return fmt.Errorf("must hold addresses or networks such as 10.0.0.5 or 10.0.0.0/8, not %s", quote(v))
}

// basePath is a prefix of URL paths.
func basePath(v string) error {
	if !strings.HasPrefix(v, "/") || strings.HasSuffix(v, "/") || strings.Contains(v, "//") || strings.ContainsAny(v, "?#% \\") {
		return fmt.Errorf("must be empty or a path such as /names, without a slash at its end, not %s", quote(v))
	}
	return nil
}
