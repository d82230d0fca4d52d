"""Programs of different kinds and ages side by side: two versions in one cluster, and the 5.x proxy."""
from report import ROCKETMQ_JVM, Section, lab, produced, queue_lines, received, safely


def mixed(report, world, versions):
    """An old and a new broker in one cluster, an old and a new client on both."""
    old, new = versions
    s = Section(report, world, new, "mixed", 2)
    ports = s.ports
    other = lab.Probe(old, ROCKETMQ_JVM)
    try:
        s.broker("a", 0, ports[0], version=old)
        s.broker("b", 0, ports[1], version=new)
        for server in s.servers.values():
            server.wait_ready()
        report.eventually("both brokers register in one cluster", lambda: len(lab.cluster_info(s.namesrv).get(
            "clusterAddrTable", {}).get(s.cluster, [])) == 2, 45, needed=True)
        s.admin_says("updateTopic -c", ("updateTopic", "-c", s.cluster, "-t", s.topic("mix")), "success")
        report.eventually("its route names both", lambda: set(s.brokers_of(s.topic("mix"))) == {"a", "b"}, 15, needed=True)
        text = other.admin("topicRoute", "-t", s.topic("mix"), "-n", s.namesrv)[1]
        report.check("the old admin tool reads that route", s.cluster + "-a" in text and s.cluster + "-b" in text, text)
        for label, client, reader in (("old", other, s.probe), ("new", s.probe, other)):
            text = client.run("produce", s.namesrv, s.topic("mix"), 32, label)[1]
            report.check("the %s client sends to both brokers" % label, produced(text)[:2] == (32, 0) and
                         set(produced(text)[2]) == {"a", "b"}, text)
            want = 32 if label == "old" else 64
            text = reader.run("consume", s.namesrv, "mix_%s_%s" % (label, s.cluster), s.topic("mix"), want, 40)[1]
            report.check("the other client gets what is there", received(text)[0] == want, text)
    finally:
        other.close()
        s.close()


def proxy(report, world, version):
    """5.x: the proxy in cluster mode finds its brokers through the nameserver."""
    s = Section(report, world, version, "proxy", 3)
    ports = s.ports
    try:
        s.broker("a", 0, ports[0]).wait_ready()
        report.eventually("a broker registers", lambda: s.ids("a"), 45, needed=True)
        s.admin("updateTopic", "-c", s.cluster, "-t", s.topic("px"))
        report.eventually("a topic gets its route", lambda: s.route(s.topic("px")), 15, needed=True)
        server = lab.start_proxy(version, s.namesrv, s.cluster, ports[1], ports[2], world.root / ("proxy-" + s.mark))
        s.servers["proxy"] = server
        took = safely(lambda: server.wait_ready(120))
        report.need("the proxy starts", isinstance(took, float), took, took if isinstance(took, str) else "%.1f s" % took)
        through = "%s:%d" % (lab.LOOPBACK, ports[2])
        report.eventually("it has the topic's route", lambda: queue_lines(s.probe.run("queues", through, s.topic("px"))[1]), 30)
        text = s.probe.run("produce", through, s.topic("px"), 12, "p")[1]
        report.check("a producer sends through it", produced(text)[:2] == (12, 0), text)
        text = s.probe.run("consume", s.namesrv, "px_" + s.cluster, s.topic("px"), 12, 40)[1]
        report.check("and a consumer of the brokers gets them", received(text)[0] == 12, text)
    finally:
        s.close()
