#!/bin/sh
# Measures how costs grow with the number of topics, brokers and subscribers, and draws the curves: Go benchmarks of the
# registry, no server, no Java.
#
#   growth.sh DIR        benchmark output and one SVG for each curve go to DIR; TIME=300ms for each point, COUNT=3 times
#   growth.sh DIR draw   only draws again what DIR/growth.txt has
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=${1:?usage: growth.sh DIR [draw]}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
if [ "${2:-}" != draw ]; then
	(cd "$root" && go test -run '^$' -bench 'Growth|Subscribers' -benchtime "${TIME:-300ms}" -count "${COUNT:-3}" ./registry) | tee "$dir/growth.txt.new"
	mv "$dir/growth.txt.new" "$dir/growth.txt"
fi
plot=$(mktemp -d)
trap 'rm -rf "$plot"' EXIT
(cd "$here" && go build -o "$plot/nsplot" ./cmd/nsplot)
curve() { # file, series, unit, title, x
	"$plot/nsplot" -series "$2" -unit "$3" -title "$4" -x "$5" <"$dir/growth.txt" >"$dir/$1.svg"
}
curve topics 'Growth/topics=(\d+)/(\w+)' ns/op 'Cost by the number of topics' 'topics in the registry, on 3 of 10 brokers each'
curve brokers 'Growth/brokers=(\d+)/(\w+)' ns/op 'Cost by the number of brokers' 'brokers that share 10,000 topics'
curve memory-topics 'Growth/topics=(\d+)/lookup' B/part 'Memory for a topic on a broker' 'topics in the registry'
curve memory-brokers 'Growth/brokers=(\d+)/lookup' B/part 'Memory for a topic on a broker' 'brokers that share 10,000 topics'
curve subscribers 'Subscribers/subscribers=(\d+)' ns/op 'A change by the number of subscribers' 'subscribers'
