package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// Options say where credentials are found.
type Options struct {
	// TokensFile, UsersFile and CertRolesFile are the files of credentials; "" is none.
	TokensFile, UsersFile, CertRolesFile string
	// AdminTokenFile holds the one token that counts where none of the three files is
	// named. It is made if it does not exist; "" makes none.
	AdminTokenFile string
	// AnonymousRole is what callers without a credential may do: Viewer or None.
	AnonymousRole Role
	// NoAuth makes everybody an admin without a credential.
	NoAuth bool
	// Log hears of files that were read again or could not be.
	Log *slog.Logger
	// Now tells the time; time.Now by default.
	Now func() time.Time
}

// ErrUnknown is the refusal of a credential that is none of those known.
var ErrUnknown = errors.New("the credential is not known")

// Keeper recognises credentials. Its methods may be called by anybody at any time.
type Keeper struct {
	o     Options
	admin [sha256.Size]byte // of the admin token, if there is one
	isNew bool

	now atomic.Pointer[tables]

	mu      sync.Mutex
	checked time.Time
	stamps  [3]stamp
	failed  string // why the files as they are now are not in force

	// bcrypt costs some 50 ms by design; few at once, and what was right is
	// remembered for a while as a keyed hash.
	slots  chan struct{}
	secret [32]byte
	dummy  func() []byte
	rightM sync.Mutex
	right  map[[sha256.Size]byte]remembered
}

type remembered struct {
	tables *tables
	name   string
	until  time.Time
}

const (
	checkEvery    = time.Second
	rememberFor   = 5 * time.Minute
	maxRemembered = 1024
)

// New reads the files. It fails if one that is named cannot be read, or the admin
// token can be read by others than its owner.
func New(o Options) (*Keeper, error) {
	k := &Keeper{o: o, slots: make(chan struct{}, 2), right: make(map[[sha256.Size]byte]remembered)}
	if k.o.Now == nil {
		k.o.Now = time.Now
	}
	if k.o.Log == nil {
		k.o.Log = slog.New(slog.DiscardHandler)
	}
	rand.Read(k.secret[:]) // never fails
	k.dummy = sync.OnceValue(func() []byte {
		// The cost of a wrong name is that of a wrong password.
		hash, _ := bcrypt.GenerateFromPassword(k.secret[:16], bcrypt.DefaultCost) // short enough
		return hash
	})
	k.stamps = k.look()
	t, err := readTables(o.TokensFile, o.UsersFile, o.CertRolesFile)
	if err != nil {
		return nil, fmt.Errorf("read credentials: %w", err)
	}
	k.now.Store(t)
	if !k.Configured() && o.AdminTokenFile != "" {
		token, made, err := adminToken(o.AdminTokenFile)
		if err != nil {
			return nil, err
		}
		k.admin, k.isNew = sha256.Sum256([]byte(token)), made
	}
	return k, nil
}

// Configured reports whether a file of credentials is named.
func (k *Keeper) Configured() bool {
	return k.o.TokensFile != "" || k.o.UsersFile != "" || k.o.CertRolesFile != ""
}

// MadeAdminToken reports whether New made the admin token, so that its place can be told.
func (k *Keeper) MadeAdminToken() bool { return k.isNew }

// Anonymous returns the principal of a caller without a credential.
func (k *Keeper) Anonymous() Principal {
	p := Principal{Name: AnonymousName, Role: k.o.AnonymousRole, Method: Anonymous}
	if k.o.NoAuth {
		p.Role = Admin
	}
	return p
}

// Bearer returns whose token that is, or ErrUnknown.
func (k *Keeper) Bearer(token string) (Principal, error) {
	sum := sha256.Sum256([]byte(token))
	if k.admin != [sha256.Size]byte{} && subtle.ConstantTimeCompare(sum[:], k.admin[:]) == 1 {
		return k.adminPrincipal(), nil
	}
	// The table is keyed by the hash: how long a look-up takes tells of the hash of
	// what the caller already has, and of no token.
	if g, ok := k.tables().tokens[sum]; ok {
		return g.principal, nil
	}
	return Principal{}, ErrUnknown
}

func (k *Keeper) adminPrincipal() Principal {
	return Principal{Name: "token:admin", Role: Admin, Method: Token}
}

