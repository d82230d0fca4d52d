"""One cluster of one version from its first broker to its last: a master with a slave, and a second master.

A 4.x broker A registers compressed (compressedRegister=true), and every broker B speaks the ROCKETMQ header encoding, so
one run covers those too.
"""
import json
import re
import time

import goclient
import restart
import tools
from report import (PROMPT, ROCKETMQ_JVM, SLAVE_COPIES, Section, get_config, has_config, kv_value, lab, log_end, modern,
                    produced, queue_lines, received, rmqwire, setting, slave_has)


def cluster(report, world, version):
    s = Section(report, world, version, "cluster", 3)
    try:
        start_cluster(s)
        topics(s)
        messages(s)
        goclient.on_cluster(s)
        raw_requests(s)
        settings_and_permissions(s)
        tools.on_cluster(s)
        restart.in_traffic(s)
        deletions(s)
        yield       # a 5.x slave needs up to a minute to copy the topics: other scenarios fit in
        failures(s)
    finally:
        s.close()
    report.eventually("the cluster is gone from the nameserver after its last broker",
                      lambda: s.cluster not in lab.cluster_info(s.namesrv).get("clusterAddrTable", {}), PROMPT)


def start_cluster(s):
    report = s.report
    started = time.monotonic()
    compressed = None if lab.is_five(s.version) else {"compressedRegister": "true"}
    s.broker("a", 0, s.ports[0], compressed)
    s.broker("a", 1, s.ports[1], compressed)
    s.broker("b", 0, s.ports[2], None, ROCKETMQ_JVM)
    for server in s.servers.values():
        server.wait_ready()

    def registered():
        return (set(lab.broker_ids(s.namesrv, s.cluster + "-a")) == {"0", "1"}
                and set(lab.broker_ids(s.namesrv, s.cluster + "-b")) == {"0"})

    report.eventually("three brokers register", registered, 45, needed=True,
                      reason=lambda: lab.cluster_info(s.namesrv).get("brokerAddrTable"))
    print("     three brokers up after %.1f s, resident %s MiB" % (
        time.monotonic() - started, "+".join(str(x.rss_mib()) for x in s.servers.values())), flush=True)
    lines = [line.split() for line in s.admin("clusterList").splitlines()]
    seen = {(w[1], w[2], w[3]) for w in lines if len(w) > 4 and w[0] == s.cluster}
    wanted = {("%s-%s" % (s.cluster, n), str(i), server.addr) for (n, i), server in s.servers.items()}
    report.check("mqadmin clusterList shows the three with their addresses", seen == wanted, "%s, not %s" % (seen, wanted))

    def reached():      # the tool asks each broker for its version
        return len(re.findall(r"(?m)^%s\s+\S+\s+\d+\s+\S+\s+V" % re.escape(s.cluster), s.admin("clusterList"))) == 3

    report.eventually("mqadmin clusterList reaches each broker at its address", reached, 20,
                      reason=lambda: s.admin("clusterList"))
    s.admin_says("clusterList -m", ("clusterList", "-m"), re.escape(s.cluster))


