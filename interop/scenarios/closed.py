"""Nodes that are not open to everybody: TLS in both modes, and requests that have to be signed. Fingerpost only."""
import json
import re
import subprocess

from report import Section, lab, produced, received

import rmqwire

OPERATOR = {"accessKey": "operator1", "secretKey": "0123456789"}
BROKER = {"accessKey": "brokers1", "secretKey": "abcdefghij"}
NO_PERMISSION = 16


def ours(report, world):
    """Whether the server under test is one that can be started with settings of ours."""
    if world.args.fingerpost:
        return True
    report.say("left out: only Fingerpost, started here, has these settings")
    return False


def refuses(addr, code, ext=None):
    """What a plain request of a stranger gets: a code, or the word for a closed connection."""
    try:
        return rmqwire.call(addr, code, ext)["code"]
    except (OSError, rmqwire.BadFrame):
        return "closed"


def tls(report, world, version):
    """One broker, one client and one admin tool with tls.enable, on a node that enforces it and on one that permits it."""
    if not ours(report, world):
        return
    pems = world.root / "pems"
    pems.mkdir()
    subprocess.run([str(world.goclient), "certificates", str(pems)], check=True, timeout=60)
    pair = {"tls.server.certPath": pems / "server.pem", "tls.server.keyPath": pems / "server.key"}
    known = {"tls.server.trustCertPath": pems / "ca.pem", "tls.server.authClient": "true", "tls.server.need.client.auth": "require"}
    nodes = []
    s = None

    def node(word, settings):
        port = lab.free_ports(1, world.port_base + 50 + 10 * len(nodes))[0]
        nodes.append(world.new_server(word, port, settings=dict({
            "listenPort": port, "bindAddress": lab.LOOPBACK, "kvConfigPath": "kvConfig.json", "tls.server.mode": word}, **settings)))
        return nodes[-1].addr

    def secure(name):
        """How a Java program speaks TLS, shows who it is and checks who answers."""
        return ["-Dtls.enable=true", "-Dtls.test.mode.enable=false", "-Dtls.client.authServer=true",
                "-Dtls.client.trustCertPath=%s" % (pems / "ca.pem"), "-Dtls.client.certPath=%s" % (pems / (name + ".pem")),
                "-Dtls.client.keyPath=%s" % (pems / (name + ".key")), "-Dtls.server.mode=permissive",
                "-Dtls.server.certPath=%s" % (pems / (name + ".pem")), "-Dtls.server.keyPath=%s" % (pems / (name + ".key"))]

    probe = lab.Probe(version, secure("client"))
    stranger = lab.Probe(version, ["-Dtls.enable=true", "-Dtls.test.mode.enable=true"])
    try:
        enforcing, permissive = node("enforcing", dict(pair, **known)), node("permissive", pair)
        s = Section(report, world, version, "tls", 1)
        s.broker("a", 0, s.ports[0], jvm=secure("broker"), namesrv="%s;%s" % (enforcing, permissive)).wait_ready()
        name = s.cluster + "-a"
        report.eventually("a broker with TLS registers at the node that permits it", lambda: lab.broker_ids(permissive, name), 45,
                          needed=True)
        for word, addr in (("enforces", enforcing), ("permits", permissive)):
            text = probe.admin("clusterList", "-n", addr)[1]
            report.check("mqadmin with TLS sees the broker at the node that %s it" % word, name in text or s.cluster in text, text)
        report.check("a plain request is refused by the node that enforces TLS", refuses(enforcing, 106) == "closed")
        report.check("and answered by the other", refuses(permissive, 106) == 0)
        text = stranger.admin("clusterList", "-n", enforcing)[1]
        report.check("TLS without a certificate is refused where clients have to show one", s.cluster not in text, text)
        topic = s.topic("tls")
        probe.admin("updateTopic", "-c", s.cluster, "-t", topic, "-n", permissive)
        report.eventually("a topic gets its route", lambda: lab.topic_route(permissive, topic), 15, needed=True)
        for word, addr in (("enforces", enforcing), ("permits", permissive)):
            text = probe.run("produce", addr, topic, 12, word)[1]
            report.check("a producer with TLS sends through the node that %s it" % word, produced(text)[:2] == (12, 0), text)
        text = probe.run("consume", enforcing, "tls_" + s.cluster, topic, 24, 60)[1]
        report.check("a consumer with TLS gets all 24", received(text)[0] == 24, text)
        text = s.probe.run("produce", permissive, topic, 4, "plain")[1]
        report.check("a client without TLS sends through the node that permits it", produced(text)[:2] == (4, 0), text)
        s.servers[("a", 0)].stop()
        report.eventually("the stopped broker is gone", lambda: not lab.broker_ids(permissive, name), 30)
    finally:
        probe.close()
        stranger.close()
        if s:
            s.close()
        for server in nodes:
            server.stop()


