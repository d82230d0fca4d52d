"""The part of capture.py that needs no RocketMQ program: requests made by rmqwire.py, and bytes that are no requests."""
import json
import socket
import zlib

import lab
import rmqwire

NEW = "5.5.0"
CLUSTER, A = "DefaultCluster", "broker-a"


def register_body(topics=("TopicF",), counter=1):
    table = {t: {"attributes": {}, "order": False, "perm": 6, "readQueueNums": 2, "topicFilterType": "SINGLE_TAG",
                 "topicName": t, "topicSysFlag": 0, "writeQueueNums": 2} for t in topics}
    wrapper = {"dataVersion": {"counter": counter, "stateVersion": 0, "timestamp": 1700000000000}, "mappingDataVersion": {
        "counter": 0, "stateVersion": 0, "timestamp": 1700000000000}, "topicConfigTable": table,
        "topicQueueMappingDetailMap": {}, "topicQueueMappingInfoMap": {}}
    return json.dumps({"filterServerList": [], "topicConfigSerializeWrapper": wrapper}, separators=(",", ":")).encode()


def crc(body):
    """Java's UtilAll.crc32: CRC-32 with the top bit cleared."""
    return zlib.crc32(body) & 0x7FFFFFFF


def raw(bench_of, server, port_of):
    """Requests made by rmqwire.py, no RocketMQ program: what tools never send, and mistakes. Their language is OTHER."""
    name = "raw" if server == NEW else "raw-server-" + server
    with bench_of(name, server) as bench:
        bench.broker(server, A, 0, tapped=False)
        probe = lab.Probe(server)
        probe.admin("updateTopic", "-c", CLUSTER, "-t", "TopicA", "-n", bench.aside.addr)
        probe.close()
        a = "127.0.0.1:%d" % port_of[A, 0]
        one = rmqwire.Client(bench.tap.addr)

        def ask(text, code, ext=None, body=b"", client=None, **options):
            bench.label(text)
            try:
                return (client or one).call(code, ext, body, **options)
            except OSError as e:
                print("%s: %s: %r" % (name, text, e), flush=True)

        ask("route, header version 399 (V4_9_3): bare integer keys", 105, {"topic": "TopicA"}, version=399)
        ask("route, header version 401 (V4_9_4): quoted keys", 105, {"topic": "TopicA"}, version=401)
        ask("route, header version 399 and acceptStandardJsonOnly=true", 105,
            {"topic": "TopicA", "acceptStandardJsonOnly": "true"}, version=399)
        ask("route, header version 0", 105, {"topic": "TopicA"}, version=0)
        ask("route, ROCKETMQ header", 105, {"topic": "TopicA"}, kind=rmqwire.ROCKETMQ)
        ask("route of a topic that is not there", 105, {"topic": "NoSuchTopic"})
        ask("route of a topic that is not there, ROCKETMQ header", 105, {"topic": "NoSuchTopic"}, kind=rmqwire.ROCKETMQ)
        ask("route without a topic in the header", 105, {})
        ask("route without extFields", 105)
        ask("cluster data, header version 399", 106, version=399)
        ask("cluster data, header version 513", 106, version=513)
        for code, what in ((206, "all topics"), (304, "system topics"), (311, "unit topics"), (312, "unit subscription topics"),
                           (313, "unit subscription, not unit, topics"), (319, "configuration")):
            ask(what, code)
        ask("topics of a cluster", 224, {"cluster": CLUSTER})
        ask("topics of a cluster that is not there", 224, {"cluster": "NoSuchCluster"})
        ask("topics of a cluster, none named", 224)
        ask("list of a namespace that is not there", 219, {"namespace": "NoSuchSpace"})
        ask("value that is not there", 101, {"namespace": "NoSuchSpace", "key": "k"})
        ask("value put", 100, {"namespace": "Space", "key": "k", "value": "v:1;2=\u00e9"})
        ask("value got", 101, {"namespace": "Space", "key": "k"})
        ask("value got, ROCKETMQ header", 101, {"namespace": "Space", "key": "k"}, kind=rmqwire.ROCKETMQ)
        ask("list of a namespace", 219, {"namespace": "Space"})
        ask("value put without a value", 100, {"namespace": "Space", "key": "k2"})
        ask("value put without a key", 100, {"namespace": "Space", "value": "v"})
        ask("value deleted", 102, {"namespace": "Space", "key": "k"})
        ask("list of a namespace emptied", 219, {"namespace": "Space"})
        ask("member group", 901, {"clusterName": CLUSTER, "brokerName": A})
        ask("member group that is not there", 901, {"clusterName": CLUSTER, "brokerName": "no-such-broker"})
        where = {"brokerName": A, "brokerAddr": a, "clusterName": CLUSTER, "brokerId": "0"}
        old = json.dumps({"counter": 0, "stateVersion": 0, "timestamp": 1}).encode()
        got = ask("data version, another than the kept one", 322, where, old)
        ask("data version, the kept one", 322, where, got["body"])
        ask("data version of a broker that is not there", 322, dict(where, brokerAddr="127.0.0.1:1"), old)
        ask("heartbeat", 904, {"brokerName": A, "brokerAddr": a, "clusterName": CLUSTER, "brokerId": "0"})
        ask("heartbeat of a broker that is not there", 904, {"brokerName": "x", "brokerAddr": "127.0.0.1:1", "clusterName": "x"})
        ask("heartbeat without its fields", 904, {})
        ask("code that is not known", 9999)
        ask("code that is not known, ROCKETMQ header", 9999, kind=rmqwire.ROCKETMQ)
        ask("one way: no answer", 105, {"topic": "TopicA"}, flag=rmqwire.ONEWAY_FLAG)
        ask("topic registered for a broker that is there", 217, {"topic": "TopicR"}, json.dumps({"queueDatas": [
            {"brokerName": A, "perm": 6, "readQueueNums": 3, "topicSysFlag": 0, "writeQueueNums": 3}]}).encode())
        ask("its route", 105, {"topic": "TopicR"})
        ask("topic registered for a broker that is not there", 217, {"topic": "TopicX"}, json.dumps({"queueDatas": [
            {"brokerName": "no-such-broker", "perm": 6, "readQueueNums": 3, "topicSysFlag": 0, "writeQueueNums": 3}]}).encode())
        ask("its route", 105, {"topic": "TopicX"})
        ask("topic deleted, no cluster named", 216, {"topic": "TopicR"})
        ask("topic deleted that is not there", 216, {"topic": "NoSuchTopic", "clusterName": CLUSTER})
        ask("write permission wiped", 205, {"brokerName": A})
        ask("write permission added", 327, {"brokerName": A})
        ask("write permission wiped without a broker", 205, {})
        ask("configuration changed, two settings", 318, body=b"productEnvName=lab\norderMessageEnable=true\n")
        ask("configuration changed, one on the black list", 318, body=b"productEnvName=lab2\nrocketmqHome=x\n")
        ask("configuration changed, no body", 318)
        ask("configuration afterwards", 319)
        ask("route while orderMessageEnable=true, no order configuration", 105, {"topic": "TopicA"})
        ask("order configuration put", 100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "TopicA", "value": A + ":8"})
        ask("route while orderMessageEnable=true", 105, {"topic": "TopicA"})

        fake = rmqwire.Client(bench.tap.addr)       # a broker of our own
        body = register_body()
        head = {"brokerName": "fake", "brokerAddr": "127.0.0.1:29941", "clusterName": "FakeCluster",
                "haServerAddr": "127.0.0.1:29942", "brokerId": "0", "compressed": "false", "bodyCrc32": str(crc(body))}
        ask("register with a single topic, broker not known yet", 103, head, body, fake)
        body = register_body(("TopicF", "TopicG"))
        head["bodyCrc32"] = str(crc(body))
        ask("register with a wrong checksum", 103, dict(head, bodyCrc32="1"), body, fake)
        ask("register with a checksum of 0", 103, dict(head, bodyCrc32="0"), body, fake)
        ask("register, 4.x header fields", 103, head, body, fake, version=407)
        ask("register, 5.x header fields", 103, dict(head, heartbeatTimeoutMillis="9000", enableActingMaster="false"), body,
            fake, version=513)
        ask("register a slave", 103, dict(head, brokerAddr="127.0.0.1:29951", brokerId="1"), body, fake, version=513)
        ask("register without a body", 103, dict(head, brokerName="fake2", brokerAddr="127.0.0.1:29943", bodyCrc32="0"), b"",
            fake, version=513)
        ask("register with a body that is no JSON", 103, dict(head, bodyCrc32=str(crc(b"{{{"))), b"{{{", fake, version=513)
        ask("register without a broker name", 103, {k: v for k, v in head.items() if k != "brokerName"}, body, fake)
        ask("register with a zone", 103, dict(head, __ZONE_NAME="z1"), body, fake, version=513)
        ask("route asked for another zone", 105, {"topic": "TopicF", "__ZONE_MODE": "true", "__ZONE_NAME": "z2"}, version=513)
        ask("route asked for the broker's zone", 105, {"topic": "TopicF", "__ZONE_MODE": "true", "__ZONE_NAME": "z1"}, version=513)
        ask("unregister", 104, {k: head[k] for k in ("brokerName", "brokerAddr", "clusterName", "brokerId")}, client=fake)
        ask("unregister a broker that is not there", 104, {"brokerName": "x", "brokerAddr": "127.0.0.1:1",
                                                           "clusterName": "x", "brokerId": "0"}, client=fake)
        fake.close()
        one.close()
        for text, data in (("frame of 16 MiB and more: the connection closes", b"\x01\x00\x00\x01" + bytes(64)),
                           ("header encoding 9", b"\x00\x00\x00\x06\x09\x00\x00\x02{}"),
                           ("header that is no JSON", b"\x00\x00\x00\x06\x00\x00\x00\x02]["),
                           ("header length past the frame's end", b"\x00\x00\x00\x06\x00\x00\x00\x63{}")):
            bench.lines.append({"scenario": "%s: %s" % (name, text), "conn": 0, "dir": "req", "undecodable": "on purpose",
                                "rawHex": data.hex(), "then": hostile(bench.namesrv.addr, data)})


def hostile(addr, data):
    with socket.create_connection(rmqwire.address(addr), 5) as s:
        s.sendall(data)
        s.settimeout(2)
        try:
            got = s.recv(4096)
        except socket.timeout:
            return "no answer within 2 s, the connection stays open"
        except ConnectionResetError:
            return "the connection is reset"
        return "the connection is closed" if not got else "an answer: " + got.hex()
