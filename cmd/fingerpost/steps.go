package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// steps are what has to be stopped again, in the order in which it was started.
type steps struct {
	log  *slog.Logger
	list []step
}

type step struct {
	name string
	stop func(context.Context) error
}

// lastWord is how long a step may still take after the deadline, to cut off what it
// would have waited for.
const lastWord = time.Second

// add says how to stop what was just started.
func (s *steps) add(name string, stop func(context.Context) error) {
	s.list = append(s.list, step{name, stop})
}

// stop takes the steps in reverse order under the deadline of ctx. One that fails or does
// not end is named; the others are taken all the same.
func (s *steps) stop(ctx context.Context) error {
	var errs []error
	for _, st := range slices.Backward(s.list) {
		began := time.Now()
		err := st.within(ctx)
		s.log.Debug("stopped", "step", st.name, "took", time.Since(began), "err", err)
		if err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", st.name, err))
		}
	}
	s.list = nil
	return errors.Join(errs...)
}

var errHung = errors.New("it did not end in time and was left behind")

func (st step) within(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- st.stop(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	t := time.NewTimer(lastWord)
	defer t.Stop()
	select {
	case err := <-done:
		return err
	case <-t.C:
		return errHung
	}
}
