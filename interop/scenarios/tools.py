"""Every mqadmin command that reaches a nameserver, but for those that cluster.py asks at their own place.

What is asked of the nameserver is little: where a cluster's brokers, a broker or a topic are. So a command whose feature
the lab's brokers lack (ACL, authentication, controller) has to bring that broker's refusal, which shows that it was found.
Left out: what never asks a nameserver (addBroker, removeBroker, *ControllerConfig, getControllerMetaData,
cleanBrokerMetadata, dumpCompactionLog, exportMetadataInRocksDB); electMaster and getSyncStateSet are in switch.py.
"""
import json
import pathlib
import re
import socket
import subprocess
import time

from report import lab

FIVE, FOUR = lab.is_five, (lambda version: not lab.is_five(version))


def since(*least):
    return lambda version: tuple(map(int, version.split("."))) >= least


def always(_):
    return True


def commands(s):
    """(applies(version), the words, patterns that its output must have), in an order in which they work."""
    c, a, b = s.cluster, s.cluster + "-a", s.cluster + "-b"
    addr, topic, group, other = s.servers[("b", 0)].addr, s.topic("tools"), "tg_" + s.mark, "to_" + s.mark
    folder = str(s.world.root)
    refused = r"Caused by: \S*MQ(Broker|Client)Exception: CODE: \d+"     # by the broker
    # The tool of 5.5.0 cannot read a broker's list of topics with a static one in it: that it got there is enough.
    exported = r"export .* success|not support unquoted name"
    no_route = r"CODE: 17\b.*(RMQ_SYS_TRACE_TOPIC|no_such)"
    yield from (
        (always, ("updateTopic", "-c", c, "-t", topic, "-r", "4", "-w", "4"), ["create topic to .* success"]),
        (always, ("queryMsgByKey", "-t", topic, "-k", "the-key"), []),
        (always, ("updateSubGroup", "-c", c, "-g", group), ["create subscription group to .* success"]),
        (always, ("updateSubGroup", "-b", addr, "-g", other), ["create subscription group to .* success"]),
        (always, ("consumeMessage", "-t", topic, "-c", "2"), ["Consume ok"]),
        (always, ("printMsg", "-t", topic, "-d", "true"), ["brokerName=%s" % re.escape(b)]),
        (always, ("printMsgByQueue", "-t", topic, "-a", b, "-i", "0", "-p", "true", "-d", "true"), ["MSGID"]),
        (always, ("queryCq", "-t", topic, "-q", "0", "-i", "0", "-c", "1", "-b", addr), ["max: "]),
        (always, ("queryMsgByOffset", "-t", topic, "-b", b, "-i", "0", "-o", "0"), [r"Topic:\s+" + re.escape(topic)]),
        (always, ("sendMsgStatus", "-b", b, "-s", "16", "-c", "2"), ["SEND_OK"]),
        (always, ("checkMsgSendRT", "-t", topic, "-a", "3", "-s", "16"), [re.escape(s.cluster) + r"-\w\s+\d+\s+true"]),
        (always, ("topicStatus", "-t", topic), [re.escape(a), re.escape(b)]),
        (FIVE, ("topicStatus", "-t", topic, "-c", c), [re.escape(b)]),
        (FIVE, ("clusterList", "-c", c), [re.escape(b)]),
        (always, ("statsAll", "-t", topic), [re.escape(topic)]),
        (always, ("brokerConsumeStats", "-b", addr), ["#Topic"]),
        (always, ("consumerProgress",), ["#Group"]),
        (always, ("cloneGroupOffset", "-s", "tool_seed_" + s.mark, "-d", group, "-t", topic, "-o", "true"),
         ["clone group offset success"]),
        (always, ("resetOffsetByTime", "-g", group, "-t", topic, "-s", "now"), ["#brokerName", re.escape(b)]),
        (since(4, 9, 0), ("skipAccumulatedMessage", "-g", group, "-t", topic, "-f", "true"), ["#brokerName", re.escape(b)]),
        (always, ("updateTopicPerm", "-c", c, "-t", topic, "-p", "4"), ["from 6 to 4 in %s success" % re.escape(addr)]),
        (always, ("updateTopicPerm", "-b", addr, "-t", topic, "-p", "6"), ["from 4 to 6 in %s success" % re.escape(addr)]),
        (always, ("updateBrokerConfig", "-c", c, "-k", "flushIntervalCommitLog", "-v", "600"),
         ["update broker config success, %s" % re.escape(addr)]),
        (since(4, 9, 0), ("getConsumerConfig", "-g", group), [re.escape("%s:%s" % (c, b))]),
        (always, ("cleanExpiredCQ", "-c", c), ["success"]), (always, ("cleanExpiredCQ",), ["success"]),
        (since(4, 9, 0), ("cleanUnusedTopic", "-c", c), ["success"]), (since(4, 9, 0), ("cleanUnusedTopic",), ["success"]),
        (since(4, 9, 0), ("deleteExpiredCommitLog", "-c", c), ["success"]),
        (since(4, 9, 0), ("exportMetadata", "-c", c, "-f", folder), [exported]),
        (since(4, 9, 0), ("exportConfigs", "-c", c, "-f", folder), [exported]),
        (since(4, 9, 0), ("exportMetrics", "-c", c, "-f", folder), [exported]),
        (always, ("topicRoute", "-t", "no_such"), [no_route]),
        (always, ("QueryMsgTraceById" if s.version == "4.8.0" else "queryMsgTraceById", "-i", "0"), [no_route]))
    yield from acl_commands(c, refused)
    yield from five_commands(s, refused, group)
    yield from (
        (always, ("deleteSubGroup", "-c", c, "-g", other), [r"delete subscription group \[%s\] .* success" % re.escape(other)]),
        (always, ("deleteTopic", "-c", c, "-t", topic), ["from cluster", "from NameServer"]))


