"""Starts and stops real RocketMQ servers and tools, and Fingerpost beside them. Python 3 standard library only.

cli.py is the same on the command line. scenarios/ and frames/ use the classes here.
"""
import ctypes
import hashlib
import json
import os
import pathlib
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import rmqwire

HERE = pathlib.Path(__file__).resolve().parent
LOOPBACK = "127.0.0.1"

# Both 4.9 and 5.x reach into JDK internals; Java 17 wants that said on the command line.
OPENS = [flag for package in ("java.nio", "sun.nio.ch", "java.util", "java.lang", "jdk.internal.ref", "jdk.internal.misc")
         for flag in ("--add-opens", "java.base/%s=ALL-UNNAMED" % package,
                      "--add-exports", "java.base/%s=ALL-UNNAMED" % package)]
SMALL_JVM = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Dfile.encoding=UTF-8"]

# Every name that one of the versions looks for gets the same file: everything goes to one log, nothing to the console.
LOG_CONFIGS = ["logback_namesrv.xml", "logback_broker.xml", "logback_tools.xml", "logback.xml"]
LOG_CONFIG = """<configuration>
  <appender name="file" class="%s.FileAppender">
    <file>${user.home}/lab.log</file>
    <encoder><pattern>%%d{HH:mm:ss.SSS} %%-5p %%c{20} - %%m%%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="file"/></root>
</configuration>
"""


def jars(version):
    """The lib folder of a version; fetched if it is not in the cache."""
    done = subprocess.run(["bash", str(HERE / "fetch.sh"), version], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit("lab: no jars for RocketMQ %s" % version)
    return pathlib.Path(done.stdout.strip())


def is_five(version):
    return int(version.split(".")[0]) >= 5


def java_tool(name):
    home = os.environ.get("JAVA_HOME")
    found = os.path.join(home, "bin", name) if home else shutil.which(name)
    if not found or not os.path.exists(found):
        raise SystemExit("lab: no %s; install a JDK of 11 or later or set JAVA_HOME" % name)
    return found


def probe_classes(version):
    """java/Probe.java compiled against a version's jars, kept beside them."""
    source = HERE / "java" / "Probe.java"
    lib = jars(version)
    mark = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    target = lib.parent / ("probe-" + mark)
    if not target.exists():
        work = tempfile.mkdtemp(prefix=".probe-", dir=str(lib.parent))
        subprocess.run([java_tool("javac"), "-nowarn", "-proc:none", "-cp", str(lib / "*"), "-d", work, str(source)],
                       check=True, stdout=sys.stderr)
        try:
            os.rename(work, str(target))
        except OSError:          # another run was first
            shutil.rmtree(work)
    return target


def make_home(folder, version):
    """A rocketmq.home.dir with nothing but log settings."""
    conf = pathlib.Path(folder) / "home" / "conf"
    conf.mkdir(parents=True, exist_ok=True)
    package = "org.apache.rocketmq.logging.ch.qos.logback.core" if is_five(version) else "ch.qos.logback.core"
    for name in LOG_CONFIGS:
        (conf / name).write_text(LOG_CONFIG % package)


def java_command(version, main, args, heap, jvm=(), classes=()):
    """Paths are relative to the working folder, so that no server learns or tells where on the machine it runs."""
    lib = jars(version)
    path = os.pathsep.join([str(c) for c in classes] + [str(lib / "*")])
    return ([java_tool("java")] + SMALL_JVM + list(heap) + OPENS
            + ["-Drocketmq.home.dir=home", "-Duser.home=home", "-Djava.io.tmpdir=home", "-Drmq.logback.configurationFile=home/conf/logback.xml",
               "-Drocketmq.client.logUseSlf4j=false"]
            + list(jvm) + ["-cp", path, main] + list(args))


def write_properties(path, settings):
    """A setting whose value is None is left out."""
    pathlib.Path(path).write_text("".join("%s=%s\n" % item for item in settings.items() if item[1] is not None))


def _die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)      # PR_SET_PDEATHSIG; Linux only, elsewhere prctl is missing


