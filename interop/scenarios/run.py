#!/usr/bin/env python3
"""Runs real brokers, clients and the admin tool against a nameserver and checks what they see of it.

  run.py --fingerpost BINARY            Fingerpost, started here, a fresh one for each scenario
  run.py --oracle 5.5.0                 the Java nameserver of that version, the same way
  run.py --namesrv HOST:PORT            one that already runs (what needs a restart is left out)

Every check prints "PASS ..." or "FAIL ...: reason". A scenario with a failure is tried once more with new names, and
says so; what counts is its last try. The last line is "N passed, N failed"; the exit status is 0 only where nothing
failed. Scenarios: cluster, discovery, cli, acting, switch, swap, mixed, proxy, rest, warm, tls, acl, peers, rolling,
grpc, spring; --set chooses what and which versions.
"""
import argparse
import os
import pathlib
import shutil
import sys
import tempfile
import time
import traceback

import goclient
from acting import acting
from closed import acl, tls
from cluster import cluster
from discovery import cli, discovery
from ecosystem import grpc, prepare, spring
from peers import peers
from report import Report, Stop, lab
from rest import rest
from rolling import rolling
from swap import swap
from switch import switch
from together import mixed, proxy
from warm import warm

VERSIONS = ["4.8.0", "4.9.7", "5.3.3", "5.5.0"]
LIMIT = 900         # seconds for one try of one scenario, its waits for others not counted

# What is run: (scenario, its argument). The order matters little; scenarios that wait let the next one begin.
FULL = [(cluster, "5.5.0"), (discovery, "5.5.0"), (cli, "5.5.0"), (cli, "4.9.7"), (acting, "5.5.0"), (cluster, "5.3.3"), (acting, "5.3.3"), (cluster, "4.9.7"), (cluster, "4.8.0"),
        (switch, "5.5.0"), (switch, "5.3.3"), (switch, "4.9.7"), (switch, "4.8.0"), (mixed, ("4.9.7", "5.5.0")),
        (mixed, ("4.8.0", "5.3.3")), (proxy, "5.5.0"), (proxy, "5.3.3"), (rest, "5.5.0"), (warm, "5.5.0"), (tls, "5.5.0"), (acl, "5.5.0"), (peers, "5.5.0"), (rolling, "5.5.0"), (peers, "4.9.7"),
        (grpc, "5.5.0"), (spring, "5.5.0"), (swap, tuple(VERSIONS))]
CI = [(cluster, "5.5.0"), (acting, "5.5.0"), (rest, "5.5.0"), (warm, "5.5.0"), (peers, "5.5.0"), (rolling, "5.5.0"), (cluster, "4.9.7"), (mixed, ("4.8.0", "5.3.3")),
      (swap, tuple(VERSIONS))]
SETS = {"full": FULL, "ci": CI}


class World:
    """Where one try of one scenario takes place: a folder, ports of its own and a nameserver."""

    def __init__(self, args, root, number, mark, client):
        self.args, self.goclient = args, client
        self.mark = mark
        self.root = root / ("try-%d" % number)
        self.root.mkdir(parents=True)
        self.port_base = args.port_base + 100 * number
        self.can_restart = not args.namesrv
        self.namesrv, self.server = args.namesrv, None
        if self.can_restart:
            self.port = lab.free_ports(1, self.port_base + 80)[0]
            self.start()

    def start(self):
        """The nameserver, on its port and in its folder, as before."""
        self.server = self.new_server("namesrv", self.port)
        self.namesrv = self.server.addr

    def new_server(self, folder, port, java=None, settings=None):
        """A nameserver of the kind under test, or the Java one of a version; the same folder serves either."""
        store = self.root / folder
        version = java or self.args.oracle
        server = lab.start_namesrv(version, port, store, settings) if version else lab.start_fingerpost(
            self.args.fingerpost, port, store, settings)
        server.wait_ready()
        return server

    def stop(self):
        self.server.stop()

    def kill(self):
        self.server.kill()

    def close(self):
        if self.server:
            self.server.stop()


