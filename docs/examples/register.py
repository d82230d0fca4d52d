"""Keeps a broker registered at every name server until it is told to end. See README.md."""
import json
import os
import random
import signal
import threading
import urllib.error
import urllib.request

SERVERS = os.environ.get("NAMESERVERS", "http://127.0.0.1:8876").split()
PLACE = "/api/v1/brokers/" + os.environ.get("BROKER", "bridge-1") + "/members/0"
STATEMENT = {
    "clusterName": "DefaultCluster",
    "brokerAddr": os.environ.get("ADDRESS", "127.0.0.1:10911"),
    "heartbeatTimeoutMillis": int(os.environ.get("TTL", "60000")),
    "topicConfigTable": {"Bridged": {"readQueueNums": 4, "writeQueueNums": 4}},
}
over = threading.Event()


def ask(server, method, path, body=None):
    headers = {"Authorization": "Bearer " + os.environ["TOKEN"], "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body else None
    with urllib.request.urlopen(urllib.request.Request(server + path, data, headers, method=method), timeout=10) as answer:
        return json.loads(answer.read() or "{}")


def keep(server):
    known, failures = False, 0
    while not over.is_set():
        try:
            answer = ask(server, "POST", PLACE + "/heartbeat") if known else ask(server, "PUT", PLACE, STATEMENT)
            known, failures = True, 0
            over.wait(answer["nextHeartbeatMillis"] / 1000 * random.uniform(0.9, 1.1))
            continue
        except urllib.error.HTTPError as refusal:
            if refusal.code == 404 and known:  # forgotten, or restarted: register again
                known = False
                continue
            if refusal.code < 500 and refusal.code != 429:  # 409: another has the place
                print(server, refusal.read().decode(), flush=True)
                return
        except OSError as failure:
            print(server, failure, flush=True)
        over.wait(min(2 ** failures, 15))
        failures += 1
    try:
        ask(server, "DELETE", PLACE)
    except OSError as failure:
        print(server, failure, flush=True)


signal.signal(signal.SIGTERM, lambda *_: over.set())
threads = [threading.Thread(target=keep, args=(server,)) for server in SERVERS]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
