"""The answers that Fingerpost gives on purpose otherwise than the Java nameserver did when the frames were recorded.

Each names its entry in docs/differences.md, the file, the scenario's words behind the file's name, and what the
difference must say (a regular expression over all of it).
"""
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "differences.md"

EXPECTED = [
]


class Allowed:
    """Finds expected differences, and keeps count of those that showed."""

    def __init__(self, on):
        self.entries = EXPECTED if on else []
        self.seen = set()

    def find(self, file, line, wrong):
        """The name of the entry that covers a difference, or None."""
        for number, (name, in_file, scenario, says) in enumerate(self.entries):
            words = line["scenario"].split(": ", 1)[-1]
            if file == in_file and words == scenario and re.search(says, "; ".join(wrong)):
                self.seen.add(number)
                return name
        return None

    def faults(self, files):
        """What is wrong with the table, once these files have been replayed."""
        anchors = set(re.findall(r"(?m)^## ([a-z0-9-]+)$", PAGE.read_text(encoding="utf-8"))) if PAGE.exists() else set()
        for number, (name, in_file, scenario, _) in enumerate(self.entries):
            if name not in anchors:
                yield "expected.py names %s, which docs/differences.md does not explain" % name
            if in_file in files and number not in self.seen:
                yield "the expected difference %s did not show in %s, %s" % (name, in_file, scenario)
