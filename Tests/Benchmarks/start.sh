#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares short commands with known tools, in turns in one run. Compares --version with sqlite3 --version, and both status
# and an upload without changes with a curl request for the same logbook. Ends with an error above the limits of the
# project: 3 times sqlite3, 2 times curl. Builds the program of the packages first.
#   Tests/Benchmarks/start.sh [RUNS [PROGRAM]]
# If PROGRAM is given, measures this program. If the variable GLUCOPORT_BEFORE is set, also measures this older program.
set -euo pipefail
# A fixed time zone, so that the time zone of this machine has no effect.
export GLUCOPORT_TIMEZONE=UTC
cd "$(dirname "$0")/../.."
runs=${1:-100} program=${2:+$(realpath "$2")} before=${GLUCOPORT_BEFORE:+$(realpath "$GLUCOPORT_BEFORE")}
Tests/install-packages.sh sqlite3 curl
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$folder"' EXIT
if [ -z "$program" ]; then
  Samples/packaging/build.sh "$folder/packages" >/dev/null
  tar -xzf "$folder"/packages/*.tar.gz -C "$folder"
  program=$(echo "$folder"/glucoport_*/bin/glucoport)
fi

export XDG_DATA_HOME=$folder/data XDG_CONFIG_HOME=$folder/configuration GLUCOPORT_STORE=$folder/store/logbook.db
mkdir -m 700 "$folder/store"
(umask 077 && "$program" serve token add bench --role write --logbook bench --data "$folder/served" >"$folder/token")
: >"$folder/out"
"$program" serve --quiet --data "$folder/served" --listen 127.0.0.1:0 >"$folder/out" & server=$!
until grep -q listening "$folder/out"; do kill -0 "$server" && sleep 0.05; done
url=$(sed 's/listening on //' "$folder/out")
printf 'time,glucose (mg/dL)\n2026-03-01T08:00:00,99\n' | "$program" import - --quiet
"$program" remote set "$url" --token-file "$folder/token" >/dev/null
"$program" upload --quiet
printf 'silent\nshow-error\nurl = "%s/v1/logbook"\nheader = "Authorization: Bearer %s"\n' "$url" "$(cat "$folder/token")" \
  >"$folder/curl"

# The commands of a comparison. The times of the others are divided by that of the base command.
sqlite() { sqlite3 --version; }
request() { curl --config "$folder/curl"; }
version() { "$program" --version; }
status() { "$program" status; }
idle() { "$program" upload --quiet; }
older_version() { "$before" --version; }
older_status() { "$before" status; }
older_idle() { "$before" upload --quiet; }

failed=0
# compare LIMIT BASE COMMAND…: prints the medians of the wall times, and of the ratios to BASE in each turn.
# LIMIT is the highest ratio of the first COMMAND, and - means no limit.
compare() {
  local limit=$1 name line
  shift
  : >"$folder/times"
  # The first two turns are only a warm-up.
  for turn in $(seq -1 "$runs"); do
    line=
    for name in "$@"; do
      local start=$EPOCHREALTIME
      "$name" >"$folder/output"
      line+="$(((${EPOCHREALTIME/[.,]/} - ${start/[.,]/}))) "
    done
    if [ "$turn" -gt 0 ]; then echo "$line" >>"$folder/times"; fi
  done
  local column=0
  for name in "$@"; do
    column=$((column + 1))
    awk -v c="$column" '{ print $c }' "$folder/times" | sort -n >"$folder/sorted"
    awk -v c="$column" '{ print $c / $1 }' "$folder/times" | sort -n >"$folder/ratios"
    awk -v name="${name/_/ }" -v time="$(median "$folder/sorted")" -v ratio="$(median "$folder/ratios")" \
      -v limit="$([ "$column" = 2 ] && echo "$limit" || echo -)" 'BEGIN {
        printf "  %-16s %7.2f ms %6.2fx%s\n", name, time / 1000, ratio,
          (limit != "-" && ratio + 0 > limit + 0 ? "  MORE THAN " limit "x" : "")
        exit (limit != "-" && ratio + 0 > limit + 0) }' || failed=1
  done
}
median() { awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }' "$1"; }

echo "size: $(stat -Lc %s "$program") bytes${before:+, before $(stat -Lc %s "$before")}"
compare 3 sqlite version status ${before:+older_version older_status}
compare 2 request idle ${before:+older_idle}
exit "$failed"
