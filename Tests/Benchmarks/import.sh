#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares imports with the sqlite3 shell (and with sqlite-utils where it is installed) on generated inputs: medians
# of wall time in one run, as ratios. Builds the release program first.
#   Tests/Benchmarks/import.sh [ROWS] [RUNS]
set -euo pipefail
cd "$(dirname "$0")/../.."
rows=${1:-1000000} runs=${2:-5}
swift build -c release --static-swift-stdlib --product glucoport
program=$(swift build -c release --static-swift-stdlib --show-bin-path)/glucoport
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 Tests/Benchmarks/generate.py "$folder" "$rows"

# median COMMAND…: the median wall time in seconds; the last run's peak memory in KiB goes to $folder/memory.
median() {
  for _ in $(seq "$runs"); do
    "${before[@]}"
    command time -f '%e %M' -o "$folder/time" "$@" >/dev/null
    cat "$folder/time"
  done | sort -n | awk '{ time[NR] = $1; if ($2 > most) most = $2 } END { print time[int((NR + 1) / 2)], most }'
}

ours() { median "$program" import --quiet --timezone Europe/Madrid --store "$folder/ours/logbook.db" "$1"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }

printf '%-18s %9s %9s %8s %9s %11s\n' input 'ours s' 'shell s' 'shell/us' 'again/us' 'peak MiB'
for input in generic.csv libreview.csv clarity.csv nightscout.json generic.ndjson shuffled.csv; do
  before=(rm -rf "$folder/ours")
  read -r time memory < <(ours "$folder/$input")
  before=(true)
  read -r again _ < <(ours "$folder/$input")
  read -r shell _ < <(median bash Tests/Benchmarks/shell-peer.sh "$folder/$input" "$folder/shell.db")
  printf '%-18s %9.2f %9.2f %8s %9s %11.1f\n' "$input" "$time" "$shell" "$(ratio "$shell" "$time")" \
    "$(ratio "$again" "$time")" "$(awk -v k="$memory" 'BEGIN { print k / 1024 }')"
done

if command -v sqlite-utils >/dev/null; then
  before=(rm -f "$folder/utils.db")
  read -r utils _ < <(runs=1 median sqlite-utils insert "$folder/utils.db" reading "$folder/generic.csv" --csv \
    --pk time --pk device --pk value --ignore)
  before=(rm -rf "$folder/ours")
  read -r time _ < <(ours "$folder/generic.csv")
  echo "sqlite-utils on generic.csv: $utils s, $(ratio "$utils" "$time") times ours"
fi

if command -v hyperfine >/dev/null; then
  before=(rm -rf "$folder/ours")
  ours "$folder/generic.csv" >/dev/null
  hyperfine --warmup 3 -N "$program --version" "$program status --store $folder/ours/logbook.db" "sqlite3 --version"
fi