class Server:
    """One child process and its folder."""

    def __init__(self, label, command, folder, addr, own_folder):
        self.label, self.addr, self.folder, self.own_folder = label, addr, pathlib.Path(folder), own_folder
        self.output = self.folder / "stdout.log"
        self.started = time.monotonic()
        with open(self.output, "ab") as out:
            self.process = subprocess.Popen(command, cwd=str(folder), stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=subprocess.STDOUT, start_new_session=True,
                                            preexec_fn=_die_with_parent if sys.platform == "linux" else None)

    @property
    def pid(self):
        return self.process.pid

    def alive(self):
        return self.process.poll() is None

    def wait_ready(self, timeout=90):
        """Until the port accepts; returns the seconds it took since the start."""
        if not wait_port(self.addr, timeout, self.alive):
            tail = self.output.read_text(errors="replace")[-2000:]
            self.kill()
            raise RuntimeError("%s did not open %s: %s" % (self.label, self.addr, tail))
        return time.monotonic() - self.started

    def rss_mib(self):
        try:
            for line in open("/proc/%d/status" % self.pid):
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) // 1024
        except OSError:
            pass
        return 0

    def terminate(self):
        if self.alive():
            self.process.terminate()

    def stop(self, timeout=40):
        """Cleanly, else by force. True where it was clean."""
        self.terminate()
        try:
            self.process.wait(timeout)
            clean = True
        except subprocess.TimeoutExpired:
            clean = False
        self.kill()
        return clean

    def kill(self):
        if self.alive():
            self.process.kill()
        self.process.wait()
        if self.own_folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def _folder(store, label):
    if store:
        path = pathlib.Path(store).resolve()
        path.mkdir(parents=True, exist_ok=True)
        return path, False
    return pathlib.Path(tempfile.mkdtemp(prefix="rmq-%s-" % label)), True


NAMESRV_FILE = "namesrv.properties"


def _namesrv_folder(store, label, port, settings):
    """A nameserver's folder. One that has been used keeps its files, so that it goes on, or another kind takes over."""
    folder, own = _folder(store, label)
    if not (folder / NAMESRV_FILE).exists():
        values = {"listenPort": port, "bindAddress": LOOPBACK, "kvConfigPath": "kvConfig.json"}
        values.update(settings or {})
        write_properties(folder / NAMESRV_FILE, values)
    return folder, own


def start_namesrv(version, port, store=None, settings=None, jvm=(), keep=False):
    folder, own = _namesrv_folder(store, "namesrv", port, settings)
    make_home(folder, version)
    command = java_command(version, "org.apache.rocketmq.namesrv.NamesrvStartup", ["-c", NAMESRV_FILE],
                           ["-Xms64m", "-Xmx256m"], jvm)
    return Server("namesrv %s" % version, command, folder, "%s:%d" % (LOOPBACK, port), own and not keep)


def start_fingerpost(binary, port, store=None, settings=None, keep=False):
    """Our own server. All it has of its own is said by flags, so that the properties file stays the peers' own."""
    folder, own = _namesrv_folder(store, "fingerpost", port, settings)
    command = [str(pathlib.Path(binary).resolve()), "-c", NAMESRV_FILE, "--http-listen", LOOPBACK + ":0", "--data-dir", "data"]
    return Server("fingerpost", command, folder, "%s:%d" % (LOOPBACK, port), own and not keep)


def start_controller(version, port, store=None, settings=None, jvm=(), keep=False):
    """A controller of 5.x, one that is its own quorum: it elects masters, and tells no nameserver."""
    folder, own = _folder(store, "controller")
    make_home(folder, version)
    values = {"controllerDLegerGroup": "lab", "controllerDLegerPeers": "n0-%s:%d" % (LOOPBACK, port),
              "controllerDLegerSelfId": "n0", "controllerStorePath": "store", "scanNotActiveBrokerInterval": 1000}
    values.update(settings or {})
    write_properties(folder / "controller.properties", values)
    command = java_command(version, "org.apache.rocketmq.controller.ControllerStartup", ["-c", "controller.properties"],
                           ["-Xms64m", "-Xmx256m"], jvm)
    return Server("controller %s" % version, command, folder, "%s:%d" % (LOOPBACK, port), own and not keep)