// Password returns whose name and password these are, or ErrUnknown. It may wait for
// its turn, and ends with ctx then.
func (k *Keeper) Password(ctx context.Context, name, password string) (Principal, error) {
	t := k.tables()
	mac := hmac.New(sha256.New, k.secret[:])
	fmt.Fprintf(mac, "%d:%s%s", len(name), name, password)
	sum := [sha256.Size]byte(mac.Sum(nil))
	if k.remembers(sum, t) {
		return t.users[name].principal, nil
	}
	select {
	case k.slots <- struct{}{}:
		defer func() { <-k.slots }()
	case <-ctx.Done():
		return Principal{}, ctx.Err()
	}
	g, known := t.users[name]
	hash := g.hash
	if !known {
		hash = k.dummy()
	}
	if err := bcrypt.CompareHashAndPassword(hash, []byte(password)); err != nil || !known {
		return Principal{}, ErrUnknown
	}
	k.remember(sum, remembered{tables: t, name: name, until: k.o.Now().Add(rememberFor)})
	return g.principal, nil
}

func (k *Keeper) remembers(sum [sha256.Size]byte, t *tables) bool {
	k.rightM.Lock()
	defer k.rightM.Unlock()
	r, ok := k.right[sum]
	return ok && r.tables == t && k.o.Now().Before(r.until)
}

func (k *Keeper) remember(sum [sha256.Size]byte, r remembered) {
	k.rightM.Lock()
	defer k.rightM.Unlock()
	if len(k.right) >= maxRemembered {
		clear(k.right)
	}
	k.right[sum] = r
}

// Cert returns whose client certificate that is, or ErrUnknown. The chain must have
// been verified before.
func (k *Keeper) Cert(c *x509.Certificate) (Principal, error) {
	t := k.tables()
	names := make([]string, 0, 4)
	for _, u := range c.URIs {
		names = append(names, "uri:"+u.String())
	}
	for _, n := range c.DNSNames {
		names = append(names, "dns:"+n)
	}
	for _, n := range c.EmailAddresses {
		names = append(names, "email:"+n)
	}
	for _, n := range append(names, "cn:"+c.Subject.CommonName) {
		if g, ok := t.certs[n]; ok {
			return g.principal, nil
		}
	}
	return Principal{}, ErrUnknown
}

// Still returns a principal by its name as the files have it now, and whether it is
// there at all.
func (k *Keeper) Still(name string) (Principal, bool) {
	p, _, ok := k.still(name)
	return p, ok
}

// still is Still with the hash of the token or password that the principal has now:
// sessions end with the credential they began with, also if the name gets another.
func (k *Keeper) still(name string) (p Principal, hash string, ok bool) {
	switch {
	case name == AnonymousName:
		p := k.Anonymous()
		return p, "", p.Role > None
	case k.admin != [sha256.Size]byte{} && name == k.adminPrincipal().Name:
		return k.adminPrincipal(), "", true
	}
	t := k.tables()
	p, ok = t.byName[name]
	return p, t.hashes[name], ok
}

func (k *Keeper) look() (s [3]stamp) {
	for i, name := range []string{k.o.TokensFile, k.o.UsersFile, k.o.CertRolesFile} {
		s[i], _ = stampOf(name) // a file that is gone differs from one that was there
	}
	return s
}

// tables returns the files' content, read again if one of them has changed. Whoever
// comes while another looks uses what is there.
func (k *Keeper) tables() *tables {
	if !k.Configured() || !k.mu.TryLock() {
		return k.now.Load()
	}
	defer k.mu.Unlock()
	now := k.o.Now()
	if now.Sub(k.checked) < checkEvery {
		return k.now.Load()
	}
	k.checked = now
	s := k.look()
	// What could not be read is read again although it looks the same: a mode or an owner
	// set right does not show, nor that there are descriptors again.
	if s == k.stamps && k.failed == "" {
		return k.now.Load()
	}
	k.stamps = s
	t, err := readTables(k.o.TokensFile, k.o.UsersFile, k.o.CertRolesFile)
	if err != nil {
		if k.failed != err.Error() {
			k.failed = err.Error()
			k.o.Log.Error("credentials could not be read again, the old ones stay in force", "err", err)
		}
		return k.now.Load()
	}
	k.failed = ""
	k.o.Log.Info("credentials read again", "tokens", len(t.tokens), "users", len(t.users), "certificates", len(t.certs))
	k.now.Store(t)
	return t
}