def topics(s):
    report, a, b = s.report, s.cluster + "-a", s.cluster + "-b"
    s.admin_says("updateTopic -c", ("updateTopic", "-c", s.cluster, "-t", s.topic("many")), r"create topic to .* success")

    def both():
        found = s.brokers_of(s.topic("many"))
        return set(found) == {"a", "b"} and all(
            q and (q["readQueueNums"], q["writeQueueNums"], q["perm"]) == (8, 8, 6) for _, q in found.values())

    report.eventually("its route names both brokers, 8 queues and perm 6", both, 15, needed=True,
                      reason=lambda: s.route(s.topic("many")))
    found = s.brokers_of(s.topic("many"))
    report.check("its route lists master and slave of A", set(found["a"][0]) == {"0", "1"}, found)
    s.admin_says("updateTopic -b", ("updateTopic", "-b", s.servers[("b", 0)].addr, "-t", s.topic("one"), "-r", "3", "-w",
                                    "5", "-p", "6"), r"create topic to .* success")

    def only_b():
        got = s.brokers_of(s.topic("one"))
        return set(got) == {"b"} and (got["b"][1]["readQueueNums"], got["b"][1]["writeQueueNums"]) == (3, 5)

    report.eventually("its route names broker B alone, 3 read and 5 write queues", only_b, 15,
                      reason=lambda: s.route(s.topic("one")))
    s.admin_says("updateTopic -c -o true", ("updateTopic", "-c", s.cluster, "-t", s.topic("order"), "-r", "4", "-w", "4",
                                            "-o", "true"), "set cluster orderConf")

    def order_conf():
        answer = s.call(101, {"namespace": "ORDER_TOPIC_CONFIG", "key": s.topic("order")})
        return sorted(((answer["extFields"] or {}).get("value") or "").split(";"))

    report.check("the order configuration is kept under ORDER_TOPIC_CONFIG", order_conf() == ["%s:4" % a, "%s:4" % b],
                 order_conf())
    report.eventually("the order topic has a route on both", lambda: set(s.brokers_of(s.topic("order"))) == {"a", "b"}, 15)
    if has_config(s, "orderMessageEnable"):
        with setting(s, "orderMessageEnable", "true"):
            conf = (s.route(s.topic("order")) or {}).get("orderTopicConf") or ""
            report.check("with orderMessageEnable the route carries orderTopicConf",
                         sorted(conf.split(";")) == ["%s:4" % a, "%s:4" % b], conf)
    s.admin_says("updateTopic -b -o true", ("updateTopic", "-b", s.servers[("a", 0)].addr, "-t", s.topic("order2"), "-r",
                                            "2", "-w", "2", "-o", "true"), "set broker orderConf")
    # On B alone: a compressed registration has no topicSysFlag, and the lists of unit topics look at one broker only.
    on_b = ("updateTopic", "-b", s.servers[("b", 0)].addr, "-t")
    s.admin_says("updateTopic -u", (*on_b, s.topic("unit"), "-u", "true"), "success")
    s.admin_says("updateTopic -s", (*on_b, s.topic("sub"), "-s", "true"), "success")
    if lab.is_five(s.version) and modern(s):
        s.admin("updateStaticTopic", "-t", s.topic("static"), "-qn", "4", "-c", s.cluster)
        report.eventually("the route of a static topic says how its queues lie on the brokers", lambda: set(
            (s.route(s.topic("static")) or {}).get("topicQueueMappingByBroker", {})) == {a, b}, 15,
            lambda: s.route(s.topic("static")))
    s.admin_says("topicList", ("topicList",), *(r"(?m)^%s\s*$" % re.escape(s.topic(t))
                                                for t in ("many", "one", "order", "order2")))
    s.admin_says("topicList -c", ("topicList", "-c"), r"(?m)^%s\s+%s\b" % (re.escape(s.cluster), re.escape(s.topic("many"))))
    s.admin_says("topicRoute", ("topicRoute", "-t", s.topic("many")), '"brokerName":"%s"' % re.escape(a),
                 '"cluster":"%s"' % re.escape(s.cluster), '0"?:"%s"' % re.escape(s.servers[("a", 0)].addr))
    s.admin_says("topicRoute of an unknown topic", ("topicRoute", "-t", "no_such_topic_" + s.mark),
                 r"CODE: 17 ", "No topic route info in name server for the topic: no_such_topic_" + s.mark)
    s.admin_says("topicClusterList", ("topicClusterList", "-t", s.topic("many")), r"(?m)^%s\s*$" % re.escape(s.cluster))
    s.admin_says("topicStatus", ("topicStatus", "-t", s.topic("many")), re.escape(a), re.escape(b))
    s.admin_says("allocateMQ", ("allocateMQ", "-t", s.topic("many"), "-i", "10.0.0.1,10.0.0.2"), "10.0.0.1", re.escape(b))


