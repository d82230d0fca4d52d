#!/bin/sh
# Keeps a broker registered at every name server until it is told to end. See README.md.
place=/api/v1/brokers/${BROKER:-bridge-1}/members/0
statement='{"clusterName":"DefaultCluster","brokerAddr":"'${ADDRESS:-127.0.0.1:10911}'","heartbeatTimeoutMillis":'${TTL:-60000}',
  "topicConfigTable":{"Bridged":{"readQueueNums":4,"writeQueueNums":4}}}'

# ask METHOD URL [BODY] prints the answer and, after a blank, its status. The token stays
# out of the list of processes.
ask() {
  printf 'header = "Authorization: Bearer %s"\nheader = "Content-Type: application/json"\n' "$TOKEN" |
    curl -sK - -m 10 -w ' %{http_code}' -X "$1" "$2" --data-binary "${3-}"
}

# keep SERVER
keep() {
  known='' failures=1
  trap 'ask DELETE "$1$place"; exit 0' TERM
  while :; do
    if [ -n "$known" ]; then
      answer=$(ask POST "$1$place/heartbeat")
    else
      answer=$(ask PUT "$1$place" "$statement")
    fi
    case ${answer##* }/$known in
      2*)
        known=yes failures=1
        millis=$(printf %s "$answer" | sed -n 's/.*"nextHeartbeatMillis":\([0-9]*\).*/\1/p')
        pause=$(awk -v m="$millis" 'BEGIN { srand(); print m / 1000 * (0.9 + rand() / 5) }')
        ;;
      404/yes) # forgotten, or restarted: register again
        known=''
        continue
        ;;
      000/* | 429/* | 5*)
        echo "$1 $answer"
        pause=$failures failures=$((failures * 2 > 15 ? 15 : failures * 2))
        ;;
      *) # 409: another has the place
        echo "$1 $answer"
        exit 1
        ;;
    esac
    sleep "$pause" &
    wait $! # unlike sleep itself, a signal ends it
  done
}

kids=''
trap 'kill -TERM $kids' TERM
for server in ${NAMESERVERS:-http://127.0.0.1:8876}; do
  keep "$server" &
  kids="$kids $!"
done
wait
wait # the first one ends with the signal
