"""The nameserver goes and comes back in the middle of traffic: once cleanly, once by kill -9."""
import time

import goclient
import tools
from report import get_config, kv_value, lab

AWAY = 3            # seconds without a nameserver
REGISTERS = 40      # brokers of the lab register every 10 s, and look for a lost nameserver again after some seconds
LONGEST = 240       # seconds of traffic


def in_traffic(s):
    """Both clients send and consume all the while; nothing may be lost."""
    report, world = s.report, s.world
    s.admin("updateKvConfig", "-s", "keep_" + s.mark, "-k", "k", "-v", "kept;1=2")
    s.admin("updateNamesrvConfig", "-k", "productEnvName", "-v", "kept-" + s.mark)
    traffic = goclient.Traffic(s, lab.Probe(s.version), s.topic("many"), "traffic_" + s.mark, LONGEST)
    try:
        tools.with_clients(s, "traffic_" + s.mark)
        if not world.can_restart:
            report.say("no restart: the nameserver was not started here")
        for how, end in (("stops and starts again", world.stop), ("is killed and starts again", world.kill)) * world.can_restart:
            end()
            time.sleep(AWAY)
            world.start()
            check_back(s, "the nameserver " + how)
        traffic.finish(report)
    finally:
        traffic.close()


def check_back(s, what):
    many = s.topic("many")
    s.report.eventually("%s: all three brokers register again" % what,
                        lambda: set(s.ids("a")) == {"0", "1"} and set(s.ids("b")) == {"0"}, REGISTERS,
                        lambda: lab.cluster_info(s.namesrv).get("brokerAddrTable"))
    s.report.eventually("%s: the route is whole" % what, lambda: set(s.brokers_of(many)) == {"a", "b"}, 5,
                        lambda: s.route(many))
    got = kv_value(s, "keep_" + s.mark, "k")
    s.report.check("%s: the key-value store is as before" % what, got == (0, "kept;1=2"), got)
    got = get_config(s, "productEnvName")
    s.report.check("%s: a changed setting is kept" % what, got == "kept-" + s.mark, got)
