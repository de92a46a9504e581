#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares imports of generated inputs with the sqlite3 shell, with a program in C, and with sqlite-utils and DuckDB if
# they are installed. Both are on PyPI: sqlite-utils, and duckdb with duckdb-extension-sqlite-scanner. Prints ratios of
# the median wall times of one run. Builds the release program first.
#   Tests/Benchmarks/import.sh [ROWS] [RUNS]
#   Tests/Benchmarks/import.sh --memory     the peak memory of ten million rows, and whether it is below 48 MiB; and of a
#                                           million, whether it is within 16 MiB above that of --version
# With GLUCOPORT_PROGRAM, that program is measured and none is built. Only the program of a package keeps the second limit.
set -euo pipefail
# A fixed time zone, so that the time zone of this machine has no effect.
export GLUCOPORT_TIMEZONE=UTC
cd "$(dirname "$0")/../.."
memory=
if [ "${1:-}" = --memory ]; then memory=1 && shift; fi
rows=${1:-1000000} runs=${2:-5}
program=${GLUCOPORT_PROGRAM:-}
if [ -z "$program" ]; then
  swift build -c release --static-swift-stdlib --product glucoport
  program=$(swift build -c release --static-swift-stdlib --show-bin-path)/glucoport
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

if [ -n "$memory" ]; then
  if [ -n "${GLUCOPORT_PROGRAM:-}" ]; then
    python3 Tests/Benchmarks/generate.py "$folder" 1000000 generic.csv
    for _ in $(seq "$runs"); do
      rm -rf "$folder/ours"
      command time -f %M -o "$folder/version" "$program" --version >/dev/null
      command time -f %M -o "$folder/time" "$program" import --quiet --timezone Europe/Madrid \
        --store "$folder/ours/logbook.db" "$folder/generic.csv"
      paste "$folder/time" "$folder/version"
    done | sort -n | awk '{ more[NR] = ($1 - $2) / 1024 } END {
      most = more[int((NR + 1) / 2)]
      printf "1,000,000 rows of generic.csv: peak %.1f MiB above --version\n", most
      if (most > 16) { print "over 16 MiB: write order.symbols again, see Samples/packaging/README.md" >"/dev/stderr"; exit 1 } }'
  fi
  python3 Tests/Benchmarks/generate.py "$folder" 10000000 generic.csv
  command time -f '%e %M' -o "$folder/time" "$program" import --quiet --timezone Europe/Madrid \
    --store "$folder/logbook.db" "$folder/generic.csv"
  read -r seconds peak <"$folder/time"
  awk -v s="$seconds" -v k="$peak" 'BEGIN {
    printf "10,000,000 rows of generic.csv: %.1f s, peak %.1f MiB\n", s, k / 1024; exit k >= 48 * 1024 }'
  exit
fi

python3 Tests/Benchmarks/generate.py "$folder" "$rows"
cc -O2 -o "$folder/c-peer" Tests/Benchmarks/c-peer.c -lsqlite3

# median COMMAND…: the median wall time in seconds. Writes the last run's peak memory in KiB to $folder/memory.
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

# peer NAME COMMAND…: prints the time of another program for generic.csv, and that of an import by glucoport
# right after it.
peer() {
  local name=$1 theirs ours
  shift
  before=(rm -f "$folder/peer.db" "$folder/peer.db-wal" "$folder/peer.db-shm")
  read -r theirs _ < <(median "$@")
  before=(rm -rf "$folder/ours")
  read -r ours _ < <(ours "$folder/generic.csv")
  printf '%-12s on generic.csv: %.2f s, ours %.2f s, theirs/ours %s, ours/theirs %s\n' "$name" "$theirs" "$ours" \
    "$(ratio "$theirs" "$ours")" "$(ratio "$ours" "$theirs")"
}

peer C "$folder/c-peer" "$folder/generic.csv" "$folder/peer.db"
if python3 Tests/Benchmarks/duckdb-peer.py --check 2>/dev/null; then
  peer DuckDB python3 Tests/Benchmarks/duckdb-peer.py "$folder/generic.csv" "$folder/peer.db"
fi
if command -v sqlite-utils >/dev/null; then
  runs=1 peer sqlite-utils sqlite-utils insert "$folder/peer.db" reading "$folder/generic.csv" --csv \
    --pk time --pk device --pk value --ignore
fi

if command -v hyperfine >/dev/null; then
  before=(rm -rf "$folder/ours")
  ours "$folder/generic.csv" >/dev/null
  hyperfine --warmup 3 -N "$program --version" "$program status --store $folder/ours/logbook.db" "sqlite3 --version"
fi