def acl_commands(c, refused):
    """The lab's brokers have no ACL: they refuse to change it. (They do not answer at all who asks to read it.)"""
    old = (lambda version: version == "4.8.0")
    yield from (
        (FOUR, ("updateAclConfig", "-c", c, "-a", "someaccess", "-s", "somesecret"), [refused]),
        (old, ("deleteAccessConfig", "-c", c, "-a", "someaccess"), [refused]),
        (lambda v: FOUR(v) and not old(v), ("deleteAclConfig", "-c", c, "-a", "someaccess"), [refused]),
        (FOUR, ("updateGlobalWhiteAddr", "-c", c, "-g", "10.0.0.1"), [refused]))


def five_commands(s, refused, group):
    c, b, topic, static = s.cluster, s.cluster + "-b", s.topic("tools"), s.topic("ts")
    addr, root = s.servers[("b", 0)].addr, s.world.root
    (root / "topics.json").write_text(json.dumps([{
        "topicName": s.topic("tl"), "readQueueNums": 2, "writeQueueNums": 2, "perm": 6, "topicSysFlag": 0, "order": False,
        "topicFilterType": "SINGLE_TAG", "attributes": {}}]))
    (root / "groups.json").write_text(json.dumps([{"groupName": "gl_" + s.mark, "consumeEnable": True}]))
    who, acl = ("-u", "someone"), ("-s", "User:someone")
    rule = ("-r", "Topic:T1", "-a", "Pub", "-i", "127.0.0.1", "-d", "Allow")
    to_b = re.escape(addr)
    for words, patterns in (
            (("haStatus", "-c", c), [r"#MasterAddr\s+" + to_b]),
            (("getBrokerEpoch", "-b", b), ["only for controllerMode"]),
            (("setConsumeMode", "-c", c, "-t", topic, "-g", group, "-m", "PULL", "-q", "0"), ["to %s success" % to_b]),
            (("updateTopicList", "-c", c, "-f", str(root / "topics.json")), ["topic config to %s success" % to_b]),
            (("updateSubGroupList", "-c", c, "-f", str(root / "groups.json")), ["group config to %s success" % to_b]),
            (("createUser", "-c", c, *who, "-p", "secret1", "-t", "Normal"), [refused]), (("getUser", "-c", c, *who), [refused]),
            (("listUser", "-c", c), [refused]), (("updateUser", "-c", c, *who, "-p", "secret2"), [refused]),
            (("deleteUser", "-c", c, *who), [refused]), (("createAcl", "-c", c, *acl, *rule), [refused]),
            (("getAcl", "-c", c, *acl), [refused]), (("listAcl", "-c", c), [refused]),
            (("updateAcl", "-c", c, *acl, *rule), [refused]), (("deleteAcl", "-c", c, *acl), [refused]),
            (("getColdDataFlowCtrInfo", "-c", c), ["Master: " + to_b]),
            (("updateColdDataFlowCtrGroupConfig", "-c", c, "-g", group, "-v", "1000"), ["success, " + to_b]),
            (("removeColdDataFlowCtrGroupConfig", "-c", c, "-g", group), ["success, " + to_b]),
            (("setCommitLogReadAheadMode", "-c", c, "-m", "1"), ["Master: " + to_b]),
            (("checkRocksdbCqWriteProgress", "-c", c, "-t", topic), [re.escape(b) + " check doing"]),
            (("exportPopRecord", "-c", c), ["brokerAddr=" + to_b]), (("rocksDBConfigToJson", "-c", c), ["export done"]),
            (("updateStaticTopic", "-t", static, "-qn", "2", "-c", c), ["new mapping data"]),
            (("updateStaticTopic", "-t", static, "-qn", "4", "-c", c), ["new mapping data"]),
            (("remappingStaticTopic", "-t", static, "-c", c), ["mapping data"])):
        yield FIVE, words, patterns
    for words, pattern in ((("getBrokerLiteInfo", "-c", c), to_b), (("getParentTopicInfo", "-p", topic), re.escape(b)),
                           (("getLiteTopicInfo", "-p", topic, "-l", "x"), re.escape(b)),
                           (("getLiteClientInfo", "-p", topic, "-g", group, "-c", "x"), re.escape(b)),
                           (("triggerLiteDispatch", "-p", topic, "-g", group), re.escape(b)),
                           (("switchTimerEngine", "-c", c, "-e", "F"), to_b)):
        yield since(5, 4, 0), words, [pattern]