def messages(s):
    report, b = s.report, s.cluster + "-b"
    text = s.probe.run("produce", s.namesrv, s.topic("many"), 64, "m")[1]
    sent, failed, by_broker = produced(text)
    report.check("a producer sends 64 messages, some to each broker", (sent, failed, set(by_broker)) == (64, 0, {"a", "b"}),
                 text)
    text = s.probe.run("consume", s.namesrv, "group_" + s.cluster, s.topic("many"), 64, 40)[1]
    report.check("a consumer gets all 64", received(text)[0] == 64, text)
    text = s.probe.run("ordered", s.namesrv, s.topic("order"), 40, "o")[1]
    report.check("40 messages sent by key to the order topic", produced(text)[:2] == (40, 0), text)
    text = s.probe.run("consume-ordered", s.namesrv, "ordered_" + s.cluster, s.topic("order"), 40, 60)[1]
    report.check("an orderly consumer gets them in order", received(text)[0] == 40 and received(text)[2] == 0, text)
    text = s.probe.run("produce", s.namesrv, s.topic("auto"), 8, "x")[1]
    report.check("a topic that does not exist is created by sending to it", produced(text)[:2] == (8, 0), text)
    report.eventually("and has a route then", lambda: s.route(s.topic("auto")), 15)
    retry = "%RETRY%group_" + s.cluster
    report.eventually("the consumer group's retry topic has a route", lambda: s.route(retry), 15)
    s.admin_says("sendMessage", ("sendMessage", "-t", s.topic("one"), "-p", "hello", "-b", b, "-i", "0"), "SEND_OK")
    s.admin_says("consumeMessage", ("consumeMessage", "-t", s.topic("one"), "-b", b, "-i", "0"), "hello")
    s.admin_says("consumerProgress", ("consumerProgress", "-g", "group_" + s.cluster), re.escape(s.topic("many")),
                 r"Diff Total:\s*0")
    s.admin_says("statsAll", ("statsAll",), re.escape(s.topic("many")), re.escape("group_" + s.cluster))
    s.admin_says("brokerStatus -b", ("brokerStatus", "-b", s.servers[("a", 0)].addr), "brokerVersionDesc", "putTps")
    s.admin_says("brokerStatus -c", ("brokerStatus", "-c", s.cluster),
                 *(re.escape(s.servers[key].addr) for key in s.servers))
    s.admin_says("getBrokerConfig -c", ("getBrokerConfig", "-c", s.cluster), "brokerClusterName", "brokerName")
    text = s.probe.run("queues", s.namesrv, "no_such_topic_" + s.mark)[1]
    report.check("a client is told that an unknown topic has no route", "lab-" not in text and "opic" in text, text)

    report.eventually("the slave replicates the master's log, so it was told the replication address",
                      lambda: 0 < log_end(s, ("a", 0)) == log_end(s, ("a", 1)), 45,
                      lambda: "master %s, slave %s" % (log_end(s, ("a", 0)), log_end(s, ("a", 1))))


def raw_requests(s):
    """What no stock tool asks for, or asks for only in some version."""
    report = s.report
    topic = s.topic("many")
    loose = s.call(105, {"topic": topic}, version=399)["body"]
    strict = s.call(105, {"topic": topic}, version=401)["body"]
    asked = s.call(105, {"topic": topic, "acceptStandardJsonOnly": "true"}, version=399)["body"]
    report.check("a client older than 4.9.4 gets bare integer keys", b"{0:\"" in loose, loose)
    report.check("a client of 4.9.4 or later gets quoted keys", b"{\"0\":\"" in strict and b"{0:" not in strict, strict)
    report.check("acceptStandardJsonOnly=true asks for quoted keys too", b"{\"0\":\"" in asked and b"{0:" not in asked, asked)
    binary = s.call(105, {"topic": topic}, kind=rmqwire.ROCKETMQ)
    report.check("a request with a ROCKETMQ header works", binary["code"] == 0 and binary["body"] == strict, binary)
    none = s.call(105, {"topic": "no_such_topic_" + s.mark})
    report.check("no route is code 17 with its remark", none["code"] == 17 and (none["remark"] or "").startswith(
        "No topic route info in name server for the topic: no_such_topic_" + s.mark), none)
    if modern(s):       # the Java nameserver of 4.x never answers an unknown code
        unknown = s.call(9999)
        report.check("an unknown code is answered with 3", unknown["code"] == 3 and
                     unknown["remark"] == " request type 9999 not supported", unknown)
    in_cluster = s.call(224, {"cluster": s.cluster})
    listed = rmqwire.loose_json(in_cluster["body"]).get("topicList", []) if in_cluster["body"] else []
    report.check("the topics of a cluster (224)", in_cluster["code"] == 0 and topic in listed, in_cluster)
    system = s.call(304)
    listed = rmqwire.loose_json(system["body"]).get("topicList", []) if system["body"] else []
    report.check("the system topics (304) have cluster and broker names", s.cluster in listed and
                 s.cluster + "-a" in listed, system)
    for code, want in ((311, {"unit"}), (312, {"sub"}), (313, {"sub"})):
        got = s.call(code)
        listed = rmqwire.loose_json(got["body"]).get("topicList", []) if got["body"] else []
        mine = {t.split("_")[0] for t in listed if t.endswith("_" + s.cluster)}
        report.check("the unit topics (%d)" % code, mine == want, got)
    changed = s.call(322, {"brokerName": s.cluster + "-a", "brokerAddr": s.servers[("a", 0)].addr,
                           "clusterName": s.cluster, "brokerId": "0"},
                     json.dumps({"counter": -1, "stateVersion": 0, "timestamp": 1}).encode())
    report.check("a data version other than the kept one is changed=true (322)", changed["code"] == 0 and
                 (changed["extFields"] or {}).get("changed") == "true" and changed["body"], changed)
    kept = changed["body"]
    same = s.call(322, {"brokerName": s.cluster + "-a", "brokerAddr": s.servers[("a", 0)].addr,
                        "clusterName": s.cluster, "brokerId": "0"}, kept)
    report.check("the kept one is changed=false", (same["extFields"] or {}).get("changed") == "false", same)
    if modern(s):
        member = s.call(901, {"clusterName": s.cluster, "brokerName": s.cluster + "-a"})
        addrs = rmqwire.loose_json(member["body"])["brokerMemberGroup"]["brokerAddrs"] if member["body"] else None
        report.check("the member group (901)", addrs == {str(i): s.servers[("a", i)].addr for i in (0, 1)}, member)


