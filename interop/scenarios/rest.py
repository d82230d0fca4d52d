"""A real broker that this nameserver never hears of, advertised to it over REST, in front of unmodified clients."""
import json
import re
import threading
import urllib.error
import urllib.request

import goclient
from report import Section, lab, produced, queue_lines, received

TTL = 5000          # milliseconds; the least that a server grants
GONE = 20           # seconds: the time to live, a search every 5 s, and a busy machine


class Sidecar:
    """What stands beside the broker and speaks for it."""

    def __init__(self, server, broker, statement):
        line = lab.wait_until(lambda: re.search(r'"serving".*?"http":"([^"]+)"', server.output.read_text(errors="replace")), 15)[0]
        self.base = "http://%s/api/v1" % line.group(1)
        self.place = "/brokers/%s/members/0" % broker
        self.token = (server.folder / "data" / "admin-token").read_text().strip()
        self.statement, self.over, self.thread = statement, threading.Event(), None

    def ask(self, method, path, body=None):
        """(status, answer)"""
        headers = {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"}
        request = urllib.request.Request(self.base + path, json.dumps(body).encode() if body else None, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, json.loads(answer.read() or "{}")
        except urllib.error.HTTPError as refusal:
            return refusal.code, json.loads(refusal.read() or "{}")

    def register(self):
        return self.ask("PUT", self.place, self.statement)

    def beat(self):
        return self.ask("POST", self.place + "/heartbeat")

    def live(self):
        """Heartbeats at the server's pace, until still()."""
        self.over.clear()

        def beats():
            pause = 0.0
            while not self.over.wait(pause):
                pause = self.beat()[1].get("nextHeartbeatMillis", 1000) / 1000.0

        self.thread = threading.Thread(target=beats, daemon=True)
        self.thread.start()

    def still(self):
        self.over.set()
        if self.thread:
            self.thread.join()


def rest(report, world, version):
    if not world.args.fingerpost:
        report.say("left out: only Fingerpost has REST")
        return
    s = Section(report, world, version, "rest", 2)
    elsewhere = world.new_server("elsewhere", s.ports[1] + 7)
    topic, sidecar = s.topic("ad"), None
    try:
        s.broker("r", 0, s.ports[0], namesrv=elsewhere.addr).wait_ready()
        name = s.cluster + "-r"
        report.eventually("the broker registers with the nameserver that it knows", lambda: lab.broker_ids(elsewhere.addr, name),
                          60, needed=True)
        s.probe.admin("updateTopic", "-c", s.cluster, "-t", topic, "-n", elsewhere.addr)
        report.eventually("and has a topic", lambda: lab.topic_route(elsewhere.addr, topic), 20, needed=True)
        report.check("this nameserver knows of neither", not s.route(topic) and not s.ids("r"), s.route(topic))
        queues = lab.topic_route(elsewhere.addr, topic)["queueDatas"][0]
        sidecar = Sidecar(world.server, name, {
            "clusterName": s.cluster, "brokerAddr": s.servers[("r", 0)].addr, "heartbeatTimeoutMillis": TTL,
            "topicConfigTable": {topic: {key: queues[key] for key in ("readQueueNums", "writeQueueNums", "perm", "topicSysFlag")}}})
        status, answer = sidecar.register()
        report.need("it is advertised over REST", status == 201 and answer["nextHeartbeatMillis"] < TTL, "%s %s" % (status, answer))
        sidecar.live()
        found = s.route(topic)
        report.check("the route is the one that the broker's own nameserver gives", found == lab.topic_route(elsewhere.addr, topic), found)
        text = goclient.run(s, "queues", s.namesrv, topic)
        report.check("the Go client sees its queues", queue_lines(text) == [name], text)
        text = s.probe.run("produce", s.namesrv, topic, 20, "a")[1]
        report.check("a Java producer sends 20 messages through it", produced(text)[:2] == (20, 0), text)
        text = goclient.run(s, "consume", s.namesrv, "goad_" + s.cluster, topic, 20, 60)
        report.check("a Go consumer gets them", received(text)[0] == 20, text)
        sidecar.still()
        report.eventually("without heartbeats it leaves the routes", lambda: not s.route(topic), GONE, lambda: s.route(topic))
        status, answer = sidecar.beat()
        report.check("a late heartbeat is told that nobody is there", (status, answer.get("code")) == (404, "member-not-found"), answer)
        status, answer = sidecar.register()
        report.check("it registers again", status == 201, "%s %s" % (status, answer))
        sidecar.live()
        text = s.probe.run("produce", s.namesrv, topic, 10, "b")[1]
        report.check("the Java producer sends 10 more", produced(text)[:2] == (10, 0), text)
        text = goclient.run(s, "consume", s.namesrv, "goad2_" + s.cluster, topic, 30, 60)
        report.check("a new Go consumer gets all 30", received(text)[0] == 30, text)
        sidecar.still()
        status, answer = sidecar.ask("DELETE", sidecar.place)
        report.check("unregistered, it is gone at once", status == 204 and not s.route(topic), "%s %s" % (status, answer))
    finally:
        if sidecar:
            sidecar.still()
        s.close()
        elsewhere.stop()