def on_cluster(s):
    topic = s.topic("tools")
    s.probe.close()     # sendMessage and consumeMessage work once in a JVM, and it has had them; it starts again by itself
    for applies, words, patterns in commands(s):
        if not applies(s.version):
            continue
        s.admin_says(" ".join(words[:1] + tuple(w for w in words[1:] if w in ("-c", "-b", "-t"))), words, *patterns)
        if words[0] == "updateTopic":
            s.report.eventually("the tools' topic has a route over both brokers",
                                lambda: set(s.brokers_of(topic)) == {"a", "b"}, 15, needed=True)
            messages(s, topic)
    if s.world.can_restart:
        endless(s)


def messages(s, topic):
    """Some messages, found again by each of the ways to name one."""
    s.probe.run("produce", s.namesrv, topic, 24, "t")
    s.probe.run("consume", s.namesrv, "tool_seed_" + s.mark, topic, 24, 40)
    text = s.admin("sendMessage", "-t", topic, "-p", "hello", "-k", "the-key", "-c", "tag")
    found = re.search(r"SEND_OK\s+([0-9A-F]{32,})", text)
    s.report.check("mqadmin sendMessage to a topic", found, text)
    unique = found.group(1) if found else "0"
    text = s.admin_says("queryMsgByUniqueKey", ("queryMsgByUniqueKey", "-t", topic, "-i", unique), r"Keys:\s+\[?the-key")
    forget_body(text)
    words = ("queryMsgById", "-i", offset_id(text)) + (("-t", topic) if lab.is_five(s.version) else ())
    forget_body(s.admin_says("queryMsgById", words, r"Keys:\s+\[?the-key"))
    s.report.eventually("mqadmin queryMsgByKey finds it", lambda: unique in s.admin("queryMsgByKey", "-t", topic, "-k", "the-key"),
                        10)


