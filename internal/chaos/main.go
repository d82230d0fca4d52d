package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
)

func main() {
	if err := program(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// errWrong ends a program that has told what is wrong.
var errWrong = errors.New("chaos: something is wrong, see above")

const usage = "chaos: say what to do: chaos, overload or soak; -h after it lists its flags"

// program runs one of the commands. What it finds goes to out.
func program(args []string, out, log io.Writer) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(out)
	var work func() (bool, error)
	switch args[0] {
	case "chaos":
		p := usual(out)
		flags.DurationVar(&p.time, "time", p.time, "how long it goes on")
		flags.IntVar(&p.steps, "steps", 0, "steps of each worker, instead of a time; as fast as possible")
		flags.IntVar(&p.rate, "rate", p.rate, "steps a second, and a quarter as many reads; 0 is as many as possible")
		flags.IntVar(&p.workers, "workers", p.workers, "workers at once")
		flags.IntVar(&p.groups, "groups", p.groups, "broker groups of each worker, of two brokers each")
		flags.Uint64Var(&p.seed, "seed", rand.Uint64(), "what happens is drawn from this")
		verbose := flags.Bool("v", false, "show the server's log")
		work = func() (bool, error) {
			if *verbose {
				p.log = log
			}
			if p.steps > 0 {
				p.rate = 0
			}
			return chaos(p)
		}
	case "overload":
		s := usualSiege(out)
		flags.DurationVar(&s.time, "time", s.time, "how long it goes on")
		flags.IntVar(&s.idle, "idle", s.idle, "connections that nearly nothing comes over")
		flags.IntVar(&s.brokers, "brokers", s.brokers, "brokers with a heartbeat a second")
		flags.IntVar(&s.storm, "storm", s.storm, "connections that look up routes all the time")
		flags.DurationVar(&s.lifetime, "lifetime", s.lifetime, "how long a broker lives without being heard of")
		flags.StringVar(&s.binary, "server", "", "the program to run; built if not given")
		work = func() (bool, error) { return besiege(s) }
	case "soak":
		s := usualSoak(out)
		flags.DurationVar(&s.time, "time", s.time, "how long it goes on")
		flags.IntVar(&s.brokers, "brokers", s.brokers, "brokers with a heartbeat a second")
		flags.IntVar(&s.lookers, "lookers", s.lookers, "connections with ten lookups a second")
		flags.StringVar(&s.binary, "server", "", "the program to run; built if not given")
		work = func() (bool, error) { return soak(s) }
	default:
		return errors.New(usage)
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	ok, err := work()
	if err == nil && !ok {
		return errWrong
	}
	return err
}
