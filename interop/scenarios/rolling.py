"""Three Java nameservers become ours one after the other and Java ones again, under a producer, each step proved by comparison."""
import goclient
from peers import Api
from report import Section, lab, rmqwire

RATE = 200          # messages a second
LONGEST = 500       # seconds of traffic
AGREE = 90          # seconds for a replaced node to hear of its brokers and to be compared with all others, routes included


def rolling(report, world, version):
    if not world.args.fingerpost:
        report.say("left out: it is a way from and to the Java nameserver")
        return
    world.stop()
    s = Section(report, world, version, "rolling", 9)
    ports = dict(zip(("n1", "n2", "n3"), s.ports[-3:]))
    everyone = ";".join("%s:%d" % (lab.LOOPBACK, port) for port in ports.values())
    # The Java nameserver reads over what it does not know, so the file is the same for both.
    settings = {"peers": everyone, "peers.interval": "10s"}
    servers, stop, sender = {}, world.root / ("stop-" + s.mark), lab.Probe(version)
    try:
        for folder, port in ports.items():
            servers[folder] = world.new_server(folder, port, java=version, settings=settings)
        world.namesrv = servers["n1"].addr
        for letter, port in zip("ab", s.ports[0:6:3]):
            s.broker(letter, 0, port, namesrv=everyone)
        for server in s.servers.values():
            server.wait_ready()
        for folder, server in servers.items():
            knows(s, server, "Java nameserver %s" % folder, needed=True)
        topic = s.topic("roll")
        s.probe.admin("updateTopic", "-c", s.cluster, "-t", topic, "-n", everyone)
        report.eventually("a topic has a route over both brokers", lambda: set(s.brokers_of(topic)) == {"a", "b"}, 20, needed=True)
        sender.begin("traffic", everyone, "roll_" + s.mark, topic, LONGEST, stop, RATE)
        report.eventually("the producer sends", lambda: stored(s, topic) > 2 * RATE, 60, lambda: stored(s, topic), needed=True)
        for folder, port in ports.items():
            servers[folder].stop()
            servers[folder] = world.new_server(folder, port)
            knows(s, servers[folder], "%s is Fingerpost" % folder)
            agree(s, Api(servers[folder]), folder)
        for folder, port in ports.items():
            servers[folder].stop()
            servers[folder] = world.new_server(folder, port, java=version)
            knows(s, servers[folder], "%s is Java again" % folder)
            if folder != "n3":
                agree(s, Api(servers["n3"]), "n3")
        stop.touch()
        text = sender.finish(LONGEST + 90)[1]
        sent, failed, got = goclient.trafficked(text)
        report.check("a producer at %d messages a second lost none over all six replacements" % RATE,
                     sent > 0 and failed == 0 and got == sent, text[-600:], "%d messages" % sent)
    finally:
        stop.touch()
        sender.close()
        s.close()
        for server in servers.values():
            server.stop()


def knows(s, server, what, needed=False):
    names = {"%s-%s" % (s.cluster, letter) for letter in "ab"}
    s.report.eventually("%s: both brokers register" % what, lambda: set(
        lab.cluster_info(server.addr).get("clusterAddrTable", {}).get(s.cluster, [])) == names, 60,
        lambda: lab.cluster_info(server.addr).get("clusterAddrTable"), needed)


def agree(s, api, folder):
    s.report.eventually("%s agrees with the other two" % folder, lambda: api.agrees(2), AGREE, api.peers)
    s.report.check("%s is ready" % folder, "[+] caught-up ok" in api.text("/readyz?verbose"), api.text("/readyz?verbose"))


def stored(s, topic):
    """How many messages the brokers have of the topic."""
    def end(addr, queue):
        got = rmqwire.call(addr, 30, {"topic": topic, "queueId": queue})
        return int((got["extFields"] or {}).get("offset", 0)) if got["code"] == 0 else 0
    return sum(end(server.addr, queue) for server in s.servers.values() for queue in range(8))
