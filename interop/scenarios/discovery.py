"""A broker and clients that are given a domain only, and a node that is taken out of service under them."""
import json
import re
import subprocess

import goclient
from report import Section, lab, produced, rmqwire, received

FOUND = 90          # seconds: a broker asks 10 s after its start at the earliest, and every minute


class Command:
    """The command line of the server under test."""

    def __init__(self, world):
        self.binary, self.folder = world.args.fingerpost, world.root

    def run(self, *words, timeout=120):
        """(exit status, what it wrote)"""
        done = subprocess.run([self.binary] + [str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=timeout, cwd=str(self.folder))
        return done.returncode, done.stdout

    def json(self, *words):
        """The answer in JSON, None where there is none."""
        status, text = self.run(*words, "-o", "json")
        return json.loads(text) if status == 0 else None


def rest_of(server):
    """(URL, file of the token) of a Fingerpost's API."""
    line = lab.wait_until(lambda: re.search(r'"serving".*?"http":"([^"]+)"', server.output.read_text(errors="replace")), 15)[0]
    return "http://" + line.group(1), server.folder / "data" / "admin-token"


def discovery(report, world, version):
    if not world.args.fingerpost:
        report.say("left out: only Fingerpost serves addresses")
        return
    s = Section(report, world, version, "discovery", 4)
    one, two = s.ports[1] + 7, s.ports[2] + 7
    lists = s.ports[3]
    a = world.new_server("first", one, settings={"peers": "127.0.0.1:%d" % two, "http.nsaddr.listen": "127.0.0.1:%d" % lists})
    b = world.new_server("second", two, settings={"peers": "127.0.0.1:%d" % one, "http.nsaddr.listen": "127.0.0.1:%d" % (lists + 1)})
    domain = "127.0.0.1:%d" % (lists + 1)       # of the node that stays
    told = ["-Drocketmq.namesrv.domain=" + domain]
    url = "http://%s/rocketmq/nsaddr" % domain
    topic, traffic = s.topic("dom"), None
    s.probe = lab.Probe(version, told)
    try:
        s.broker("d", 0, s.ports[0], {"namesrvAddr": None, "fetchNamesrvAddrByAddressServer": "true"}, told).wait_ready()
        name = s.cluster + "-d"
        for server in (a, b):
            report.eventually("the broker finds %s by the domain" % server.label, lambda: lab.broker_ids(server.addr, name), FOUND,
                              needed=True)
        s.probe.admin("updateTopic", "-c", s.cluster, "-t", topic, "-n", a.addr)
        report.eventually("a topic has a route at both",
                          lambda: lab.topic_route(a.addr, topic) and lab.topic_route(b.addr, topic), 30, needed=True)
        text = s.probe.run("produce", url, topic, 16, "j")[1]
        report.check("a Java producer that knows the domain only sends", produced(text)[:2] == (16, 0), text)
        text = goclient.run(s, "produce", url, topic, 16, "g")
        report.check("a Go producer that knows the domain only sends", produced(text)[:2] == (16, 0), text)
        text = s.probe.run("consume", url, "jd_" + s.cluster, topic, 32, 60)[1]
        report.check("a Java consumer that knows the domain only gets all of it", received(text)[0] == 32, text)
        text = goclient.run(s, "consume", url, "gd_" + s.cluster, topic, 32, 60)
        report.check("and so does a Go consumer", received(text)[0] == 32, text)
        traffic = goclient.Traffic(s, s.probe, topic, "dd_" + s.cluster, 90, url)
        report.eventually("clients are connected to either node", lambda: clients(world, a) + clients(world, b), 30)
        take_out(report, world, a, b, name)
        traffic.finish(report)
    finally:
        if traffic:
            traffic.close()
        s.close()
        a.stop()
        b.stop()


def clients(world, server):
    base, token = rest_of(server)
    state = Command(world).json("drain", "--status", "--server", base, "--token-file", token)
    return state["connections"]["client"] if state else 0


def take_out(report, world, a, b, name):
    """Drains the first node, looks at what is left of it, and stops it."""
    command = Command(world)
    base, token = rest_of(a)
    status, text = command.run("drain", "--server", base, "--token-file", token)
    report.check("the first node is drained", status == 0 and "drained" in text, text)
    report.check("nobody but the broker is connected to it", clients(world, a) == 0)
    report.check("which is known there still", command.json("brokers", name, "--server", base)["items"][0]["members"], "")
    report.check("and at the node that stays", lab.broker_ids(b.addr, name))
    report.check("the node that is drained refuses connections", not reachable(a.addr))
    report.check("and it stops cleanly", a.stop())


def reachable(addr):
    try:
        rmqwire.call(addr, 106)
        return True
    except OSError:
        return False


def cli(report, world, version):
    """The same brokers behind the Java nameserver and Fingerpost: the command line shows the same of both."""
    if not world.args.fingerpost:
        report.say("left out: the command line is Fingerpost's")
        return
    s = Section(report, world, version, "cli", 3)
    java = world.new_server("java", s.ports[1] + 7, java=version)
    command, topic = Command(world), s.topic("cli")
    base, token = rest_of(world.server)
    try:
        s.broker("c", 0, s.ports[0], namesrv="%s;%s" % (world.namesrv, java.addr)).wait_ready()
        name = s.cluster + "-c"
        for addr in (world.namesrv, java.addr):
            report.eventually("the broker registers", lambda: lab.broker_ids(addr, name), 60, needed=True)
        for addr in (world.namesrv, java.addr):
            s.probe.admin("updateTopic", "-c", s.cluster, "-t", topic, "-n", addr)
            s.probe.admin("updateKvConfig", "-s", "ORDER_TOPIC_CONFIG", "-k", topic, "-v", name + ":4", "-n", addr)
        report.eventually("a topic has a route at both",
                          lambda: lab.topic_route(java.addr, topic) and lab.topic_route(world.namesrv, topic), 30, needed=True)
        for words in (("route", topic), ("topics",), ("topics", "show", topic), ("topics", "--cluster", s.cluster), ("brokers",),
                      ("clusters",), ("kv", "ORDER_TOPIC_CONFIG"), ("kv", "get", "ORDER_TOPIC_CONFIG", topic)):
            ours, theirs = (command.json(*words, "--remoting", addr) for addr in (world.namesrv, java.addr))
            report.check("%s shows the same of both" % " ".join(words[:2]), ours and ours == theirs, "%s\n%s" % (ours, theirs))
        rest = command.json("route", topic, "--server", base, "--token-file", token)
        report.check("and route the same over HTTP", rest and rest == command.json("route", topic, "--remoting", java.addr), rest)
        status, text = command.run("config", "get", "--remoting", java.addr)
        report.check("config get reads the Java one's settings", status == 0 and "rocketmqHome" in text, text)
        status, text = command.run("route", "no_such", "--remoting", java.addr)
        report.check("a topic without a route is exit status 3", status == 3, "%d %s" % (status, text))
        listed = s.probe.admin("topicList", "-n", java.addr)[1].split()
        shown = [item["topic"] for item in command.json("topics", "--remoting", java.addr)["items"]]
        report.check("topics are those of mqadmin topicList", shown and set(shown) == set(listed) & set(shown) and
                     set(shown) >= {w for w in listed if w.startswith(("%", "lab-", "cli_"))}, "%s\n%s" % (shown, listed))
        text = s.probe.admin("clusterList", "-n", java.addr)[1]
        members = [m["brokerAddr"] for i in command.json("brokers", "--remoting", java.addr)["items"] for m in i["members"]]
        report.check("brokers are those of mqadmin clusterList", members and all(m in text for m in members), "%s\n%s" % (members, text))
        status, text = command.run("diff", java.addr, world.namesrv)
        report.check("diff finds no difference", status == 0, text)
        s.probe.admin("deleteKvConfig", "-s", "ORDER_TOPIC_CONFIG", "-k", topic, "-n", java.addr)
        status, text = command.run("diff", java.addr, world.namesrv)
        report.check("and then the one that is made", status == 3 and topic in text, text)
    finally:
        s.close()
        java.stop()
