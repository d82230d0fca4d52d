package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"fingerpost/config"
	"fingerpost/internal/kvfile"
	"fingerpost/internal/warmfile"
	"fingerpost/registry"
)

// registryFile is the file below dataDir that keeps the registry for the next start.
const registryFile = "registry.snapshot"

// warm keeps what the registry knows for the next start and begins with what the last
// process knew.
type warm struct {
	registry *registry.Registry
	file     *kvfile.File
	log      *slog.Logger
	interval func() time.Duration
	maxAge   time.Duration
	saved    saves

	mu sync.Mutex // one save at a time
	// revision is the last that was saved, at is when; over tells that no more is saved.
	revision uint64
	at       time.Time
	over     bool
	// waiting tells that some of what the last process knew is still unconfirmed.
	waiting bool
}

func newWarm(cfg *config.Config, fsys kvfile.FS, log *slog.Logger) *warm {
	return &warm{
		file: kvfile.New(filepath.Join(cfg.DataDir, registryFile), fsys, warmfile.Check), log: log,
		interval: func() time.Duration { return cfg.WarmRestart.Interval }, maxAge: cfg.WarmRestart.MaxAge,
	}
}

// begin puts what the last process knew in an empty registry. Where that cannot be, the
// registry stays empty, as without this, and the log says why in one line.
func (w *warm) begin(r *registry.Registry, limit time.Duration) {
	w.registry = r
	age, err := w.restore(limit)
	s := r.Snapshot()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.log.Info("nothing is known from before, so routes come with the brokers' registrations", "file", w.file.Path())
	case err != nil:
		w.log.Warn("what was known before is not used, so routes come with the brokers' registrations", "file", w.file.Path(), "err", err)
	default:
		w.waiting = s.Unconfirmed() > 0
		w.log.Info("answering from what was known before, until the brokers register", "file", w.file.Path(),
			"brokers", s.Unconfirmed(), "topics", s.TopicCount(), "age", age.Round(time.Millisecond))
	}
}

func (w *warm) restore(limit time.Duration) (age time.Duration, err error) {
	l, err := w.file.Load()
	switch {
	case err != nil:
		return 0, err
	case len(l.Data) == 0:
		return 0, fs.ErrNotExist
	}
	if l.Note != "" {
		w.log.Warn(l.Note)
	}
	img, taken, err := warmfile.Decode(l.Data)
	if err != nil {
		return 0, err
	}
	// A clock that was set back makes it seem to come from the future.
	if age = time.Since(taken); age.Abs() > w.maxAge {
		return age, fmt.Errorf("it is %s old and may be %s", age.Round(time.Second), w.maxAge)
	}
	return age, w.registry.Restore(img, limit, registry.Cause{Face: "server", Action: "restore"})
}

// run saves until ctx ends.
func (w *warm) run(ctx context.Context) {
	for {
		if _, on := wait(ctx, w.interval); !on {
			return
		}
		w.save(false)
		if w.waiting && w.registry.Snapshot().Unconfirmed() == 0 {
			w.waiting = false
			w.log.Info("every broker that was known before has registered or left")
		}
	}
}

// finish saves once more and then no more: what follows is brokers that lose their
// connection because the server leaves.
func (w *warm) finish() {
	w.save(true)
}

// finishWithin is finish, but for a disk that hangs it does not wait for ever.
func (w *warm) finishWithin(d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	last := step{stop: func(context.Context) error { w.finish(); return nil }}
	if err := last.within(ctx); err != nil {
		w.log.Error("what is known could not be saved for the next start", "err", err)
	}
}

// save writes the file if it is behind. A registry at rest is saved seldom, only so that
// the file does not grow too old to be used.
func (w *warm) save(last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	w.over = last
	s := w.registry.Snapshot()
	if !last && s.Revision == w.revision && time.Since(w.at) < w.maxAge/4 {
		return
	}
	began := time.Now()
	var data []byte
	err := w.saved.do(func() (err error) {
		if data, err = warmfile.Encode(s.Image(), began); err == nil {
			err = w.file.Save(data)
		}
		return err
	})
	if err != nil {
		w.log.Error("what is known could not be saved for the next start", "err", err)
		return
	}
	w.revision, w.at = s.Revision, began
	w.log.Debug("saved what is known for the next start", "file", w.file.Path(), "revision", s.Revision, "bytes", len(data), "took", time.Since(began))
}