def settings_and_permissions(s):
    report, a, b = s.report, s.cluster + "-a", s.cluster + "-b"
    namespace, key = "ns_" + s.mark, "key"

    def value():
        return kv_value(s, namespace, key)

    s.admin_says("updateKvConfig", ("updateKvConfig", "-s", namespace, "-k", key, "-v", "a=b;c:1"), "success")
    report.check("the value is there (101)", value() == (0, "a=b;c:1"), value())
    listed = s.call(219, {"namespace": namespace})
    report.check("and in the namespace's list (219)", listed["body"] and rmqwire.loose_json(listed["body"]) ==
                 {"table": {key: "a=b;c:1"}}, listed)
    s.admin_says("deleteKvConfig", ("deleteKvConfig", "-s", namespace, "-k", key), "success")
    report.check("the value is gone (code 22)", value() == (22, None), value())
    topic = s.topic("orderconf")
    s.admin_says("updateOrderConf put", ("updateOrderConf", "-m", "put", "-t", topic, "-v", a + ":3"), "success")
    s.admin_says("updateOrderConf get", ("updateOrderConf", "-m", "get", "-t", topic), re.escape(a + ":3"))
    s.admin_says("updateOrderConf delete", ("updateOrderConf", "-m", "delete", "-t", topic), "success")

    many = s.topic("many")
    s.admin_says("wipeWritePerm", ("wipeWritePerm", "-b", b), r"wipe write perm of broker\[%s\] in name server\[.*OK, [1-9]" % re.escape(b))
    found = s.brokers_of(many)
    report.check("the route shows perm 4 for B and 6 for A", (found["a"][1]["perm"], found["b"][1]["perm"]) == (6, 4), found)
    text = s.probe.run("queues", s.namesrv, many)[1]
    report.check("a producer then sees A's queues alone", queue_lines(text) == [a], text)
    if s.version == "4.8.0":        # whose tool does not have it yet
        answer = s.call(327, {"brokerName": b})
        report.check("write permission is given back (327)", int((answer["extFields"] or {}).get("addTopicCount", 0)) > 0, answer)
    else:
        s.admin_says("addWritePerm", ("addWritePerm", "-b", b), r"OK, [1-9]")
    found = s.brokers_of(many)
    report.check("the route shows perm 6 for B again", found["b"][1]["perm"] == 6, found)
    text = s.probe.run("queues", s.namesrv, many)[1]
    report.check("a producer sees both again", queue_lines(text) == [a, b], text)
    s.admin_says("wipeWritePerm of an unknown broker", ("wipeWritePerm", "-b", "no-such-broker"), r"OK, 0")

    s.admin_says("getNamesrvConfig", ("getNamesrvConfig",), r"={3,}%s={3,}" % re.escape(s.namesrv), r"listenPort\s+=\s+\d+",
                 r"serverChannelMaxIdleTimeSeconds\s+=\s+\d+")
    with setting(s, "productEnvName", "lab" + s.mark) as done:
        report.check("mqadmin updateNamesrvConfig changes a setting", done, get_config(s, "productEnvName"))
    s.admin_says("updateNamesrvConfig refuses a path", ("updateNamesrvConfig", "-k", "kvConfigPath", "-v", "elsewhere"),
                 "Can not update config")
    report.check("and leaves it", get_config(s, "kvConfigPath") != "elsewhere", get_config(s, "kvConfigPath"))


