"""rocketmq-client-go v2 on a cluster: what it asks of a nameserver, and what comes of it."""
import os
import pathlib
import re
import shutil
import subprocess

from report import produced, queue_lines, received

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "goclient"


def build(folder):
    """The Go client, compiled into a folder; its path."""
    if not shutil.which("go"):
        raise SystemExit("interop: no go on the PATH; it builds the Go client")
    target = pathlib.Path(folder) / "goclient"
    subprocess.run(["go", "build", "-o", str(target), "."], cwd=str(SOURCE), check=True, timeout=600,
                   env=dict(os.environ, GOWORK="off"))
    return target


def command(section, *words):
    return [str(section.world.goclient)] + [str(word) for word in words]


def run(section, *words, timeout=90):
    """The output of a command of the Go client."""
    done = subprocess.run(command(section, *words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=timeout, cwd=str(section.world.root))
    return done.stdout


def on_cluster(s):
    """After messages(): the topics many (both brokers) and order exist."""
    report, many = s.report, s.topic("many")
    a, b = s.cluster + "-a", s.cluster + "-b"
    text = run(s, "topics", s.namesrv)
    report.check("the Go client lists the topics", many in text.split(), text[:300])
    text = run(s, "queues", s.namesrv, many)
    report.check("the Go client sees the queues of both brokers", queue_lines(text) == [a, b], text)
    text = run(s, "queues", s.namesrv, "no_such_topic_" + s.mark)
    report.check("the Go client is told that an unknown topic does not exist", "error" in text and "lab-" not in text, text)
    text = run(s, "produce", s.namesrv, many, 32, "g")
    sent, failed, by_broker = produced(text)
    report.check("the Go client sends 32 messages, some to each broker",
                 (sent, failed, set(by_broker)) == (32, 0, {"a", "b"}), text)
    text = run(s, "consume", s.namesrv, "gogroup_" + s.cluster, many, 96, 60)
    report.check("the Go client gets those and the Java client's 64", received(text)[0] == 96, text)
    text = run(s, "ordered", s.namesrv, s.topic("order"), 20, "p")
    report.check("the Go client sends 20 messages by key to the order topic", produced(text)[:2] == (20, 0), text)
    text = run(s, "produce", s.namesrv, s.topic("goauto"), 4, "x")
    report.check("sending creates a topic that does not exist", produced(text)[:2] == (4, 0), text)
    report.eventually("and it has a route then", lambda: s.route(s.topic("goauto")), 15)
    text = s.probe.run("consume", s.namesrv, "fromgo_" + s.cluster, s.topic("goauto"), 4, 40)[1]
    report.check("the Java client gets what the Go client sent", received(text)[0] == 4, text)


class Traffic:
    """Both clients sending and consuming in the background, until finish() or longest seconds have gone by."""

    def __init__(self, section, probe, topic, group, longest, namesrv=None):
        self.probe, self.longest = probe, longest
        self.stop = section.world.root / ("stop-" + section.mark)
        self.log = section.world.root / ("gotraffic-%s.log" % section.mark)
        namesrv = namesrv or section.namesrv
        with open(self.log, "w", encoding="utf-8") as out:
            self.process = subprocess.Popen(command(section, "traffic", namesrv, "go" + group, topic, longest, self.stop),
                                            stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                            cwd=str(section.world.root))
        probe.begin("traffic", namesrv, group, topic, longest, self.stop)

    def finish(self, report):
        """Two checks: what was sent has come, and nothing failed to be sent."""
        self.stop.touch()
        for name, text in (("Java", self.probe.finish(self.longest + 90)[1]), ("Go", self._end(90))):
            sent, failed, got = trafficked(text)
            report.check("meanwhile the %s client lost nothing" % name, sent > 0 and failed == 0 and got == sent, text[-600:],
                         "%d messages" % sent)

    def _end(self, timeout):
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        return self.log.read_text(encoding="utf-8", errors="replace")

    def close(self):
        self.stop.touch()
        self._end(0)
        self.probe.close()


def trafficked(text):
    """(sent, failed, received) of a traffic run."""
    found = re.search(r"sent (\d+) failed (\d+) received (\d+)", text)
    return tuple(map(int, found.groups())) if found else (0, -1, 0)
