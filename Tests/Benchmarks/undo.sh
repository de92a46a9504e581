#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Undoes and redoes imports of a million readings, and checks the limits. The fastest of several runs takes less than 2 s,
# and the synced withdrawals have at most 4 bytes per reading. The inputs are sensor readings at equal intervals, sensor
# readings at varying intervals, and finger sticks at any second with any value. Builds the release program first.
#   Tests/Benchmarks/undo.sh [ROWS] [RUNS]
set -euo pipefail
# A fixed time zone, so that the time zone of this machine has no effect.
export GLUCOPORT_TIMEZONE=UTC
cd "$(dirname "$0")/../.."
rows=${1:-1000000} runs=${2:-3}
swift build -c release --static-swift-stdlib --product glucoport
program=$(swift build -c release --static-swift-stdlib --show-bin-path)/glucoport
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# rows NAME: prints one line for each reading.
rows() {
  python3 - "$1" "$rows" <<'PYTHON'
import datetime, random, sys
name, rows = sys.argv[1], int(sys.argv[2])
generator, seconds, value = random.Random(1), 0, 120
start = datetime.datetime(1990, 1, 1)
print("time,glucose (mg/dL)")
for row in range(rows):
    seconds += {"regular": 300, "jitter": generator.randint(270, 330), "sticks": generator.randint(1, 1800)}[name]
    value = max(45, min(390, value + generator.randint(-60, 60)))
    print(f"{(start + datetime.timedelta(seconds=seconds)).isoformat()},{value}")
PYTHON
}

failed=0
printf '%-10s %9s %9s %10s %11s\n' input 'undo s' 'redo s' 'bytes each' 'peak MiB'
for input in regular jitter sticks; do
  kind=cbg
  [ "$input" = sticks ] && kind=smbg
  rows "$input" >"$folder/$input.csv"
  store="$folder/$input/logbook.db"
  "$program" import --quiet --kind "$kind" --timezone UTC --store "$store" "$folder/$input.csv"
  : >"$folder/undo"
  : >"$folder/redo"
  for _ in $(seq "$runs"); do
    command time -a -f '%e %M' -o "$folder/undo" "$program" undo 1 --quiet --store "$store"
    bytes=$(sqlite3 "$store" "SELECT sum(length(CAST(fields AS BLOB))) FROM record
      WHERE kind = 'withdrawal' AND json_extract(fields, '\$.hidden')")
    command time -a -f '%e %M' -o "$folder/redo" "$program" redo 1 --quiet --store "$store"
  done
  undo=$(sort -n "$folder/undo" | head -1) redo=$(sort -n "$folder/redo" | head -1)
  awk -v input="$input" -v undo="$undo" -v redo="$redo" -v bytes="$bytes" -v rows="$rows" 'BEGIN {
    split(undo, u, " "); split(redo, r, " "); each = bytes / rows
    printf "%-10s %9.2f %9.2f %10.4f %11.1f\n", input, u[1], r[1], each, u[2] / 1024
    exit u[1] >= 2 || r[1] >= 2 || each > 4 }' || failed=1
done
exit $failed
