# Sourced by run.sh and diff.sh. Not a program.

# need TOOL…: all of these must be on the PATH. Where one is missing nothing is checked, and that is said loudly; with
# CI=true it is a failure.
need() {
  local tool missing=
  for tool in "$@"; do
    command -v "$tool" >/dev/null || missing="$missing $tool"
  done
  [ -z "$missing" ] && return
  echo "=============================================================================="
  echo "NOT CHECKED: ${0##*/} needs$missing, and that is not on the PATH."
  echo "=============================================================================="
  [ "${CI:-}" = true ] && exit 1
  exit 0
}

# scratch: a folder of this run's own in $work, removed at its end.
scratch() {
  work=$(mktemp -d "${TMPDIR:-/tmp}/fingerpost-interop-XXXXXX")
  trap 'rm -rf "$work"' EXIT
}

# build_server: the server under test, built from this checkout, in $server.
build_server() {
  server=$work/fingerpost
  (cd "$root" && go build -o "$server" ./cmd/fingerpost)
}
