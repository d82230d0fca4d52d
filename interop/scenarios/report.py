"""What a scenario stands on: its report, its servers, and the questions every scenario asks."""
import contextlib
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lab"))
import lab          # noqa: E402
import rmqwire      # noqa: E402

PROMPT = 5.0        # what must follow a broker's end by way of its connection, in seconds; time-outs take 10 to 120
SLAVE_COPIES = 100  # a 5.x slave copies its master's topics once a minute
ROCKETMQ_JVM = ["-Drocketmq.serialize.type=ROCKETMQ"]


class Stop(Exception):
    """The rest of a scenario makes no sense."""


class Report:
    """What one try of one scenario found. Prints each check as it comes."""

    def __init__(self, prefix):
        self.prefix, self.passed, self.failed = prefix, 0, 0

    def say(self, words):
        print("     %s: %s" % (self.prefix, words), flush=True)

    def check(self, name, good, reason="", note=""):
        if good:
            self.passed += 1
            print("PASS %s: %s%s" % (self.prefix, name, " (%s)" % note if note else ""), flush=True)
        else:
            self.failed += 1
            print("FAIL %s: %s: %s" % (self.prefix, name, essence(str(reason)) or "no"), flush=True)
        return bool(good)

    def need(self, name, good, reason="", note=""):
        if not self.check(name, good, reason, note):
            raise Stop(name)

    def eventually(self, name, check, timeout, reason=None, needed=False):
        """check gives a true value once all is well, at the latest after timeout seconds."""
        value, took = lab.wait_until(check, timeout)
        why = "not within %.0f s; last: %s" % (timeout, safely(reason) if reason else value)
        (self.need if needed else self.check)(name, value, why, "%.1f s" % took)
        return value


def essence(reason):
    """A reason in one line: of a Java exception its beginning and its causes."""
    lines = [line[:700] for line in reason.splitlines() if not re.match(r"\s+(at |\.\.\. \d+ more)", line)]
    return " ".join(" ".join(lines).split())[:1200]


def safely(call):
    try:
        return call()
    except Exception as e:
        return repr(e)


class Section:
    """One try of a scenario: its nameserver, names, servers and admin tool."""

    def __init__(self, report, world, version, label, port_count):
        self.report, self.world, self.version = report, world, version
        self.prefix = report.prefix
        self.mark = "%s-%s" % (world.mark, version.replace(".", ""))
        self.cluster = "lab-%s-%s" % (label[:2], self.mark)     # mqadmin cuts cluster names at 20 letters
        self.ports = lab.free_ports(port_count, world.port_base)
        self.probe = lab.Probe(version)
        self.servers = {}

    @property
    def namesrv(self):
        return self.world.namesrv

    def topic(self, word):
        return "%s_%s" % (word, self.cluster)

    def broker(self, suffix, broker_id, port, settings=None, jvm=(), version=None, store=None, namesrv=None):
        name = "%s-%s" % (self.cluster, suffix)
        store = self.world.root / ("%s-%s-%s" % (self.cluster, suffix, broker_id if store is None else store))
        server = lab.start_broker(version or self.version, namesrv or self.namesrv, name, self.cluster, broker_id, port,
                                  store, settings, jvm)
        self.servers[(suffix, broker_id)] = server
        return server

    def admin(self, *words, timeout=60):
        """The output of an mqadmin command on this nameserver."""
        return self.probe.admin(*words, "-n", self.namesrv, timeout=timeout)[1]

    def admin_says(self, label, words, *patterns):
        """One check: the output has each pattern. Gives the output."""
        text = self.admin(*words)
        missing = [p for p in patterns if not re.search(p, text)]
        self.report.check("mqadmin " + label, not missing, "no /%s/ in: %s" % ("/, /".join(missing), text))
        return text

    def route(self, topic):
        return lab.topic_route(self.namesrv, topic)

    def brokers_of(self, topic):
        """{brokerName without the cluster: (brokerAddrs, queueData)}, {} without a route."""
        found = self.route(topic)
        if not found:
            return {}
        queues = {q["brokerName"]: q for q in found["queueDatas"]}
        return {b["brokerName"].replace(self.cluster + "-", ""): (b["brokerAddrs"], queues.get(b["brokerName"]))
                for b in found["brokerDatas"]}

    def ids(self, suffix):
        return lab.broker_ids(self.namesrv, "%s-%s" % (self.cluster, suffix))

    def call(self, code, ext=None, body=b"", **options):
        return rmqwire.call(self.namesrv, code, ext, body, **options)

    def close(self):
        self.probe.close()
        for server in self.servers.values():
            server.terminate()
        for server in self.servers.values():
            server.stop()


def has_config(section, key):
    return re.search(r"(?m)^%s\s*=" % re.escape(key), section.call(319)["body"].decode("utf-8"))


def modern(section):
    """Whether the nameserver is, or is like, the Java one of 5.x."""
    return has_config(section, "supportActingMaster")


def get_config(section, key):
    found = re.search(r"(?m)^%s\s*=(.*)$" % re.escape(key), section.call(319)["body"].decode("utf-8"))
    return found.group(1).strip() if found else None


@contextlib.contextmanager
def setting(section, key, value):
    """A setting of the nameserver, changed with mqadmin for a while."""
    before = get_config(section, key)
    section.admin("updateNamesrvConfig", "-k", key, "-v", value)
    try:
        yield get_config(section, key) == value
    finally:
        section.admin("updateNamesrvConfig", "-k", key, "-v", before if before is not None else "false")


def kv_value(section, namespace, key):
    answer = section.call(101, {"namespace": namespace, "key": key})
    return answer["code"], (answer["extFields"] or {}).get("value")


def slave_has(section, key, topic):
    """Whether a broker (a slave, so it copied it) knows the topic."""
    answer = rmqwire.call(section.servers[key].addr, 21)        # all topics that a broker has
    return topic in rmqwire.loose_json(answer["body"]).get("topicConfigTable", {})


def log_end(section, key):
    """How far a broker's log goes, -1 where it does not say."""
    text = section.admin("brokerStatus", "-b", section.servers[key].addr)
    found = re.search(r"commitLogMaxOffset\s*:\s*(\d+)", text)
    return int(found.group(1)) if found else -1


# The figures that the Java probe and the Go client print.

def queue_lines(text):
    return sorted({line.split()[0] for line in text.splitlines() if line.startswith("lab-")})


def produced(text):
    """(sent, failed, {broker's last letter: messages})"""
    found = re.search(r"sent (\d+) failed (\d+)", text)
    by_broker = dict(re.findall(r"(?m)^broker lab-\S+-(\w+) (\d+)$", text))
    return (int(found.group(1)), int(found.group(2)), by_broker) if found else (0, -1, by_broker)


def received(text):
    """(different messages, deliveries, out of order)"""
    found = re.search(r"received (\d+) deliveries (\d+) disorder (\d+)", text)
    return tuple(map(int, found.groups())) if found else (0, 0, -1)
