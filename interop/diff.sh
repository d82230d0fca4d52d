#!/usr/bin/env bash
# The same requests to the Java NameServer 5.5.0 and to this server, answer by answer; then the recorded frames. Needs a
# JDK, Maven (the first time), Go and Python 3.9 or later.
#   interop/diff.sh        DIFF_SET=full or ci (fewer sequences), DIFF_SEED=N instead of a fresh seed
# The last line is "N passed, N failed"; exit status 1 on a failure.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/interop/tools.sh"
need java mvn go python3
scratch
build_server
(cd "$root/interop/nsdiff" && GOWORK=off go build -o "$work/nsdiff" .)
jars=$(bash "$root/interop/lab/fetch.sh" 5.5.0)
export NSDIFF_JARS=$jars NSDIFF_SERVER=$server

# The Java server invents a certificate and finds out by itself about PROXY headers; ours is given the one and told to
# take the other, so that both are compared.
(cd "$work" && go run "$(go env GOROOT)/src/crypto/tls/generate_cert.go" --host 127.0.0.1 2>/dev/null)
export NSDIFF_WORK=$work

# Both look for dead brokers every half second, so that expiry can be waited for.
settings='printf "listenPort={port}\nbindAddress=127.0.0.1\nkvConfigPath={dir}/kv.json\nscanNotActiveBrokerInterval=500\n" > {dir}/ns.conf'
java_server=$settings'; exec java -XX:+UseSerialGC -XX:-OmitStackTraceInFastThrow -Xms128m -Xmx512m -Duser.home={dir} -Drocketmq.home.dir={dir} -cp "$NSDIFF_JARS/*" org.apache.rocketmq.namesrv.NamesrvStartup -c {dir}/ns.conf'
our_server=$settings'; exec "$NSDIFF_SERVER" -c {dir}/ns.conf --http-listen 127.0.0.1:0 --data-dir {dir}/data --tls-server-cert-path "$NSDIFF_WORK/cert.pem" --tls-server-key-path "$NSDIFF_WORK/key.pem" --remoting-trusted-proxies 127.0.0.1'

fresh=${DIFF_SEED:-$(($(date +%s) % 1000000))}
passed=0 failed=0
# count COMMAND…: runs it and adds up its last line.
count() {
  local out=$work/out last
  "$@" 2>&1 | tee "$out" || true
  last=$(tail -1 "$out")
  case $last in
    *" passed, "*" failed") ;;
    *) echo "no result: $*"; last="0 passed, 1 failed" ;;
  esac
  passed=$((passed + ${last%% passed*})) last=${last#*, }
  failed=$((failed + ${last%% failed*}))
}
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
compare() {
  count "$work/nsdiff" -a "127.0.0.1:$(port)" -b "127.0.0.1:$(port)" -a-cmd "$java_server" -b-cmd "$our_server" -out "$root/nsdiff-out" "$@"
}

if [ "${DIFF_SET:-full}" = ci ]; then
  compare -profile all -seed 1 -sequences 8 -time 60s
  echo "fresh seed: $fresh"
  compare -profile smoke,conflict,actingmaster -seed "$fresh" -sequences 6 -time 40s
else
  compare -profile all -seed 1
  echo "fresh seed: $fresh"
  compare -profile smoke,full,conflict,actingmaster,config,malformed,orderkv -seed "$fresh" -sequences 10 -time 60s
fi
count python3 "$root/interop/frames/replay.py" --fingerpost "$server" --port "$(port)"
echo "fixed seed 1, fresh seed $fresh (DIFF_SEED=$fresh runs it again)"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
