package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"fingerpost/internal/kvfile"
)

const (
	// tryEvery is how long a good answer to whether a folder can be written is good for,
	// and how long a failed save is shown at least.
	tryEvery = 10 * time.Second
	// tryAgain is the same for a bad answer.
	tryAgain = time.Second
)

// fitness is whether a file can be saved: whether the last save worked, and whether
// its folder takes a small file, which is tried when a probe asks.
type fitness struct {
	mu     sync.Mutex
	file   *kvfile.File // nil: only saves count
	last   error        // of the last save
	count  int          // saves so far
	folder error        // of the last try
	tried  time.Time
	trying chan struct{} // closed when the present try ends
}

// watch names the file that can be tried.
func (s *fitness) watch(f *kvfile.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.file = f
}

// note takes the result of a save, or of what has to work before one, and passes it on.
func (s *fitness) note(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.tried = err, time.Now()
	s.count++
	if err == nil {
		s.folder = nil
	}
	return err
}

// failing returns whether the last save failed.
func (s *fitness) failing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last != nil
}

// check returns why a change could not be saved, in words fit for the public: they name no
// path. A failed save counts until one works or, after a while, until the folder takes a
// file again, because nobody may have anything to save for days.
func (s *fitness) check(ctx context.Context) error {
	s.mu.Lock()
	if s.file != nil && s.trying == nil && time.Since(s.tried) >= s.good() {
		s.trying = make(chan struct{})
		go s.try(s.file, s.count, s.trying)
	}
	trying := s.trying
	s.mu.Unlock()
	if trying != nil {
		select {
		case <-trying:
		case <-ctx.Done():
			return errors.New("the folder does not answer")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.last != nil:
		return fmt.Errorf("the last change could not be saved: %s", reason(s.last))
	case s.folder != nil:
		return fmt.Errorf("a change could not be saved: %s", reason(s.folder))
	}
	return nil
}

// good is how long what is known is good for. The lock is held.
func (s *fitness) good() time.Duration {
	if s.last == nil && s.folder != nil {
		return tryAgain
	}
	return tryEvery
}

func (s *fitness) try(f *kvfile.File, count int, done chan struct{}) {
	err := f.Try()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == count { // else a save has told more
		s.folder, s.tried = err, time.Now()
		// A file that is mounted by itself cannot be replaced in whatever folder.
		if err == nil && !errors.Is(s.last, syscall.EBUSY) {
			s.last = nil
		}
	}
	s.trying = nil
	close(done)
}

// reason names what the operating system said, without the path at which it said so.
func reason(err error) string {
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		return e.Error()
	}
	return "the log says why"
}
