#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures commands that read stores of generated inputs, and checks limits for the median wall time. The
# times are compared with an import by the sqlite3 shell, because glucoport's own import may become faster:
# - An export takes at most 0.9 times as long as the shell's import of the same rows.
# - Statistics and a report over all rows take at most 0.45 times as long.
# - A report of 90 days takes less than 1 s and 2 MB.
# - The newest readings, the newest days, one reading and the status take less than 30 ms more than a program
#   start.
# Builds the release program first.
#   Tests/Benchmarks/look.sh [ROWS] [RUNS]
set -euo pipefail
# A fixed time zone, so that the time zone of this machine has no effect.
export GLUCOPORT_TIMEZONE=UTC
cd "$(dirname "$0")/../.."
rows=${1:-1000000} runs=${2:-5}
swift build -c release --static-swift-stdlib --product glucoport
program=$(swift build -c release --static-swift-stdlib --show-bin-path)/glucoport
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 Tests/Benchmarks/generate.py "$folder" "$rows"

# median COMMAND…: the median wall time in milliseconds.
median() {
  for _ in $(seq "$runs"); do
    "${before[@]}"
    local start=$EPOCHREALTIME
    "$@" >"$folder/output"
    awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f\n", (b - a) * 1000 }'
  done | sort -n | awk '{ time[NR] = $1 } END { print time[int((NR + 1) / 2)] }'
}

failed=0
# check NAME MILLISECONDS LIMIT: prints one line of the result.
check() {
  awk -v name="$1" -v time="$2" -v limit="$3" 'BEGIN {
    printf "  %-24s %9.1f ms, limit %9.1f ms%s\n", name, time, limit, (time > limit ? "  TOO SLOW" : "")
    exit (time > limit) }' || failed=1
}
times() { awk -v a="$1" -v b="$2" 'BEGIN { print a * b }'; }

before=(true)
start=$(median "$program" --version)
look=$(awk -v s="$start" 'BEGIN { print s + 30 }')
printf 'start of the program: %s ms\n' "$start"
for input in generic.csv clarity.csv libreview.csv nightscout.json; do
  store="$folder/store/logbook.db"
  before=(rm -rf "$folder/store")
  import=$(median "$program" import --quiet --timezone Europe/Madrid --store "$store" "$folder/$input")
  before=(true)
  shell=$(median bash Tests/Benchmarks/shell-peer.sh "$folder/$input" "$folder/shell.db")
  printf '%s, import: %s ms, by the shell: %s ms\n' "$input" "$import" "$shell"
  check 'export' "$(median "$program" export --store "$store")" "$(times "$shell" 0.9)"
  check 'export --format ndjson' "$(median "$program" export --format ndjson --store "$store")" "$(times "$shell" 0.9)"
  check 'stats --since' "$(median "$program" stats --since 1990-01-01 --store "$store")" "$(times "$shell" 0.45)"
  check 'report --since 0001' "$(median "$program" report --since 0001-01-01 -o - --store "$store")" "$(times "$shell" 0.45)"
  check 'report --last 90d' "$(median "$program" report --last 90d -o - --store "$store")" 1000
  bytes=$(stat -c %s "$folder/output")
  if [ "$bytes" -gt 2000000 ]; then echo "  the report has $bytes bytes" && failed=1; fi
  check 'list --limit 5' "$(median "$program" list --limit 5 --long --store "$store")" "$look"
  id=$(grep -o 'r[0-9]*[.][a-z]*[.][^ ]*' "$folder/output" | tail -1)
  check 'show' "$(median "$program" show "$id" --store "$store")" "$look"
  check 'list --days --limit 5' "$(median "$program" list --days --limit 5 --store "$store")" "$look"
  check 'list --kind insulin' "$(median "$program" list --kind insulin --limit 5 --store "$store")" "$look"
  check 'status' "$(median "$program" status --store "$store")" "$look"
done
exit $failed
