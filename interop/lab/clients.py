"""The programs of clients/: clients in other languages and of other protocols, each with what it depends on.

A client is fetched and built once and kept in the cache beside the jars of the servers; its folder there is named after
what it is made of. Where a tool for one is missing that is said loudly, and with CI=true it is a failure.
"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import lab

SOURCES = lab.HERE.parent / "clients"


class Client:
    """One program. properties are for Maven; jdk is the oldest Java that runs it."""

    def __init__(self, folder, kind, main=None, jdk=0, properties=None):
        self.folder, self.kind, self.main, self.jdk = folder, kind, main, jdk
        properties = properties or {}
        self.options = ["-D%s=%s" % each for each in properties.items()]
        self.label = " ".join([folder] + list(properties.values()))

    def missing(self):
        """What of the machine's tools is not there, in words; empty where all are."""
        if self.kind == "node":
            return " ".join(tool for tool in ("node", "npm") if not shutil.which(tool))
        if self.kind == "python":
            asked = subprocess.run([sys.executable, "-m", "pip", "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            return "" if asked.returncode == 0 else "python3's pip"
        if java_version() < self.jdk:
            return "Java %d" % self.jdk
        return ""

    def home(self):
        """Its folder in the cache, filled if it is not there yet."""
        source = SOURCES / self.folder
        files = sorted(p for p in source.iterdir() if p.is_file())
        mark = hashlib.sha256("\n".join(self.options + [sys.version.split()[0]] * (self.kind == "python")).encode())
        for path in files:
            mark.update(path.name.encode() + b"\0" + path.read_bytes())
        cache = pathlib.Path(os.environ.get("INTEROP_CACHE") or pathlib.Path(
            os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "nameserver-interop")
        target = cache / ("%s-%s" % (self.folder, mark.hexdigest()[:12]))
        if target.exists():
            return target
        cache.mkdir(parents=True, exist_ok=True)
        work = pathlib.Path(tempfile.mkdtemp(prefix=".%s-" % self.folder, dir=str(cache)))
        try:
            for path in files:
                shutil.copy(str(path), str(work))
            for command in self._build(work):
                subprocess.run(command, cwd=str(work), check=True, timeout=600, stdin=subprocess.DEVNULL, stdout=sys.stderr)
            os.chmod(str(work), 0o755)
            try:
                os.rename(str(work), str(target))
            except OSError:          # another run was first
                if not target.exists():
                    raise
        finally:
            shutil.rmtree(str(work), ignore_errors=True)
        return target

    def _build(self, work):
        if self.kind == "node":
            return [["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]]
        if self.kind == "python":
            return [[sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-compile", "--target", "lib",
                     "-r", "requirements.txt"]]
        sources = sorted(p.name for p in work.glob("*.java"))
        return [["mvn", "-q", "-B"] + self.options + ["dependency:copy-dependencies", "-DoutputDirectory=lib"],
                [lab.java_tool("javac"), "-nowarn", "-proc:none", "-parameters", "-cp", "lib/*", "-d", "classes"] + sources]

    def command(self, *words):
        home, words = self.home(), [str(word) for word in words]
        if self.kind == "node":
            return ["node", str(home / "client.js")] + words
        if self.kind == "python":
            return [sys.executable, str(home / "client.py")] + words
        return ([lab.java_tool("java")] + lab.SMALL_JVM + ["-Xms64m", "-Xmx256m", "-Duser.home=."] + lab.OPENS
                + ["-cp", os.pathsep.join([str(home / "classes"), str(home / "lib" / "*")]), self.main] + words)

    def run(self, folder, *words, timeout=120):
        """What it writes, both streams. Its working and home folder is folder, where its logs go."""
        environment = dict(os.environ, HOME=str(folder))
        if self.kind == "python":
            environment["PYTHONPATH"] = str(self.home() / "lib")
        try:
            done = subprocess.run(self.command(*words), cwd=str(folder), env=environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)
        except subprocess.TimeoutExpired as late:
            return "no end within %d s: %s" % (timeout, (late.stdout or b"").decode("utf-8", "replace"))
        return done.stdout.decode("utf-8", "replace")


def java_version():
    told = subprocess.run([lab.java_tool("java"), "-version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    found = re.search(r'version "(\d+)', told)
    return int(found.group(1)) if found else 0


def ready(clients):
    """Those of them that can run here, fetched and built."""
    able = []
    for client in clients:
        missing = client.missing()
        if missing:
            print("=" * 78 + "\nNOT CHECKED: %s needs %s, and that is not here.\n" % (client.label, missing) + "=" * 78, flush=True)
            if os.environ.get("CI") == "true":
                raise SystemExit(1)
            continue
        client.home()
        able.append(client)
    return able