def deletions(s):
    report = s.report
    for word in ("one", "order"):
        s.admin_says("deleteTopic " + word, ("deleteTopic", "-c", s.cluster, "-t", s.topic(word)),
                     "from cluster", "from NameServer")
        report.eventually("its route is gone", lambda w=word: s.route(s.topic(w)) is None, 5)
    text = s.admin("topicList")
    report.check("topicList has neither", s.topic("one") not in text.split() and s.topic("order") not in text.split(), text)
    late_topic(s)
    time.sleep(11)      # one more round of periodic registrations
    report.check("they stay away after the brokers' next registrations",
                 s.route(s.topic("one")) is None and s.route(s.topic("order")) is None)


def late_topic(s):
    """A topic for the slave alone to serve: what the tools did to the older ones shows in a slave's files."""
    s.admin("updateTopic", "-b", s.servers[("a", 0)].addr, "-t", s.topic("late"))
    s.report.eventually("one more topic has a route", lambda: "a" in s.brokers_of(s.topic("late")), 15)
    text = s.probe.run("produce", s.namesrv, s.topic("late"), 24, "l")[1]
    s.report.check("and takes 24 messages", produced(text)[:2] == (24, 0), text)


def failures(s):
    report, many = s.report, s.topic("many")
    report.eventually("the slave copies its master's topics, so it was told the master's address",
                      lambda: slave_has(s, ("a", 1), s.topic("late")), SLAVE_COPIES)
    stopped = s.servers[("b", 0)]
    stopped.terminate()
    report.eventually("a broker that stops cleanly is gone at once",
                      lambda: not lab.broker_ids(s.namesrv, s.cluster + "-b") and set(s.brokers_of(many)) == {"a"}, PROMPT + 3,
                      lambda: s.brokers_of(many))
    text = s.probe.run("produce", s.namesrv, many, 16, "n")[1]
    report.check("a producer sends to the one left", produced(text) == (16, 0, {"a": "16"}), text)
    stopped.stop()
    s.broker("b", 0, s.ports[2], None, ROCKETMQ_JVM).wait_ready()
    report.eventually("it comes back with its topics when it starts again",
                      lambda: s.brokers_of(many).get("b", [None, None])[1], 45, lambda: s.brokers_of(many))
    s.servers[("b", 0)].kill()
    report.eventually("a killed broker is gone by way of its closed connection",
                      lambda: not lab.broker_ids(s.namesrv, s.cluster + "-b") and set(s.brokers_of(many)) == {"a"}, PROMPT,
                      lambda: s.brokers_of(many))
    s.servers[("a", 0)].kill()
    slave = {"1": s.servers[("a", 1)].addr}
    report.eventually("a killed master leaves its slave in the route, under its own id",
                      lambda: s.brokers_of(many).get("a", [None])[0] == slave, PROMPT, lambda: s.brokers_of(many))
    text = s.probe.run("consume", s.namesrv, "late_" + s.cluster, s.topic("late"), 24, 40)[1]
    report.check("a new consumer reads from the slave", received(text)[0] == 24, text)
    s.servers[("a", 1)].terminate()
    report.eventually("without the slave the topic has no route", lambda: s.route(many) is None, PROMPT + 3,
                      lambda: s.route(many))
    listed = rmqwire.loose_json(s.call(206)["body"])["topicList"]
    left = [t for t in listed if s.cluster in t]
    report.check("and no topic of the cluster is left in the list", not left, left)