def acl(report, world, version):
    """remotingProtection=on: a broker and mqadmin that sign are served, who does not sign changes nothing, clients stay open."""
    if not ours(report, world):
        return
    keys = world.root / "plain_acl.yml"
    keys.write_text("accounts:\n- accessKey: %(accessKey)s\n  secretKey: %(secretKey)s\n  admin: true\n" % OPERATOR
                    + "- accessKey: %(accessKey)s\n  secretKey: %(secretKey)s\n  namesrvClasses: broker, client\n" % BROKER)
    keys.chmod(0o600)
    port = lab.free_ports(1, world.port_base + 50)[0]
    server, s = world.new_server("protected", port, settings={
        "listenPort": port, "bindAddress": lab.LOOPBACK, "kvConfigPath": "kvConfig.json", "remotingProtection": "on",
        "remoting.access.keysFile": keys}), None
    operator = lab.Probe(version, conf={"tools.yml": "accessKey: %(accessKey)s\nsecretKey: %(secretKey)s\n" % OPERATOR})
    try:
        s = Section(report, world, version, "acl", 1)
        addr, name = server.addr, s.cluster + "-a"
        forged = {"clusterName": s.cluster, "brokerName": name, "brokerAddr": "10.0.0.1:10911", "brokerId": "0"}
        report.check("an unsigned registration is refused", refuses(addr, 103, forged) == NO_PERMISSION)
        # A broker keeps the user that it signs as, also where it asks nobody to sign.
        signing = {"innerClientAuthenticationCredentials": json.dumps(BROKER), "authenticationMetadataProvider":
                   "org.apache.rocketmq.auth.authentication.provider.LocalAuthenticationMetadataProvider"}
        s.broker("a", 0, s.ports[0], signing, namesrv=addr).wait_ready()
        report.eventually("a broker that signs registers", lambda: lab.broker_ids(addr, name), 45, needed=True)
        topic = s.topic("acl")
        # The broker itself has no access control: who may make topics there is another matter.
        operator.admin("updateTopic", "-c", s.cluster, "-t", topic, "-n", addr)
        report.eventually("its new topic gets a route", lambda: lab.topic_route(addr, topic), 30, needed=True)
        text = s.probe.run("produce", addr, topic, 8, "x")[1]
        report.check("a client that does not sign finds the route and sends", produced(text)[:2] == (8, 0), text)
        for label, words in (("wipeWritePerm", ("wipeWritePerm", "-b", name)), ("topicList", ("topicList",)),
                             ("getNamesrvConfig", ("getNamesrvConfig",)), ("updateKvConfig", ("updateKvConfig", "-s", "ns", "-k", "k", "-v", "v"))):
            text = s.probe.admin(*words, "-n", addr)[1]
            report.check("mqadmin %s without an ACL file is refused" % label, re.search(r"\b16\b", text), text)
        report.check("nothing was wiped", perms(addr, topic) == {6}, perms(addr, topic))
        for label, code in (("broker", 104), ("admin", 216), ("config", 319), ("no", 4711)):
            report.check("an unsigned request of %s class is refused" % label, refuses(addr, code, dict(forged, topic=topic)) == NO_PERMISSION)
        report.check("the broker and the topic are still there", lab.broker_ids(addr, name) and lab.topic_route(addr, topic))
        text = operator.admin("topicList", "-n", addr)[1]
        report.check("mqadmin topicList with an ACL file is answered", topic in text, text)
        text = operator.admin("wipeWritePerm", "-b", name, "-n", addr)[1]
        report.check("and wipeWritePerm with one too", perms(addr, topic) == {4}, text)
        operator.admin("addWritePerm", "-b", name, "-n", addr)
        report.check("and addWritePerm", perms(addr, topic) == {6}, perms(addr, topic))
        text = operator.admin("getNamesrvConfig", "-n", addr)[1]
        report.check("the settings are shown to who signs, secrets left out",
                     "remotingProtection" in text and OPERATOR["secretKey"] not in text and BROKER["secretKey"] not in text, text)
        s.servers[("a", 0)].stop()
        report.eventually("the broker signs when it leaves, too", lambda: not lab.broker_ids(addr, name), 30)
    finally:
        operator.close()
        if s:
            s.close()
        server.stop()


def perms(addr, topic):
    return {q["perm"] for q in lab.topic_route(addr, topic)["queueDatas"]}