def offset_id(text):
    """The id that says where a message lies, from what mqadmin tells of it. 5.x does not name it: it is made of these."""
    found = re.search(r"OffsetID:\s+([0-9A-F]{32,})", text)
    if found:
        return found.group(1)
    host = re.search(r"Store Host:\s+([\d.]+):(\d+)", text)
    offset = re.search(r"CommitLog Offset:\s+(\d+)", text)
    if not host or not offset:
        return "0"
    return socket.inet_aton(host.group(1)).hex().upper() + "%08X%016X" % (int(host.group(2)), int(offset.group(1)))


def forget_body(text):
    """mqadmin writes bodies below a fixed folder that it does not clean."""
    found = re.search(r"Message Body Path:\s+(/tmp/rocketmq/msgbodys/[0-9A-F]+)\s", text)
    if found:
        pathlib.Path(found.group(1)).unlink(missing_ok=True)


def with_clients(s, group):
    """What is asked about clients that run: a producer, and a consumer of this group, on the topic many."""
    many = s.topic("many")
    s.report.eventually("mqadmin consumerConnection sees the consumer", lambda: re.search(
        r"@probe\d+\s+127\.0\.0\.1:\d+", s.admin("consumerConnection", "-g", group)), 15)
    s.report.eventually("mqadmin consumerConnection sees the Go client's consumer", lambda: re.search(
        r"@\w+\s+127\.0\.0\.1:\d+", s.admin("consumerConnection", "-g", "go" + group)), 15)
    producers = ("producerConnection", "-g", "probe_producer", "-t", many)
    s.report.eventually("mqadmin producerConnection sees the producer", lambda: re.search(r"@probe\d+", s.admin(*producers)), 40,
                        lambda: s.admin(*producers))
    s.admin_says("consumerStatus", ("consumerStatus", "-g", group), r"@probe\d+")
    s.admin_says("consumerStatus -s", ("consumerStatus", "-g", group, "-s", "true"), r"@probe\d+")
    if since(4, 9, 0)(s.version):
        s.admin_says("producer", ("producer", "-b", s.servers[("b", 0)].addr), r"producer group \(")


def endless(s):
    """Commands without an end of their own, each in a JVM that is stopped once it has said enough."""
    for words, pattern in ((("clusterRT", "-c", s.cluster, "-a", "2", "-s", "16", "-i", "1"), re.escape(s.cluster) + r"-\w\s"),
                           (("startMonitoring",), None)):
        log = s.world.root / ("%s-%s.log" % (words[0], s.mark))
        folder = s.world.root / ("tool-" + words[0])
        lab.make_home(folder, s.version)
        command = lab.java_command(s.version, "org.apache.rocketmq.tools.command.MQAdminStartup", [*words, "-n", s.namesrv],
                                   ["-Xms64m", "-Xmx256m"])
        with open(log, "wb") as out:
            tool = subprocess.Popen(command, cwd=str(folder), stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        try:
            if pattern:
                s.report.eventually("mqadmin " + words[0], lambda: re.search(pattern, log.read_text(errors="replace")), 40,
                                    lambda: log.read_text(errors="replace")[-600:])
            else:
                time.sleep(4)
                text = log.read_text(errors="replace")
                s.report.check("mqadmin %s runs" % words[0], tool.poll() is None and "xception" not in text, text[-600:])
        finally:
            tool.kill()
            tool.wait()
