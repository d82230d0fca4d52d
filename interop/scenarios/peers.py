"""Two Java nameservers and one Fingerpost with three real brokers: they agree, until one broker is cut off from one node."""
import json
import re
import socket
import threading
import urllib.error
import urllib.request

from report import Section, lab, rmqwire

INTERVAL = 10       # seconds between two comparisons of a peer
REGISTERS = 60      # until brokers that have just started are everywhere


class Api:
    """The REST API of a Fingerpost, found by its log."""

    def __init__(self, server):
        def where():
            return re.findall(r'"serving".*?"http":"([^"]+)"', server.output.read_text(errors="replace"))
        self.root = "http://" + lab.wait_until(where, 20)[0][-1]      # the log goes on from the process before
        self.token = (server.folder / "data" / "admin-token").read_text().strip()

    def text(self, path):
        try:
            with urllib.request.urlopen(self.root + path, timeout=10) as answer:
                return answer.read().decode("utf-8")
        except urllib.error.HTTPError as refusal:
            return refusal.read().decode("utf-8")

    def ask(self, path, method="GET"):
        request = urllib.request.Request(self.root + "/api/v1" + path, None, {"Authorization": "Bearer " + self.token}, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())

    def peers(self):
        return {p["peer"]: p for p in self.ask("/peers")["items"]}

    def agrees(self, brokers):
        """Every peer answers, knows that many brokers and differs in nothing, its routes included."""
        return all(p["state"] == "self" or p["state"] == "reachable" and p["brokerCount"] == brokers and p["differences"] == 0 and
                   p["pending"] == 0 and p.get("routesCheckedAt") for p in self.peers().values())

    def found(self, peer):
        return ["%(kind)s %(difference)s " % d + d.get("brokerName", d.get("key", d.get("topic", "")))
                for d in self.ask("/peers/%s/diff" % peer)["items"]]

    def metric(self, peer, kind):
        found = re.search(r'(?m)^rocketmq_namesrv_peer_differences\{kind="%s",peer="%s"\} (\S+)$' % (kind, re.escape(peer)),
                          self.text("/metrics"))
        return float(found.group(1)) if found else None


class Gate:
    """A place between a broker and a nameserver that can be shut."""

    def __init__(self, port, target):
        self.target, self.open, self.ends = target, True, []
        self.listener = socket.create_server((lab.LOOPBACK, port))
        self.addr = "%s:%d" % (lab.LOOPBACK, port)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                if not self.open:
                    raise OSError("shut")
                host, port = self.target.split(":")
                far = socket.create_connection((host, int(port)), 10)
            except OSError:
                near.close()
                continue
            self.ends += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._copy, args=(source, sink), daemon=True).start()

    @staticmethod
    def _copy(source, sink):
        try:
            while True:
                data = source.recv(65536)
                if not data:
                    break
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def shut(self):
        self.open = False
        for end in self.ends:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.ends = []

    def close(self):
        self.shut()
        self.listener.close()


def peers(report, world, version):
    if not world.args.fingerpost:
        report.say("left out: only Fingerpost compares itself with its peers")
        return
    world.stop()
    s = Section(report, world, version, "peers", 14)
    ports = {"java1": s.ports[-4], "java2": s.ports[-3], "ours": s.ports[-2]}
    addrs = {name: "%s:%d" % (lab.LOOPBACK, port) for name, port in ports.items()}
    servers, gate = {}, None
    try:
        for name, port in ports.items():
            java = None if name == "ours" else version
            settings = {} if java else {"peers": ";".join(addrs.values()), "peers.interval": "%ds" % INTERVAL}
            servers[name] = world.new_server(name, port, java=java, settings=settings)
        world.namesrv = addrs["ours"]
        gate = Gate(s.ports[-1], addrs["java2"])
        for letter, port in zip("abc", s.ports[0:9:3]):
            way = [addrs["java1"], gate.addr if letter == "c" else addrs["java2"], addrs["ours"]]
            s.broker(letter, 0, port, namesrv=";".join(way))
        for server in s.servers.values():
            server.wait_ready()
        compare(s, Api(servers["ours"]), addrs, gate)
    finally:
        s.close()
        if gate:
            gate.close()
        for server in servers.values():
            server.stop()


