#!/bin/sh
# Measures Fingerpost beside the Java NameServer 5.5.0 and the raw echo on this machine, in one run: all servers of a
# size run at once, each measurement goes round them, medians are compared as ratios. Needs a JDK and, the first time,
# Maven for the jars.
#
#   compare.sh quick           start, lookups and registrations at one size, 3 rounds: some minutes
#   compare.sh full            start, lookups, idle connections, registrations, losses and both at once, small and large,
#                              5 rounds: less than half an hour
#   compare.sh run FLAGS...    nscompare with these flags (nscompare -h)
#
# OUT=DIR is where the JSON lines and tables go (default: a new temporary directory), PORT=28100 the first port,
# JAVA_LIB=DIR the jars if they are already somewhere.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${OUT:-$(mktemp -d)}
mkdir -p "$out/bin"
(cd "$here" && go build -o "$out/bin/" ./cmd/...)
(cd "$root" && go build -o "$out/bin/fingerpost" ./cmd/fingerpost)
if [ -z "${JAVA_LIB:-}" ]; then
	bash "$root/interop/lab/fetch.sh" 5.5.0 >&2
	JAVA_LIB=${INTEROP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/nameserver-interop}/5.5.0/lib
fi
echo "results: $out"
ours="fingerpost=$out/bin/fingerpost --listen-port {port} --bind-address 127.0.0.1 --http-listen 127.0.0.1:0"
ours="$ours --kv-config-path {home}/kv.json --config-store-path {home}/ns.properties --data-dir {home}/data --log-level warn"
measure() {
	name=$1
	shift
	"$out/bin/nscompare" -java-lib "$JAVA_LIB" -server "$ours" -rawecho "$out/bin/rawecho" -port "${PORT:-28100}" \
		-out "$out/$name.jsonl" "$@" 2>&1 | tee -a "$out/$name.txt"
}
mode=${1:-quick}
[ $# -eq 0 ] || shift
case $mode in
quick)
	measure quick -sizes 20x2000 -plan startup,route,reg -rounds 3 -duration 1s -jit 5s
	;;
full)
	set -- -rounds 5 -duration "${DURATION:-600ms}" -warmup 300ms -jit "${JIT:-8s}" -quiet-wait 2s -echo net
	measure startup "$@" -sizes 3x100 -plan startup
	# Each large size beside a small one with bodies of the same length.
	measure route "$@" -sizes 3x100,20x2000,50x100,50x10000 -plan route,miss
	measure broad "$@" -sizes 10x100,10x50000 -plan route -match "c16 i32"
	measure idle "$@" -sizes 3x100 -plan idle -rounds 1 -duration 10s -jit 0s
	measure reg "$@" -sizes 20x2000,10x50000 -plan reg,loss
	measure mixed "$@" -sizes 50x10000 -plan mixed -duration 2s
	;;
run)
	measure run "$@"
	;;
*)
	echo "usage: compare.sh quick|full|run FLAGS..." >&2
	exit 2
	;;
esac
