"""Master and slave change places. With 5.x a controller decides it while both run; with 4.x they start again."""
import re

from report import PROMPT, SLAVE_COPIES, Section, lab, log_end, produced, received, safely, slave_has


def switch(report, world, version):
    if lab.is_five(version):
        return by_controller(report, world, version)
    return by_hand(report, world, version)


def addresses(s, **ids):
    """Whether the group has these addresses under these ids, i0=... and i1=..., and no others."""
    return s.ids("s") == {key[1:]: s.servers[("s", server)].addr for key, server in ids.items()}


def topic_with_messages(s, count):
    """A topic on the group, with messages in it."""
    topic = s.topic("sw")
    s.admin("updateTopic", "-c", s.cluster, "-t", topic)
    s.report.eventually("a topic gets its route", lambda: "s" in s.brokers_of(topic), 15, needed=True)
    text = s.probe.run("produce", s.namesrv, topic, count, "before")[1]
    s.report.check("%d messages are sent" % count, produced(text)[:2] == (count, 0), text)
    return topic


def consumed(s, topic, count, name):
    text = s.probe.run("consume", s.namesrv, "sw%d_%s" % (count, s.cluster), topic, count, 60)[1]
    s.report.check(name, received(text)[0] == count, text)


def by_hand(report, world, version):
    """The master is killed, the slave starts again as master from its own files, the old master comes back as slave."""
    s = Section(report, world, version, "switch", 2)
    first, second = s.ports
    try:
        s.broker("s", 0, first, store="first").wait_ready()
        s.broker("s", 1, second, store="second").wait_ready()
        report.eventually("master and slave register", lambda: addresses(s, i0=0, i1=1), 45, s_ids(s), needed=True)
        topic = topic_with_messages(s, 20)
        report.eventually("the slave has copied the log", lambda: 0 < log_end(s, ("s", 0)) == log_end(s, ("s", 1)), 45)
        s.servers[("s", 0)].kill()
        report.eventually("the killed master is gone, the slave keeps its id", lambda: addresses(s, i1=1), PROMPT, s_ids(s))
        s.servers.pop(("s", 1)).stop()
        report.eventually("the stopped slave is gone too", lambda: not s.ids("s"), PROMPT, s_ids(s))
        s.broker("s", 0, second, store="second").wait_ready()
        report.eventually("the slave's address is master now", lambda: addresses(s, i0=0), 45, s_ids(s), needed=True)
        # A 4.x slave has its master's topics only where its minute's copying came by: the topic is made anew.
        s.admin("updateTopic", "-c", s.cluster, "-t", topic)
        report.eventually("with the topic", lambda: "s" in s.brokers_of(topic), 45, lambda: s.brokers_of(topic), needed=True)
        s.broker("s", 1, first, store="first").wait_ready()
        report.eventually("the old master's address is slave now", lambda: addresses(s, i0=0, i1=1), 45, s_ids(s))
        found = s.brokers_of(topic).get("s", [None])[0]
        report.check("the route has both under their new ids", found == s.ids("s"), found)
        text = s.probe.run("produce", s.namesrv, topic, 10, "after")[1]
        report.check("10 more messages are sent", produced(text)[:2] == (10, 0), text)
        consumed(s, topic, 30, "a new consumer gets all 30")
    finally:
        s.close()


def by_controller(report, world, version):
    """Both run in controller mode; the controller makes the slave master, first on request, then because the master died."""
    s = Section(report, world, version, "switch", 3)
    controlled = {"enableControllerMode": "true", "controllerAddr": "%s:%d" % (lab.LOOPBACK, s.ports[2]),
                  "controllerHeartBeatTimeoutMills": 5000, "brokerRole": "SLAVE", "syncBrokerMetadataPeriod": 2000,
                  "syncControllerMetadataPeriod": 2000, "sendHeartbeatTimeoutMillis": 1000}
    try:
        controller = lab.start_controller(version, s.ports[2], world.root / ("controller-" + s.mark))
        s.servers["controller"] = controller
        took = safely(lambda: controller.wait_ready(60))
        report.need("the controller starts", isinstance(took, float), took)
        s.broker("s", 0, s.ports[0], dict(controlled, brokerId=-1), store="first").wait_ready()
        report.eventually("the first broker becomes master", lambda: addresses(s, i0=0), 60, s_ids(s), needed=True)
        s.broker("s", 1, s.ports[1], dict(controlled, brokerId=-1), store="second").wait_ready()
        report.eventually("the second becomes its slave", lambda: addresses(s, i0=0, i2=1), 60, s_ids(s), needed=True)
        topic = topic_with_messages(s, 20)
        report.eventually("the slave has copied the log", lambda: 0 < log_end(s, ("s", 0)) == log_end(s, ("s", 1)), 45)
        yield       # up to a minute until the slave copies the topic: other scenarios fit in
        report.eventually("and knows the topic", lambda: slave_has(s, ("s", 1), topic), SLAVE_COPIES)
        report.eventually("and is in the set that may be elected", lambda: len(re.findall(
            r"InSyncReplica:", s.admin("getSyncStateSet", "-a", controller.addr, "-b", s.cluster + "-s"))) == 2, 45,
            lambda: s.admin("getSyncStateSet", "-a", controller.addr, "-b", s.cluster + "-s"))
        text = s.admin("electMaster", "-a", controller.addr, "-bn", s.cluster + "-s", "-b", "2", "-c", s.cluster)
        report.eventually("the slave takes the master's id while both run", lambda: s.ids("s").get("0") ==
                          s.servers[("s", 1)].addr, 30, lambda: "%s; %s" % (s.ids("s"), text))
        report.eventually("the old master has a slave's id", lambda: addresses(s, i0=1, i1=0), 30, s_ids(s))
        report.eventually("the route says the same", lambda: s.brokers_of(topic).get("s", [None])[0] == s.ids("s"), 15,
                          lambda: s.brokers_of(topic))
        text = s.probe.run("produce", s.namesrv, topic, 10, "after")[1]
        report.check("10 more messages are sent", produced(text)[:2] == (10, 0), text)
        report.eventually("the new slave has copied the log", lambda: 0 < log_end(s, ("s", 1)) == log_end(s, ("s", 0)), 45)
        s.servers[("s", 1)].kill()
        report.eventually("when the master dies the other is elected and takes its id", lambda: addresses(s, i0=0), 60, s_ids(s))
        report.eventually("and it writes", lambda: (s.brokers_of(topic).get("s", [None, None])[1] or {}).get("perm") == 6, 15,
                          lambda: s.brokers_of(topic))
        consumed(s, topic, 30, "a new consumer gets all 30")
    finally:
        s.close()


def s_ids(s):
    return lambda: s.ids("s")
