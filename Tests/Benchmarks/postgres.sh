#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares a server that keeps its data in PostgreSQL with one that keeps them in a folder. Measures a
# first upload, the same upload from another store, and a pull into an empty store. Everything is measured in
# one run on one machine. Needs postgresql-15.
#   Tests/Benchmarks/postgres.sh [ROWS] [RUNS]
# The program of GLUCOPORT_PROGRAM is measured, or the release program, which is built first.
set -euo pipefail
export GLUCOPORT_TIMEZONE=UTC
cd "$(dirname "$0")/../.."
rows=${1:-300000} runs=${2:-3}
if [ -z "${GLUCOPORT_PROGRAM:-}" ]; then
  swift build -c release --static-swift-stdlib --product glucoport
  GLUCOPORT_PROGRAM=$(swift build -c release --static-swift-stdlib --show-bin-path)/glucoport
fi
program=$GLUCOPORT_PROGRAM
binaries=$(dirname "$(ls /usr/lib/postgresql/*/bin/initdb | tail -1)")
folder=$(mktemp -d /tmp/gp-bench-XXXXXX)
chmod 755 "$folder"
server='' database=''
stop() {
  if [ -n "$server" ]; then kill -TERM "$server" 2>/dev/null && wait "$server" || true; fi
  server=
}
as=()
if [ "$(id -u)" -eq 0 ]; then
  as=(setpriv --reuid=postgres --regid=postgres --clear-groups)
  chown postgres "$folder"
fi
trap 'stop; [ -z "$database" ] || kill -QUIT "$(head -1 "$folder/data/postmaster.pid")" 2>/dev/null; sleep 0.2; rm -rf "$folder"' EXIT

"${as[@]}" "$binaries/initdb" -D "$folder/data" -A trust -U postgres -E UTF8 --locale=C >/dev/null
"${as[@]}" "$binaries/postgres" -D "$folder/data" -c listen_addresses= -c unix_socket_directories="$folder" \
  -c shared_buffers=256MB -c max_wal_size=4GB >"$folder/log" 2>&1 & database=$!
until "$binaries/pg_isready" -q -h "$folder"; do sleep 0.1; done
"$binaries/psql" -qX -h "$folder" -U postgres -c 'CREATE ROLE gp_owner LOGIN' -c 'CREATE ROLE gp_server LOGIN' \
  -c 'CREATE DATABASE gp OWNER gp_owner'
"$program" serve database prepare --database "host=$folder dbname=gp user=gp_owner" --grant-to gp_server >/dev/null

# serve OPTION VALUE NAME: starts a server with a new logbook of this name.
serve() {
  rm -f "$folder/token"
  (umask 077 && "$program" serve token add "$3" --role write --logbook "$3" "$1" "$2" >"$folder/token")
  : >"$folder/out"
  "$program" serve --quiet "$1" "$2" --listen 127.0.0.1:0 >"$folder/out" & server=$!
  until grep -q listening "$folder/out"; do kill -0 "$server" && sleep 0.05; done
  url=$(sed 's/listening on //' "$folder/out")
}
connect() { "$program" remote set "$url" --token-file "$folder/token" --store "$folder/$1.db" >/dev/null; }
upload() {
  command time -f '%e' -o "$folder/time" "$program" upload --quiet --store "$folder/$1.db"
  read -r wall <"$folder/time"
}

python3 Tests/Benchmarks/generate.py "$folder" "$rows" generic.csv
"$program" import --quiet --store "$folder/full.db" "$folder/generic.csv"
printf '%s rows, load %s\n' "$rows" "$(cut -d ' ' -f 1 /proc/loadavg)"
for run in $(seq "$runs"); do
  declare -A times=()
  for kind in folder database; do
    if [ "$kind" = folder ]; then serve --data "$folder/data-$run" "bench $run"
    else serve --database "host=$folder dbname=gp user=gp_server" "bench $run"; fi
    for act in first known; do
      cp "$folder/full.db" "$folder/$act.db"
      # For `known`, another store with the same readings is used. It is another node, so it sends all
      # readings again.
      [ "$act" = first ] || "$program" import --quiet --store "$folder/known-new.db" "$folder/generic.csv"
      name=$act
      [ "$act" = first ] || { mv "$folder/known-new.db" "$folder/known.db"; }
      connect "$name"
      upload "$name"
      times[$kind-$act]=$wall
    done
    connect "empty-$kind-$run"
    upload "empty-$kind-$run"
    times[$kind-pull]=$wall
    stop
  done
  for act in first known pull; do
    awk -v a="$act" -v f="${times[folder-$act]}" -v d="${times[database-$act]}" -v n="$rows" 'BEGIN {
      printf "%-6s folder %6.2f s (%7.0f/s)  database %6.2f s (%7.0f/s)  ratio %.2f\n", a, f, n / f, d, n / d, d / f }'
  done
done