def broker_settings(namesrv, name, cluster, broker_id, port):
    values = {
        "namesrvAddr": namesrv, "brokerClusterName": cluster, "brokerName": name, "brokerId": broker_id,
        "brokerRole": "ASYNC_MASTER" if int(broker_id) == 0 else "SLAVE",
        "listenPort": port, "haListenPort": int(port) + 1, "brokerIP1": LOOPBACK, "brokerIP2": LOOPBACK,
        "bindAddress": LOOPBACK, "storePathRootDir": "store", "storePathCommitLog": "store/commitlog",
        "autoCreateTopicEnable": "true", "autoCreateSubscriptionGroup": "true", "flushDiskType": "ASYNC_FLUSH",
        "registerNameServerPeriod": 10000,      # the least a broker allows; the default is 30000
        "maxHashSlotNum": 1000, "maxIndexNum": 4000, "mappedFileSizeTimerLog": 4 * 1024 * 1024, "deleteWhen": "04",
        "diskMaxUsedSpaceRatio": 95,
        "slaveReadEnable": "true",              # else a 5.x slave refuses every pull
        # A busy machine makes requests wait in a broker; what it refuses after 200 ms would look like a NameServer's fault.
        "waitTimeMillsInSendQueue": 30000, "waitTimeMillsInPullQueue": 30000, "waitTimeMillsInHeartbeatQueue": 31000,
    }
    for word in ("mapped", "maped"):            # 4.x spells it with one p
        values[word + "FileSizeCommitLog"] = 16 * 1024 * 1024
        values[word + "FileSizeConsumeQueue"] = 20 * 3000
    return values


def start_broker(version, namesrv, name, cluster, broker_id, port, store=None, settings=None, jvm=(), keep=False):
    """Takes three ports: P, P+1 (replication) and P-2 (the fast one)."""
    folder, own = _folder(store, "broker")
    make_home(folder, version)
    values = broker_settings(namesrv, name, cluster, broker_id, port)
    values.update(settings or {})
    write_properties(folder / "broker.properties", values)
    command = java_command(version, "org.apache.rocketmq.broker.BrokerStartup", ["-c", "broker.properties"],
                           ["-Xms128m", "-Xmx512m", "-XX:MaxDirectMemorySize=512m"], jvm)
    return Server("broker %s %s/%s" % (version, name, broker_id), command, folder, "%s:%d" % (LOOPBACK, int(port)),
                  own and not keep)


def start_proxy(version, namesrv, cluster, grpc_port, remoting_port, store=None, settings=None, jvm=(), keep=False):
    folder, own = _folder(store, "proxy")
    make_home(folder, version)
    values = {"namesrvAddr": namesrv, "rocketMQClusterName": cluster, "proxyClusterName": cluster,
              "proxyMode": "CLUSTER", "grpcServerPort": int(grpc_port), "remotingListenPort": int(remoting_port),
              "useEndpointPortFromRequest": False}
    values.update(settings or {})
    (folder / "proxy.json").write_text(json.dumps(values))
    command = java_command(version, "org.apache.rocketmq.proxy.ProxyStartup", ["-pc", "proxy.json", "-pm", "CLUSTER"],
                           ["-Xms128m", "-Xmx512m", "-XX:MaxDirectMemorySize=512m"],
                           list(jvm) + ["-Dcom.rocketmq.proxy.configPath=proxy.json"])
    return Server("proxy %s" % version, command, folder, "%s:%d" % (LOOPBACK, int(grpc_port)), own and not keep)


