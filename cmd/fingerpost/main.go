package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// exitSignal is added to a signal's number when a second one ends the process at once.
const exitSignal = 128

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		cancel(fmt.Errorf("signal: %v", <-signals))
		if n, ok := (<-signals).(syscall.Signal); ok {
			os.Exit(exitSignal + int(n))
		}
	}()
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}
