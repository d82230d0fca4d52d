#!/usr/bin/env bash
# Real RocketMQ brokers, clients and admin tools of four versions against this server. Needs a JDK, Maven (the first
# time), Go and Python 3.9 or later.
#   interop/run.sh [ARGS of scenarios/run.py]     INTEROP_SET=full (all of it) or ci (a part that meets all versions)
# The last line is "N passed, N failed"; exit status 1 on a failure.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/interop/tools.sh"
need java javac mvn go python3
scratch
build_server
bash "$root/interop/lab/fetch.sh" 4.8.0 4.9.7 5.3.3 5.5.0 >/dev/null
python3 "$root/interop/scenarios/run.py" --fingerpost "$server" --set "${INTEROP_SET:-full}" "$@"
