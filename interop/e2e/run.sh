#!/usr/bin/env bash
# The dashboard in a real browser: unit tests of its modules, then every view against the
# real program. Needs Node 20 and Chromium; builds the program unless FINGERPOST names one.
#   run.sh                   everything
#   run.sh live.test.mjs     one file
# The last line is "N passed, N failed". Without Chromium the browser's part is skipped,
# loudly, and that is a failure where CI=true.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
root=$(cd ../.. && pwd)

if [ -z "${FINGERPOST:-}" ]; then
  made=$(mktemp -d)
  trap 'rm -rf "$made"' EXIT
  (cd "$root" && CGO_ENABLED=0 go build -trimpath -o "$made/fingerpost" ./cmd/fingerpost)
  export FINGERPOST=$made/fingerpost
fi
npm ci --no-audit --no-fund --loglevel=error

files=("$@")
if [ $# -eq 0 ]; then
  files=(unit/*.test.mjs *.test.mjs)
fi
skipped=0
export CHROMIUM=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
if [ -z "$CHROMIUM" ]; then
  echo "e2e: SKIPPED the tests in a browser: Chromium is not installed (Debian: apt-get install chromium)" >&2
  files=(unit/*.test.mjs)
  skipped=1
fi

out=$(mktemp)
status=0
# Every wait has its own end; ten minutes end a test that found another way to stand still.
node --test --test-concurrency=1 --test-timeout=600000 --test-reporter=spec --test-reporter-destination=stdout \
  --test-reporter=tap --test-reporter-destination="$out" "${files[@]}" || status=$?
passed=$(awk '/^# pass/ { print $3 }' "$out")
failed=$(awk '/^# fail/ { f = $3 } /^# cancelled/ { c = $3 } END { print f + c }' "$out")
rm -f "$out"
[ "$status" -eq 0 ] || [ "${failed:-0}" -gt 0 ] || failed=1
if [ "$skipped" -eq 1 ] && [ "${CI:-}" = true ]; then
  failed=$((${failed:-0} + 1))
fi
echo "${passed:-0} passed, ${failed:-1} failed"
[ "${failed:-1}" -eq 0 ]
