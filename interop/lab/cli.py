#!/usr/bin/env python3
"""The lab on the command line (--help of each says more).

  cli.py namesrv VERSION --port P                      the Java nameserver: the oracle
  cli.py broker  VERSION --namesrv ADDR --name N --cluster C --id I --port P
  cli.py proxy   VERSION --namesrv ADDR --cluster C --grpc-port P --remoting-port P
  cli.py mqadmin VERSION ARGS...                       the admin tool, its standard output kept clean
  cli.py probe   VERSION ARGS...                       produce, consume, ...: java/Probe.java says what
  cli.py wait    --port ADDR | --broker NAME --namesrv ADDR
  cli.py call    ADDR CODE [--ext k=v] [--body TEXT]   one remoting request, the answer as JSON

The first three stay in the foreground, print one line "ready ..." on standard output, and stop cleanly on SIGTERM or
SIGINT. What a server writes lies in a temporary folder that goes away with it, unless --store or --keep says otherwise.
"""
import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile

import lab
import rmqwire


def _serve(server):
    ended = []

    def on_signal(number, _):
        ended.append(number)
        server.terminate()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    try:
        took = server.wait_ready()
        print("ready %s pid=%d folder=%s seconds=%.1f" % (server.addr, server.pid, server.folder, took), flush=True)
        code = server.process.wait()
    except RuntimeError as e:
        if not ended:
            print(e, file=sys.stderr)
        code = 1
    finally:
        server.stop()
    return 0 if ended else code or 1


def _pairs(items):
    return dict(item.split("=", 1) for item in items or [])


def _one_shot(version, main, args, classes=()):
    """In a folder of its own; standard output is the tool's and nothing else."""
    folder = tempfile.mkdtemp(prefix="rmq-tool-")
    try:
        lab.make_home(folder, version)
        command = lab.java_command(version, main, args, ["-Xms64m", "-Xmx256m"], classes=classes)
        return subprocess.run(command, cwd=folder).returncode
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)

    def server(name, text):
        sub = commands.add_parser(name, help=text)
        sub.add_argument("version")
        sub.add_argument("--set", action="append", metavar="K=V", help="a setting of the server")
        sub.add_argument("--jvm", action="append", default=[], metavar="FLAG", help="a flag of the JVM, as --jvm=-Dk=v")
        sub.add_argument("--store", metavar="DIR", help="the server's folder (else temporary)")
        sub.add_argument("--keep", action="store_true", help="leave the temporary folder")
        return sub

    sub = server("namesrv", "the Java nameserver")
    sub.add_argument("--port", type=int, required=True)
    sub = server("broker", "a broker")
    sub.add_argument("--namesrv", required=True)
    sub.add_argument("--name", required=True)
    sub.add_argument("--cluster", required=True)
    sub.add_argument("--id", type=int, default=0)
    sub.add_argument("--port", type=int, required=True)
    sub = server("proxy", "the 5.x proxy in cluster mode")
    sub.add_argument("--namesrv", required=True)
    sub.add_argument("--cluster", required=True)
    sub.add_argument("--grpc-port", type=int, required=True)
    sub.add_argument("--remoting-port", type=int, required=True)
    for name in ("mqadmin", "probe"):
        sub = commands.add_parser(name)
        sub.add_argument("version")
        sub.add_argument("args", nargs=argparse.REMAINDER)
    sub = commands.add_parser("wait", help="until a port accepts or a broker is registered")
    sub.add_argument("--port", metavar="ADDR")
    sub.add_argument("--broker", metavar="NAME")
    sub.add_argument("--namesrv", metavar="ADDR")
    sub.add_argument("--timeout", type=float, default=60)
    sub = commands.add_parser("call", help="one remoting request")
    sub.add_argument("addr")
    sub.add_argument("code", type=int)
    sub.add_argument("--ext", action="append", metavar="K=V")
    sub.add_argument("--body", default="")
    sub.add_argument("--serialize", choices=[rmqwire.JSON, rmqwire.ROCKETMQ], default=rmqwire.JSON)
    sub.add_argument("--version", type=int, default=401, help="the version number in the header")

    a = parser.parse_args()
    if a.command == "namesrv":
        return _serve(lab.start_namesrv(a.version, a.port, a.store, _pairs(a.set), a.jvm, a.keep))
    if a.command == "broker":
        return _serve(lab.start_broker(a.version, a.namesrv, a.name, a.cluster, a.id, a.port, a.store, _pairs(a.set), a.jvm,
                                   a.keep))
    if a.command == "proxy":
        return _serve(lab.start_proxy(a.version, a.namesrv, a.cluster, a.grpc_port, a.remoting_port, a.store, _pairs(a.set),
                                  a.jvm, a.keep))
    if a.command == "mqadmin":
        return _one_shot(a.version, "org.apache.rocketmq.tools.command.MQAdminStartup", a.args)
    if a.command == "probe":
        return _one_shot(a.version, "Probe", a.args, [lab.probe_classes(a.version)])
    if a.command == "wait":
        if a.port:
            return 0 if lab.wait_port(a.port, a.timeout) else 1
        if not (a.broker and a.namesrv):
            parser.error("wait needs --port, or --broker and --namesrv")
        return 0 if lab.wait_until(lambda: lab.broker_ids(a.namesrv, a.broker), a.timeout)[0] else 1
    answer = rmqwire.call(a.addr, a.code, _pairs(a.ext), a.body.encode("utf-8"), kind=a.serialize, version=a.version)
    answer["body"] = answer["body"].decode("utf-8", "replace")
    print(json.dumps(answer, ensure_ascii=False, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
