"""The only nameserver restarts while a producer sends: routes are answered before any broker has registered again."""
import re

import goclient
from report import Section, lab, produced

RATE = 200          # messages a second
LONGEST = 200       # seconds of traffic
REGISTERS = 40      # brokers of the lab register every 10 s, and look for a lost nameserver again after some seconds
SETTINGS = {"warmRestart.enabled": "true", "warmRestart.interval": "2s"}
BEFORE = "answering from what was known before, until the brokers register"
AFTER = "every broker that was known before has registered or left"


def warm(report, world, version):
    if not world.args.fingerpost:
        report.say("left out: only Fingerpost begins with what it knew before")
        return
    world.stop()
    begin(world)
    s = Section(report, world, version, "warm", 1)
    stop = world.root / ("stop-" + s.mark)
    try:
        s.broker("w", 0, s.ports[0]).wait_ready()
        report.eventually("the broker registers", lambda: s.ids("w"), 60, needed=True)
        topic = s.topic("warm")
        s.admin("updateTopic", "-c", s.cluster, "-t", topic)
        report.eventually("and has a topic", lambda: s.route(topic), 20, needed=True)
        sender = lab.Probe(version)
        try:
            sender.begin("traffic", s.namesrv, "warm_" + s.mark, topic, LONGEST, stop, RATE)
            produced_by_new_clients(s, topic, "before")
            flows(s, topic)
            for how, end in (("stops", world.stop), ("is killed", world.kill)):
                once(s, topic, how, end)
            stop.touch()
            text = sender.finish(LONGEST + 90)[1]
            sent, failed, got = goclient.trafficked(text)
            report.check("a producer at %d messages a second lost none over both restarts" % RATE,
                         sent > 0 and failed == 0 and got == sent, text[-600:], "%d messages" % sent)
        finally:
            stop.touch()
            sender.close()
    finally:
        s.close()


def flows(s, topic):
    """Until the producer sends: what the new clients have sent is less."""
    def stored():
        return sum(int(found) for found in re.findall(r"(?m)^%s-w\s+\d+\s+\d+\s+(\d+)" % re.escape(s.cluster),
                                                      s.admin("topicStatus", "-t", topic)))

    s.report.eventually("the producer is at work", lambda: stored() > RATE, 120, stored, needed=True)


def begin(world):
    world.server = world.new_server("warm", world.port, settings=SETTINGS)
    world.namesrv = world.server.addr


def once(s, topic, how, end):
    report, world = s.report, s.world
    wait_saved(s)
    logged = lambda text: world.server.output.read_text(errors="replace").count(text)
    began, ended = logged(BEFORE), logged(AFTER)
    end()
    begin(world)
    code = s.call(105, {"topic": topic})["code"]
    report.check("the nameserver %s and answers the route at once, from before" % how, code == 0 and logged(BEFORE) == began + 1, code)
    produced_by_new_clients(s, topic, how.replace(" ", ""))
    report.eventually("the broker registers again", lambda: logged(AFTER) == ended + 1, REGISTERS)
    report.check("and the route is as it was", s.route(topic) and s.ids("w"), s.route(topic))


def wait_saved(s):
    """Until the file that a killed server begins with names the topic's broker."""
    file = s.world.server.folder / "data" / "registry.snapshot"
    s.report.eventually("what is known is saved", lambda: file.exists() and (s.cluster + "-w").encode() in file.read_bytes(), 20,
                        needed=True)


def produced_by_new_clients(s, topic, when):
    """A client that starts now has no route yet."""
    text = s.probe.run("produce", s.namesrv, topic, 20, when)[1]
    s.report.check("a new Java producer sends 20 messages (%s)" % when, produced(text)[:2] == (20, 0), text)
    text = goclient.run(s, "produce", s.namesrv, topic, 20, "go" + when)
    s.report.check("a new Go producer sends 20 messages (%s)" % when, produced(text)[:2] == (20, 0), text)
