#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures commands in a store of 100 million readings, and in one of a million with the same density. Checks
# these limits:
# - Some commands take at most twice the processor time that they take with the smaller store, plus 50 ms.
#   They are an import of a day, the newest readings, the status, the figures of 14 days, and a report of 90
#   days.
# - A backup copies the whole file, and an undo reads the whole table of readings, which has no index over
#   imports. Their time for each reading at most doubles.
# - The time of a verify for each reading at most doubles, too, since it reads and compares everything. It has
#   at most 10 million readings, since a server keeps at most 20 million of a logbook.
#
# Prints wall time and processor time. The limits are for the processor time, which other programs of the
# machine change less. Ten sensors take turns, with one reading every ten seconds. Needs 12 GB of disk. Builds
# the release program first.
#   Tests/Benchmarks/scale.sh [ROWS [RUNS]]
# GLUCOPORT_PROGRAM names another program, for example that of a package.
set -euo pipefail
# A fixed time zone, so that the time zone of this machine has no effect.
export GLUCOPORT_TIMEZONE=UTC
cd "$(dirname "$0")/../.."
rows=${1:-100000000} runs=${2:-3} few=1000000
program=${GLUCOPORT_PROGRAM:-}
if [ -z "$program" ]; then
  swift build -c release --static-swift-stdlib --product glucoport
  program=$(swift build -c release --static-swift-stdlib --show-bin-path)/glucoport
fi
program=$(realpath "$program")
folder=$(mktemp -d)
server=
stop() {
  if [ -n "$server" ]; then kill -TERM "$server" 2>/dev/null && wait "$server" || true; fi
  server=
}
trap 'stop; rm -rf "$folder"' EXIT
export XDG_DATA_HOME=$folder/data XDG_CONFIG_HOME=$folder/configuration

# The readings of both stores end at the first second of 2026.
end=1767225600 day=8640
# readings FIRST COUNT: prints a table that begins at this second.
readings() {
  awk -v first="$1" -v count="$2" 'BEGIN {
    print "time,glucose (mg/dL),device"
    for (n = 0; n < count; n++) {
      printf "%d,%d,sensor-%d\n", first + n * 10, 120 + int(60 * sin((first + n) / 3000)) + n % 7, n % 10
    } }'
}

# timed COMMAND…: adds the wall and processor time of a command to $folder/times.
timed() {
  local status=0
  command time -f '%e %U %S %M' -o "$folder/time" "$@" >"$folder/output" 2>"$folder/messages" || status=$?
  if [ "$status" != 0 ]; then
    cat "$folder/messages" >&2
    echo "scale.sh: ended with $status: $*" >&2
    exit 70
  fi
  awk '{ print $1, $2 + $3, $4 }' "$folder/time" >>"$folder/times"
}
# fastest NAME: stores the times of the fastest run of a command for the current size.
fastest() {
  sort -k 2n "$folder/times" | head -1 >"$folder/$size.$1"
  : >"$folder/times"
}
# each NAME COMMAND…: measures a command that changes nothing.
each() {
  local name=$1
  shift
  for _ in $(seq "$runs"); do timed "$@"; done
  fastest "$name"
}

: >"$folder/times"
for size in "$few" "$rows"; do
  export GLUCOPORT_STORE=$folder/$size/logbook.db
  readings $((end - 10 * size)) "$size" | timed "$program" import --quiet --timezone UTC -
  fastest import
  : >"$folder/undo"
  for run in $(seq "$runs"); do
    readings $((end + run * 10 * day)) "$day" >"$folder/day.csv"
    timed "$program" import --quiet --timezone UTC "$folder/day.csv"
    cp "$folder/times" "$folder/imports"
    : >"$folder/times"
    timed "$program" undo --yes --quiet
    cat "$folder/times" >>"$folder/undo"
    cp "$folder/imports" "$folder/times"
  done
  fastest day
  cp "$folder/undo" "$folder/times"
  fastest undo
  each list "$program" list --limit 5
  each status "$program" status
  each stats "$program" stats --since 2025-12-18 --until 2026-01-01
  each report "$program" report --since 2025-10-03 --until 2026-01-01 -o -
  timed "$program" backup "$folder/backup.db"
  fastest backup
  rm -f "$folder/backup.db"
done

most=$((rows < 10000000 ? rows : 10000000))
for size in "$few" "$most"; do
  export GLUCOPORT_STORE=$folder/synced-$size/logbook.db
  readings $((end - 10 * size)) "$size" | "$program" import --quiet --timezone UTC -
  (umask 077 && "$program" serve token add "bench-$size" --role write --logbook "bench-$size" \
    --data "$folder/served" >"$folder/token-$size")
  : >"$folder/out"
  "$program" serve --quiet --data "$folder/served" --listen 127.0.0.1:0 >"$folder/out" & server=$!
  until grep -q listening "$folder/out"; do kill -0 "$server" && sleep 0.05; done
  "$program" remote set "$(sed 's/listening on //' "$folder/out")" --token-file "$folder/token-$size" >/dev/null
  "$program" upload --quiet
  timed "$program" verify
  fastest verify
  readings "$end" 100 | "$program" import --quiet --timezone UTC -
  timed "$program" upload --quiet
  fastest upload
  stop
done

failed=0
# compare LIMIT NAME [SIZE]: prints the times for both sizes, and checks them. With `same`, the time may
# double. With `grows`, the time for each reading may double.
compare() {
  local small large
  small=$(cat "$folder/$few.$2") large=$(cat "$folder/${3:-$rows}.$2")
  awk -v limit="$1" -v name="$2" -v small="$small" -v large="$large" -v rows="${3:-$rows}" -v few="$few" 'BEGIN {
    split(small, s, " "); split(large, l, " ")
    most = limit == "same" ? 2 * s[2] + 0.05 : 2 * rows / few * (s[2] + 0.05)
    printf "%-8s %8.2f s %8.2f s  %8.2f s %8.2f s  %6.1f MiB %6.1f MiB  limit %.2f s%s\n", name, s[1], l[1], s[2], l[2],
      s[3] / 1024, l[3] / 1024, most, (l[2] > most ? "  TOO SLOW" : "")
    exit (l[2] > most) }' || failed=1
}
printf 'wall time, processor time and memory at %s and at %s readings; verify and an upload of 100 at %s and %s\n' "$few" "$rows" "$few" "$most"
compare grows import
for name in day list status stats report; do compare same "$name"; done
for name in undo backup; do compare grows "$name"; done
compare grows verify "$most"
compare same upload "$most"
exit $failed
