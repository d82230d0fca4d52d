package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestStepsStopInReverse(t *testing.T) {
	s := steps{log: slog.New(slog.DiscardHandler)}
	var order []string
	for _, name := range []string{"one", "two", "three"} {
		s.add(name, func(context.Context) error {
			order = append(order, name)
			if name == "two" {
				return errors.New("no")
			}
			return nil
		})
	}
	err := s.stop(t.Context())
	if err == nil || err.Error() != "stop two: no" {
		t.Errorf("got %v", err)
	}
	if !slices.Equal(order, []string{"three", "two", "one"}) {
		t.Errorf("stopped in the order %v", order)
	}
	if err := s.stop(t.Context()); err != nil || len(order) != 3 {
		t.Errorf("stopped twice: %v, %v", order, err)
	}
}

// A step that hangs is named and left behind; the steps after it are taken all the same.
func TestStepThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := steps{log: slog.New(slog.DiscardHandler)}
		release, last := make(chan struct{}), false
		s.add("last", func(context.Context) error { last = true; return nil })
		s.add("hung", func(context.Context) error { <-release; return nil })
		s.add("slow", func(ctx context.Context) error { // cuts off at the deadline
			<-ctx.Done()
			return ctx.Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		began := time.Now()
		err := s.stop(ctx)
		if took := time.Since(began); took != 10*time.Second+lastWord {
			t.Errorf("it took %v", took)
		}
		if !errors.Is(err, errHung) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "stop hung: ") || !strings.Contains(err.Error(), "stop slow: ") {
			t.Errorf("got %v", err)
		}
		if !last {
			t.Error("the step after the hung one was not taken")
		}
		close(release)
	})
}
