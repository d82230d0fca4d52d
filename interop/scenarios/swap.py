"""A rolling replacement, there and back: two Java nameservers become ours one after the other, and Java ones again.

Same ports, same folders: the properties file and the key-value file go from one kind to the other. One broker of each
version and both clients know both nameservers and go on all the while.
"""
import goclient
from report import Section, get_config, kv_value, lab, rmqwire

JAVA = "5.5.0"
LONGEST = 400       # seconds of traffic
REGISTERS = 40


def swap(report, world, versions):
    s = Section(report, world, JAVA, "swap", len(versions) + 2)
    world.stop()
    ports = {"n1": s.ports[-2], "n2": s.ports[-1]}
    both = ";".join("%s:%d" % (lab.LOOPBACK, port) for port in ports.values())
    servers, traffic = {}, None
    try:
        for folder, port in ports.items():
            servers[folder] = world.new_server(folder, port, java=JAVA)
        world.namesrv = servers["n1"].addr
        for letter, port, version in zip("abcd", s.ports, versions):
            s.broker(letter, 0, port, version=version, namesrv=both)
        for server in s.servers.values():
            server.wait_ready()
        for folder in servers:
            registered(s, world, servers[folder], versions, "Java nameserver %s" % folder, needed=True)
        prepare(s, both)
        traffic = goclient.Traffic(s, lab.Probe(versions[-1]), s.topic("sw"), group(s), LONGEST, both)
        report.eventually("both clients send and consume", lambda: flows(s), 40, needed=True)
        for kind, jars, kept in (("the one under test", None, "before"), ("Java", JAVA, "after")):
            for folder, port in ports.items():
                servers[folder].stop()
                servers[folder] = world.new_server(folder, port, java=jars)
                same_files(s, world, servers[folder], versions, "%s is %s" % (folder, kind), kept)
            if kept == "before":
                s.probe.admin("updateKvConfig", "-s", "swap_" + s.mark, "-k", "later", "-v", "after=1;2", "-n", both)
                s.probe.admin("updateNamesrvConfig", "-k", "productEnvName", "-v", "after-" + s.mark, "-n", both)
        traffic.finish(report)
    finally:
        if traffic:
            traffic.close()
        s.close()
        for server in servers.values():
            server.stop()


def group(s):
    return "swap_" + s.cluster


def flows(s):
    """Clients that begin while a nameserver is still empty find no route, which is as it must be: so they begin before."""
    brokers = [server.addr for server in s.servers.values()]

    def answer(addr, code, **ext):
        got = rmqwire.call(addr, code, ext)
        return got["extFields"] or {} if got["code"] == 0 else None

    sent = sum(int((answer(addr, 30, topic=s.topic("sw"), queueId=queue) or {}).get("offset", 0))     # a queue's end
               for addr in brokers for queue in range(4))
    return sent > 60 and all(answer(brokers[0], 203, consumerGroup=g) is not None for g in (group(s), "go" + group(s)))


def registered(s, world, server, versions, what, needed=False):
    world.namesrv = server.addr
    names = {"%s-%s" % (s.cluster, letter) for letter, _ in zip("abcd", versions)}
    s.report.eventually("%s: the brokers %s register" % (what, " ".join(versions)), lambda: set(
        lab.cluster_info(server.addr).get("clusterAddrTable", {}).get(s.cluster, [])) == names, REGISTERS,
        lambda: lab.cluster_info(server.addr).get("clusterAddrTable"), needed)


def prepare(s, both):
    topic = s.topic("sw")
    s.probe.admin("updateTopic", "-c", s.cluster, "-t", topic, "-r", "4", "-w", "4", "-n", both)
    s.probe.admin("updateTopic", "-c", s.cluster, "-t", s.topic("order"), "-o", "true", "-n", both)
    s.probe.admin("updateKvConfig", "-s", "swap_" + s.mark, "-k", "k", "-v", "a=b;c:1", "-n", both)
    s.probe.admin("updateNamesrvConfig", "-k", "productEnvName", "-v", "before-" + s.mark, "-n", both)
    s.probe.admin("updateNamesrvConfig", "-k", "orderMessageEnable", "-v", "true", "-n", both)
    s.report.eventually("a topic has a route over all brokers", lambda: len(s.brokers_of(topic)) == len(s.servers), 15,
                        needed=True)


def same_files(s, world, server, versions, what, kept):
    registered(s, world, server, versions, what)
    report = s.report
    report.eventually("%s: the route is whole" % what, lambda: len(s.brokers_of(s.topic("sw"))) == len(versions), 15,
                      lambda: s.route(s.topic("sw")))
    got = kv_value(s, "swap_" + s.mark, "k")
    report.check("%s: it has the key-value file's entries" % what, got == (0, "a=b;c:1"), got)
    if kept == "after":
        got = kv_value(s, "swap_" + s.mark, "later")
        report.check("%s: also one written by the other kind" % what, got == (0, "after=1;2"), got)
    got = get_config(s, "productEnvName")
    report.check("%s: it has the properties file's settings" % what, got == "%s-%s" % (kept, s.mark), got)
    conf = rmqwire.call(server.addr, 101, {"namespace": "ORDER_TOPIC_CONFIG", "key": s.topic("order")})
    whole = sorted(((conf["extFields"] or {}).get("value") or "").split(";"))
    report.check("%s: it has the order configuration" % what, len(whole) == len(versions), conf)
    conf = (s.route(s.topic("order")) or {}).get("orderTopicConf") or ""
    report.check("%s: and puts it into the route" % what, sorted(conf.split(";")) == whole, conf)