class Probe:
    """java/Probe.java kept warm: run("admin", "clusterList", "-n", addr) gives (ok, output)."""

    def __init__(self, version, jvm=(), conf=None):
        self.version, self.jvm, self.conf = version, list(jvm), conf or {}      # conf: {file name: text} of its home
        self.process = None

    def _start(self):
        classes = probe_classes(self.version)
        self.folder = tempfile.mkdtemp(prefix="rmq-probe-")
        make_home(self.folder, self.version)
        for name, text in self.conf.items():
            (pathlib.Path(self.folder) / "home" / "conf" / name).write_text(text)
        command = java_command(self.version, "Probe", [], ["-Xms64m", "-Xmx256m"], self.jvm, [classes])
        self.process = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, encoding="utf-8", errors="replace",
                                        preexec_fn=_die_with_parent if sys.platform == "linux" else None)
        self.lines = queue.Queue()
        threading.Thread(target=self._pump, args=(self.process, self.lines), daemon=True).start()
        self._answer(60)

    @staticmethod
    def _pump(process, lines):
        for line in process.stdout:
            lines.put(line.rstrip("\n"))
        lines.put(None)

    def _answer(self, timeout):
        text, end = [], time.monotonic() + timeout
        while True:
            try:
                line = self.lines.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                self.close()
                return False, "\n".join(text + ["no answer in %d s" % timeout])
            if line is None:
                self.close()
                return False, "\n".join(text + ["the probe's JVM ended"])
            if line.startswith("| "):
                text.append(line[2:])
            elif line == "= ok":
                return True, "\n".join(text)
            elif line.startswith("= fail"):
                return False, "\n".join(text + [line[7:]])

    def begin(self, *words):
        """Starts a command; finish() waits for its end. Nothing else may be asked in between."""
        if self.process is None:
            self._start()
        self.process.stdin.write("\t".join(str(word) for word in words) + "\n")
        self.process.stdin.flush()

    def finish(self, timeout=90):
        return self._answer(timeout)

    def run(self, *words, timeout=90):
        self.begin(*words)
        return self.finish(timeout)

    def admin(self, *words, timeout=90):
        return self.run("admin", *words, timeout=timeout)

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
            shutil.rmtree(self.folder, ignore_errors=True)


def wait_port(addr, timeout, alive=lambda: True):
    end = time.monotonic() + timeout
    while time.monotonic() < end and alive():
        try:
            socket.create_connection(rmqwire.address(addr), 0.5).close()
            return True
        except OSError:
            time.sleep(0.05)
    return False


def wait_until(check, timeout, every=0.1):
    """Calls check until it gives something true; returns (what it gave last, seconds waited)."""
    start = time.monotonic()
    while True:
        try:
            value = check()
        except (OSError, rmqwire.BadFrame):
            value = None
        if value or time.monotonic() - start > timeout:
            return value, time.monotonic() - start
        time.sleep(every)


def cluster_info(namesrv):
    return rmqwire.loose_json(rmqwire.call(namesrv, 106)["body"])


def broker_ids(namesrv, name):
    """{brokerId as text: address} of one broker name, {} where the nameserver does not know it."""
    return cluster_info(namesrv).get("brokerAddrTable", {}).get(name, {}).get("brokerAddrs", {})


def topic_route(namesrv, topic):
    """The route as a dict, or None where the nameserver answers that there is none (code 17)."""
    answer = rmqwire.call(namesrv, 105, {"topic": topic, "acceptStandardJsonOnly": "true"})
    return rmqwire.loose_json(answer["body"]) if answer["code"] == 0 else None


def free_ports(count, base):
    """Ports for brokers, counted up from base: each with its -2 and +1 neighbours free."""
    found, port = [], base
    while len(found) < count:
        if port > 65000:
            raise RuntimeError("no free ports from %d up" % base)
        if all(_is_free(p) for p in (port - 2, port, port + 1)):
            found.append(port)
        port += 10
    return found


def _is_free(port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("", port))
            return True
        except OSError:
            return False
