"""5.x: a slave that stands in for its killed master (supportActingMaster, enableSlaveActingMaster)."""
from report import (PROMPT, SLAVE_COPIES, Section, get_config, lab, log_end, produced, received, setting, slave_has)


def acting(report, world, version):
    s = Section(report, world, version, "acting", 2)
    ports = s.ports
    enabled = {"enableSlaveActingMaster": "true", "brokerNotActiveTimeoutMillis": 5000}
    # By default a broker sends one-way 322 for a heartbeat and takes a route for its group; the master here uses 904, 901.
    modern_master = dict(enabled, compatibleWithOldNameSrv="false")
    try:
        with setting(s, "supportActingMaster", "true") as one, setting(s, "notifyMinBrokerIdChanged", "true") as two:
            report.need("supportActingMaster and notifyMinBrokerIdChanged can be switched on", one and two,
                        "%s %s" % (get_config(s, "supportActingMaster"), get_config(s, "notifyMinBrokerIdChanged")))
            s.broker("c", 0, ports[0], modern_master).wait_ready()
            s.broker("c", 1, ports[1], enabled).wait_ready()
            report.eventually("master and slave register", lambda: set(s.ids("c")) == {"0", "1"}, 60,
                              needed=True, reason=lambda: s.ids("c"))
            flagged = lab.cluster_info(s.namesrv)["brokerAddrTable"][s.cluster + "-c"].get("enableActingMaster")
            report.check("the cluster's data says enableActingMaster", flagged is True, flagged)
            s.admin("updateTopic", "-c", s.cluster, "-t", s.topic("act"))
            report.eventually("a topic gets its route", lambda: "c" in s.brokers_of(s.topic("act")), 15, needed=True)
            text = s.probe.run("produce", s.namesrv, s.topic("act"), 20, "a")[1]
            report.check("20 messages are sent", produced(text)[:2] == (20, 0), text)
            report.eventually("and replicated", lambda: 0 < log_end(s, ("c", 0)) <= log_end(s, ("c", 1)), 45)
            yield       # up to a minute until the slave copies the topic: other scenarios fit in
            report.eventually("and the slave knows the topic", lambda: slave_has(s, ("c", 1), s.topic("act")), SLAVE_COPIES)
            s.servers[("c", 0)].kill()

            def acts():
                addrs, queues = s.brokers_of(s.topic("act")).get("c", [None, None])
                return addrs == {"0": s.servers[("c", 1)].addr} and queues and queues["perm"] == 4

            report.eventually("the slave of a killed master is shown as id 0, read only", acts, PROMPT,
                              lambda: s.brokers_of(s.topic("act")))
            group = s.ids("c")
            report.check("while the cluster's data keeps its real id", group == {"1": s.servers[("c", 1)].addr}, group)
            text = s.probe.run("consume", s.namesrv, "act_" + s.cluster, s.topic("act"), 20, 40)[1]
            report.check("a new consumer gets all 20 from it", received(text)[0] == 20, text)
            s.broker("c", 0, ports[0], modern_master).wait_ready()

            def back():
                addrs, queues = s.brokers_of(s.topic("act")).get("c", [None, None])
                return addrs == {str(i): s.servers[("c", i)].addr for i in (0, 1)} and queues and queues["perm"] == 6

            report.eventually("the master takes over again when it is back", back, 60,
                              lambda: s.brokers_of(s.topic("act")))
            text = s.probe.run("produce", s.namesrv, s.topic("act"), 4, "b")[1]
            report.check("and takes messages", produced(text)[:2] == (4, 0), text)
    finally:
        s.close()
