#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares a store with its server by `verify` in three cases: both are equal, three readings differ, or
# every bucket of digests differs. Prints the wall time, and the peak memory of client and server. The limits
# are 60 s, and 160 MiB for the client. Builds the release program first.
#   Tests/Benchmarks/verify.sh [ROWS] [RUNS]
# GLUCOPORT_PROGRAM names another program, for example that of a package.
set -euo pipefail
# A fixed time zone, so that the time zone of this machine has no effect.
export GLUCOPORT_TIMEZONE=UTC
cd "$(dirname "$0")/../.."
rows=${1:-2000000} runs=${2:-3} limit=60 memory=160
program=${GLUCOPORT_PROGRAM:-}
if [ -z "$program" ]; then
  swift build -c release --static-swift-stdlib --product glucoport
  program=$(swift build -c release --static-swift-stdlib --show-bin-path)/glucoport
fi
folder=$(mktemp -d)
server=
stop() {
  if [ -n "$server" ]; then kill -TERM "$server" 2>/dev/null && wait "$server" || true; fi
  server=
}
trap 'stop; rm -rf "$folder"' EXIT
export GLUCOPORT_STORE=$folder/a.db

serve() {
  : >"$folder/out"
  "$program" serve --quiet --data "$folder/data" --listen 127.0.0.1:0 >"$folder/out" & server=$!
  until grep -q listening "$folder/out"; do kill -0 "$server" && sleep 0.05; done
  url=$(sed 's/listening on //' "$folder/out")
  "$program" remote set "$url" --token-file "$folder/token" >/dev/null
}

awk -v rows="$rows" 'BEGIN {
  print "time,glucose (mg/dL)"
  for (n = 0; n < rows; n++) printf "%d,%d\n", 1000000000 + n * 300, 70 + n % 200 }' >"$folder/all.csv"
(umask 077 && "$program" serve token add bench --role write --logbook bench --data "$folder/data" >"$folder/token")
"$program" import --quiet --timezone UTC "$folder/all.csv"
serve
"$program" upload --quiet
failed=0
printf '%-20s %8s %8s %11s %11s\n' sides 'wall s' 'cpu s' 'client MiB' 'server MiB'

# measure NAME STATUS: measures the fastest of several runs of verify. Each run must end with this status.
measure() {
  : >"$folder/times"
  for _ in $(seq "$runs"); do
    local status=0
    command time -a -q -f '%e %U %M' -o "$folder/times" "$program" verify --json >"$folder/found" || status=$?
    if [ "$status" != "$2" ]; then echo "verify ended with $status" >&2; failed=1; fi
  done
  read -r wall cpu kib < <(sort -n "$folder/times" | head -1)
  printf '%-20s %8.2f %8.2f %11.1f %11.1f\n' "$1" "$wall" "$cpu" "$(awk -v k="$kib" 'BEGIN { print k / 1024 }')" \
    "$(awk '/VmHWM/ { print $2 / 1024 }' "/proc/$server/status")"
  awk -v w="$wall" -v l="$limit" -v k="$kib" -v m="$memory" 'BEGIN { exit w >= l || k / 1024 >= m }' || failed=1
}

# without CONDITION: deletes readings directly from the file of the server.
without() {
  stop
  sqlite3 "$(ls "$folder"/data/logbooks/*.db)" "DROP TRIGGER reading_stays; DELETE FROM reading WHERE $1;
    CREATE TRIGGER reading_stays BEFORE DELETE ON reading BEGIN SELECT RAISE(ABORT, 'readings are never deleted'); END"
  serve
}

measure 'equal' 0
without 'seq IN (1, 777, 4242)'
measure 'three differ' 3
without 'seq % 100 = 50'
measure 'every bucket differs' 3
exit $failed
