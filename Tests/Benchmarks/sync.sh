#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares `upload` through loopback with the import of the same rows from CSV, with one curl request, and
# with an upload of a small store. Everything is measured in one run on one machine. Prints wall time,
# processor time, memory and transferred bytes. Builds the release program first.
#   Tests/Benchmarks/sync.sh [ROWS] [RUNS]
set -euo pipefail
# A fixed time zone, so that the time zone of this machine has no effect.
export GLUCOPORT_TIMEZONE=Europe/Madrid
cd "$(dirname "$0")/../.."
rows=${1:-1000000} runs=${2:-3} few=1000
swift build -c release --static-swift-stdlib --product glucoport
program=$(swift build -c release --static-swift-stdlib --show-bin-path)/glucoport
folder=$(mktemp -d)
server=
proxy=
stop() {
  if [ -n "$server" ]; then kill -TERM "$server" 2>/dev/null && wait "$server" || true; fi
  server=
}
trap 'stop; [ -z "$proxy" ] || kill "$proxy" 2>/dev/null; rm -rf "$folder"' EXIT

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
say() { printf '%-44s %s\n' "$1" "$2"; }

# serve NAME: starts a server with a data folder of this name. Writes a write token to $folder/NAME.token.
serve() {
  rm -f "$folder/$1.token"
  (umask 077 && "$program" serve token add "bench $RANDOM$RANDOM" --role write --logbook bench \
    --data "$folder/$1" >"$folder/$1.token")
  : >"$folder/out"
  "$program" serve --quiet --data "$folder/$1" --listen 127.0.0.1:0 >"$folder/out" & server=$!
  until grep -q listening "$folder/out"; do kill -0 "$server" && sleep 0.05; done
  url=$(sed 's/listening on //' "$folder/out")
  token=$folder/$1.token
}
# The peak memory of the server in KiB, and its processor time until now in seconds.
server_memory() { awk '/VmHWM/ { print $2 }' "/proc/$server/status"; }
server_time() { awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) / hz }' "/proc/$server/stat"; }

# timed COMMAND…: runs the command, and sets wall, cpu and memory.
timed() {
  command time -f '%e %U %S %M' -o "$folder/time" "$@" >/dev/null
  read -r wall user system memory <"$folder/time"
  cpu=$(awk -v u="$user" -v s="$system" 'BEGIN { print u + s }')
}
import() { timed "$program" import --quiet --timezone Europe/Madrid --store "$folder/$1.db" "$2"; }
connect() { "$program" remote set "$url" --token-file "$token" --store "$folder/$1.db" >/dev/null; }
upload() { timed "$program" upload --quiet --store "$folder/$1.db"; }
# both: the sum of the processor time of the command, and that of the server since $before was set.
both() { awk -v c="$cpu" -v s="$(server_time)" -v b="$before" 'BEGIN { print c + s - b }'; }
told() {
  say "$1" "$(printf '%.2f s (%sx), processor %.2f s (%sx), client %.1f MiB, server %.1f MiB' "$wall" \
    "$(ratio "$wall" "$import_wall")" "$(both)" "$(ratio "$(both)" "$import_cpu")" \
    "$(ratio "$memory" 1024)" "$(ratio "$(server_memory)" 1024)")"
}

python3 Tests/Benchmarks/generate.py "$folder" "$rows" generic.csv
printf '%s rows of generic.csv, load %s\n' "$rows" "$(cut -d ' ' -f 1 /proc/loadavg)"
for run in $(seq "$runs"); do
  import "full-$run" "$folder/generic.csv"
  import_wall=$wall import_cpu=$cpu
  say "import" "$(printf '%.2f s, processor %.2f s, %.1f MiB' "$wall" "$cpu" "$(ratio "$memory" 1024)")"
  serve "data-$run"
  connect "full-$run"
  before=$(server_time)
  upload "full-$run"
  told "first upload"
  connect "empty-$run"
  before=$(server_time)
  upload "empty-$run"
  told "pull into an empty store"
  [ "$run" = "$runs" ] || stop
done

# The transferred bytes, counted by a proxy for a separate server.
stored=$(sqlite3 -readonly "$folder/full-$runs.db" 'SELECT count(*) FROM reading')
stop
serve wire
python3 Tests/Benchmarks/counting-proxy.py "${url##*:}" "$folder/counts" >"$folder/port" & proxy=$!
until [ -s "$folder/port" ]; do sleep 0.05; done
cp "$folder/full-$runs.db" "$folder/wire.db"
url=http://127.0.0.1:$(cat "$folder/port")
"$program" remote set "$url" --token-file "$token" --store "$folder/wire.db" --new-remote >/dev/null
upload wire
connect wired
upload wired
kill -TERM "$proxy" && wait "$proxy" || true
proxy=
read -r there back <"$folder/counts"
say "bytes on the wire per reading" "sent $(ratio "$there" "$stored"), fetched $(ratio "$back" "$stored")"
stop

# A hundred more readings are pushed by one store and pulled by another, with large stores and with small
# ones.
serve "data-$runs"
for name in full empty; do
  mv "$folder/$name-$runs.db" "$folder/$name.db"
done
"$program" remote set "$url" --token-file "$token" --store "$folder/full.db" >/dev/null
"$program" remote set "$url" --token-file "$token" --store "$folder/empty.db" >/dev/null
upload full
upload empty
hundred() {
  awk -v from="$1" 'BEGIN {
    print "time,glucose (mg/dL)"
    for (n = 0; n < 100; n++) printf "%d,%d\n", 1800000000 + (from + n) * 300, 70 + n }' >"$folder/hundred.csv"
}
# span COMMAND…: the wall time of the command in milliseconds.
span() {
  local start=$EPOCHREALTIME
  "$@" >/dev/null
  awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f\n", (b - a) * 1000 }'
}
median() { sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
quick() { "$program" upload --quiet --store "$folder/$1.db"; }
# delta FULL EMPTY: sets the median wall times of a push of a hundred readings by FULL, and of their pull by EMPTY.
delta() {
  : >"$folder/pushes" && : >"$folder/pulls"
  for round in $(seq 15); do
    hundred $((round * 100))
    "$program" import --quiet --timezone Europe/Madrid --store "$folder/$1.db" "$folder/hundred.csv"
    span quick "$1" >>"$folder/pushes"
    span quick "$2" >>"$folder/pulls"
  done
  push=$(median <"$folder/pushes") pull=$(median <"$folder/pulls")
}
delta full empty
full_push=$push full_pull=$pull

# An upload without changes, compared with one curl request.
quick full
header="Authorization: Bearer $(cat "$token")"
for _ in $(seq 50); do
  span quick full >>"$folder/idle"
  span curl -sS -H "$header" "$url/v1/logbook" >>"$folder/curl"
done
idle=$(median <"$folder/idle") curl=$(median <"$folder/curl")
say "upload with nothing to do, beside curl" "$idle ms, $curl ms ($(ratio "$idle" "$curl")x)"
stop

head -n $((few + 1)) "$folder/generic.csv" >"$folder/few.csv"
serve few
import few "$folder/few.csv"
connect few
upload few
connect other
upload other
delta few other
say "push of 100 among $stored, among $few" "$full_push ms, $push ms ($(ratio "$full_push" "$push")x)"
say "pull of 100 among $stored, among $few" "$full_pull ms, $pull ms ($(ratio "$full_pull" "$pull")x)"