class Try:
    """One try of one scenario, a generator that yields where it waits for something slow."""

    def __init__(self, scenario, argument, world, attempt):
        self.scenario, self.argument, self.world, self.attempt = scenario, argument, world, attempt
        words = argument if isinstance(argument, str) else "+".join(argument)
        self.report = Report("%s %s%s" % (scenario.__name__, words, " (second try)" if attempt > 1 else ""))
        self.seconds, self.rest = 0.0, None

    def advance(self):
        """Runs to the next yield or to the end. True at the end."""
        began = time.monotonic()
        try:
            if self.rest is None:
                self.rest = self.scenario(self.report, self.world, self.argument)
                if self.rest is None:
                    return True
            next(self.rest)
            return False
        except StopIteration:
            return True
        except Stop as e:
            self.report.say("the rest was left out after: %s" % e)
        except Exception:
            self.report.check("the scenario runs to its end", False, traceback.format_exc(limit=-2))
        finally:
            self.seconds += time.monotonic() - began
            if self.seconds > LIMIT:
                self.report.check("the scenario ends within %d s" % LIMIT, False)
        return True


def run_all(args, plan, root, client):
    """Gives (passed, failed, scenarios that needed a second try)."""
    mark = int(time.time() * 7) + os.getpid()
    number, passed, failed, again = 0, 0, 0, []
    waiting, todo = [], [(scenario, argument, 1) for scenario, argument in plan]
    while todo or waiting:
        if todo and len(waiting) < args.overlap:
            scenario, argument, attempt = todo.pop(0)
            world = World(args, root, number, "%04x" % ((mark + number * 977) % 16 ** 4), client)
            number += 1
            current = Try(scenario, argument, world, attempt)
        else:
            current = waiting.pop(0)
        if not current.advance():
            waiting.append(current)
            continue
        current.world.close()
        report = current.report
        report.say("%d passed, %d failed, %.0f s" % (report.passed, report.failed, current.seconds))
        if report.failed and current.attempt == 1 and not args.once:
            report.say("TRIED A SECOND TIME, for %d of its checks failed" % report.failed)
            again.append(report.prefix)
            todo.insert(0, (current.scenario, current.argument, 2))
            continue
        passed += report.passed
        failed += report.failed
    return passed, failed, again


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--fingerpost", metavar="BINARY")
    where.add_argument("--oracle", metavar="VERSION", help="start the Java nameserver and test that")
    where.add_argument("--namesrv", metavar="HOST:PORT")
    parser.add_argument("--set", default="full", choices=sorted(SETS), help="default %(default)s")
    parser.add_argument("--versions", help="of brokers: only scenarios about these alone, with commas between")
    parser.add_argument("--scenarios", help="only these, with commas between")
    parser.add_argument("--overlap", type=int, default=2, help="scenarios that may wait while others run (default %(default)s)")
    parser.add_argument("--once", action="store_true", help="no second try")
    parser.add_argument("--port-base", type=int, default=29100, help="servers take free ports from here up")
    parser.add_argument("--work", metavar="DIR", help="keep the servers' folders, logs in them, here")
    a = parser.parse_args()
    plan = SETS[a.set]
    if a.versions:
        allowed = set(a.versions.split(","))
        plan = [(s, v) for s, v in plan if set([v] if isinstance(v, str) else v) <= allowed]
    if a.scenarios:
        plan = [(s, v) for s, v in plan if s.__name__ in a.scenarios.split(",")]
    if a.namesrv:
        plan, a.overlap = [(s, v) for s, v in plan if s not in (swap, peers, rolling)], 1
    if not plan:
        parser.error("nothing to run: no scenario fits")
    versions = sorted({v for _, vs in plan for v in ([vs] if isinstance(vs, str) else vs)})
    for version in versions:
        lab.probe_classes(version)
    prepare({scenario for scenario, _ in plan})
    root = pathlib.Path(a.work or tempfile.mkdtemp(prefix="rmq-interop-")).resolve()
    root.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    try:
        passed, failed, again = run_all(a, plan, root, goclient.build(root))
    finally:
        if not a.work:
            shutil.rmtree(root, ignore_errors=True)
    print("     set %s, brokers %s, in all %.0f s" % (a.set, " ".join(versions), time.monotonic() - began))
    for prefix in again:
        print("     %s needed a second try" % prefix)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