def compare(s, api, addrs, gate):
    report, lost = s.report, s.cluster + "-c"
    report.eventually("both Java nameservers know the three brokers and differ in nothing", lambda: api.agrees(3), REGISTERS + 2 * INTERVAL,
                      api.peers, needed=True)
    kinds = {p["peer"]: p["software"] for p in api.peers().values()}
    report.check("the peers are told apart", (kinds[addrs["java1"]], kinds[addrs["java2"]]) == ("java", "java"), kinds)
    report.check("a node finds itself in the list", api.peers()[addrs["ours"]]["state"] == "self", api.peers()[addrs["ours"]])
    report.check("ready once it has caught up", "[+] caught-up ok" in api.text("/readyz?verbose"), api.text("/readyz?verbose"))
    report.check("healthy while all agree", "[+] peers-agree ok" in api.text("/healthz?verbose"), api.text("/healthz?verbose"))

    gate.shut()
    missing = ["broker only-here " + lost]
    report.eventually("a broker cut off from one node shows in the API", lambda: api.found(addrs["java2"]) == missing, 2 * INTERVAL,
                      lambda: api.found(addrs["java2"]))
    report.check("and in the metric", api.metric(addrs["java2"], "broker") == 1, api.metric(addrs["java2"], "broker"))
    report.check("and not at the other node", api.found(addrs["java1"]) == [] and api.metric(addrs["java1"], "broker") == 0,
                 api.found(addrs["java1"]))
    report.check("and /healthz fails", "[-] peers-agree" in api.text("/healthz?verbose"), api.text("/healthz?verbose"))
    gate.open = True
    report.eventually("it is gone when the broker registers there again", lambda: api.agrees(3), REGISTERS, api.peers)
    report.check("from the metric too", api.metric(addrs["java2"], "broker") == 0, api.metric(addrs["java2"], "broker"))
    ops = [c["op"] for e in api.ask("/events?kind=peer&sort=revision&limit=1000")["items"] for c in e["changes"]
           if c["peer"] == addrs["java2"]]
    report.check("both were events", ops[-2:] == ["diverged", "converged"], ops)
    on_all(s, api, addrs)


def on_all(s, api, addrs):
    report, name = s.report, s.cluster + "-a"
    topic = s.topic("all")
    s.admin("updateTopic", "-c", s.cluster, "-t", topic)
    report.eventually("a topic is everywhere", lambda: all(lab.topic_route(a, topic) for a in addrs.values()), 20)

    def perms():
        return {q["perm"] for a in addrs.values() for q in (lab.topic_route(a, topic) or {"queueDatas": []})["queueDatas"]
                if q["brokerName"] == name}
    # Java makes every topic readable and writable, whatever the broker had registered; with mode=rw so do we.
    for method, mode, perm in (("DELETE", "", {4}), ("PUT", "&mode=rw", {6})):
        answer = api.ask("/brokers/%s/write-perm?fanout=peers%s" % (name, mode), method)
        good = [r["peer"] for r in answer["results"] if r["status"] == 200 and r["topicCount"] > 0]
        report.check("%s of a write permission on all nodes" % method, sorted(good) == sorted([addrs["java1"], addrs["java2"]]) and
                     perms() == perm, (answer, perms()))
    report.eventually("after which all agree", lambda: api.agrees(3), 3 * INTERVAL, lambda: (api.peers(), api.found(addrs["java1"])))
    kv = rmqwire.call(addrs["java1"], 100, {"namespace": "ORDER_TOPIC_CONFIG", "key": topic, "value": "x:1"})
    report.check("a key is put on one Java node alone", kv["code"] == 0, kv)
    report.eventually("which shows", lambda: api.found(addrs["java1"]) == ["kv only-there " + topic], 2 * INTERVAL,
                      lambda: api.found(addrs["java1"]))
    rmqwire.call(addrs["java1"], 102, {"namespace": "ORDER_TOPIC_CONFIG", "key": topic})
    report.eventually("until it is removed", lambda: api.found(addrs["java1"]) == [], 2 * INTERVAL, lambda: api.found(addrs["java1"]))
