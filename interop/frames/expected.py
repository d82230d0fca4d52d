"""The answers that Fingerpost gives on purpose otherwise than the Java nameserver did when the frames were recorded.

Each names its entry in docs/differences.md, the file, the scenario's words behind the file's name (a regular expression
that fits all of them), the request's code, and what the difference must say (one that fits all of that).
"""
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "differences.md"

EXPECTED = [
    ("compressed-unannounced", "broker-compressed-5.5.0.jsonl", "a master starts", 103,
     r"code 0, not 1; remark None, not '.*Failed to decode RegisterBrokerBody.*"),
    ("compressed-unannounced", "broker-compressed-5.5.0.jsonl", "a master starts", 106,
     r"body\.brokerAddrTable\.broker-a .*, not null, body\.clusterAddrTable\.DefaultCluster \[\"broker-a\"\], not null"),
    # TBW102 is registered with perm 7, which is what it gets back.
    ("write-perm-restored", "mqadmin-4.9.7.jsonl", "updateNamesrvConfig .*|delete.*", 105, r"body\.queueDatas\[\d\]\.perm 7, not 6"),
    ("write-perm-restored", "mqadmin-4.9.7-binary-header.jsonl", "delete.*", 105, r"body\.queueDatas\[\d\]\.perm 7, not 6"),
    ("kv-fields-required", "raw.jsonl", "value put without a value", 100, r"code 1, not 0; remark 'value is null', not None"),
    ("missing-identity", "raw.jsonl", "register without a broker name", 103, r"code 1, not 0; remark '.*brokerName.*', not None; body .*"),
    ("zone-keeps-dialect", "raw.jsonl", "route asked for the broker's zone", 105, "body with quoted integer keys"),
    # One connection held the slave "fake" and the nameless broker; Java forgets one of them and keeps the null.
    ("every-broker-of-a-connection", "raw.jsonl", "aside", 106,
     r"(body\.brokerAddrTable\.broker-a null, .*, )?body\.brokerAddrTable\.fake null, not .*29951.*, body\.clusterAddrTable\..*"),
]


class Allowed:
    """Finds expected differences, and keeps count of those that showed."""

    def __init__(self, on):
        self.entries = EXPECTED if on else []
        self.seen = set()

    def find(self, file, line, wrong):
        """The name of the entry that covers a difference, or None."""
        words = line["scenario"].split(": ", 1)[-1]
        for number, (name, in_file, scenario, code, says) in enumerate(self.entries):
            if file == in_file and line["code"] == code and re.fullmatch(scenario, words) and re.fullmatch(
                    says, "; ".join(wrong), re.DOTALL):
                self.seen.add(number)
                return name
        return None

    def faults(self, files):
        """What is wrong with the table, once these files have been replayed."""
        anchors = set(re.findall(r"(?m)^## ([a-z0-9-]+)$", PAGE.read_text(encoding="utf-8"))) if PAGE.exists() else set()
        for number, (name, in_file, scenario, _, _) in enumerate(self.entries):
            if name not in anchors:
                yield "expected.py names %s, which docs/differences.md does not explain" % name
            if in_file in files and number not in self.seen:
                yield "the expected difference %s did not show in %s, %s" % (name, in_file, scenario)
