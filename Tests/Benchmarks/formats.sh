#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Imports a million rows of CareLink, Glooko, Apple Health and XLSX. Compares each import with the same number
# of rows of generic CSV, by processor time in user and kernel mode. The inputs take turns. The shortest of
# several runs is used, because other work on the machine has the smallest effect on it. The limits: CareLink
# and Glooko take at most 1.5 times as long, Apple Health 6 times, and XLSX 6 times. Each import takes less
# than 64 MiB of memory. Builds the release program first, unless PROGRAM is given.
set -euo pipefail
# A fixed time zone, so that the time zone of this machine has no effect.
export GLUCOPORT_TIMEZONE=UTC
rows=${1:-1000000} runs=${2:-5} program=${3:+$(realpath "$3")}
cd "$(dirname "$0")/../.."
if [ -z "$program" ]; then
  swift build -c release --static-swift-stdlib --product glucoport
  program=$(swift build -c release --static-swift-stdlib --show-bin-path)/glucoport
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 Tests/Benchmarks/generate-formats.py "$folder" "$rows"

inputs=(generic.csv carelink.csv glooko.zip export.xml sheet.xlsx)
limits=(1 1.5 1.5 6 6)
for _ in $(seq "$runs"); do
  for input in "${inputs[@]}"; do
    rm -rf "$folder/store"
    command time -a -f '%U %S %M' -o "$folder/$input.times" "$program" import --quiet --timezone Europe/Madrid \
      --store "$folder/store/logbook.db" "$folder/$input"
    sqlite3 "$folder/store/logbook.db" 'SELECT count(*) FROM reading' >"$folder/$input.count"
  done
done

# An import that loses rows would be fast, so the readings are counted. Only rows that generic CSV and its
# sheet repeat may be missing.
failed=0
printf '%-14s %9s %7s %6s %9s %10s\n' input 'cpu s' ratio limit 'peak MiB' readings
for index in "${!inputs[@]}"; do
  input=${inputs[$index]}
  awk -v input="$input" -v limit="${limits[$index]}" -v rows="$rows" -v folder="$folder" '
    { seconds = $1 + $2; if (!(FILENAME in least) || seconds < least[FILENAME]) least[FILENAME] = seconds }
    $3 > peak[FILENAME] { peak[FILENAME] = $3 }
    END {
      ours = folder "/" input ".times"; ratio = least[ours] / least[folder "/generic.csv.times"]
      getline readings <(folder "/" input ".count")
      printf "%-14s %9.2f %7.2f %6.1f %9.1f %10d\n", input, least[ours], ratio, limit, peak[ours] / 1024, readings
      exit ratio > limit || peak[ours] >= 64 * 1024 || readings < 0.95 * rows
    }' "$folder/generic.csv.times" "$folder/$input.times" || failed=1
done
exit $failed
