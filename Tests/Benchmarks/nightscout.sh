#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the first upload of readings to a Nightscout site with the same bulk posts, sent by curl to an empty site. Both
# are measured in one run. Prints the wall times and the number of requests. The site is a small Python program. A real
# site takes longer for the same posts, so the ratio with a real site is smaller. Builds the release program first.
#   Tests/Benchmarks/nightscout.sh [ROWS]
set -euo pipefail
# A fixed time zone, so that the time zone of this machine has no effect.
export GLUCOPORT_TIMEZONE=UTC
cd "$(dirname "$0")/../.."
rows=${1:-100000}
swift build -c release --static-swift-stdlib --product glucoport
program=$(swift build -c release --static-swift-stdlib --show-bin-path)/glucoport
folder=$(mktemp -d)
site=
stop() { if [ -n "$site" ]; then kill "$site" && wait "$site" || true; fi; site=; }
trap 'stop; rm -rf "$folder"' EXIT

# serve [FOLDER]: starts an empty site that keeps the bodies of its posts in the folder.
serve() {
  : >"$folder/port"
  python3 Tests/Benchmarks/nightscout-site.py "$@" >"$folder/port" & site=$!
  until [ -s "$folder/port" ]; do sleep 0.05; done
  url=http://127.0.0.1:$(cat "$folder/port")
}
# span COMMAND…: the wall time of the command in seconds.
span() {
  local start=$EPOCHREALTIME
  "$@" >/dev/null
  awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f\n", b - a }'
}

awk -v rows="$rows" 'BEGIN {
  print "time,glucose (mg/dL)"
  for (n = 0; n < rows; n++) printf "%d,%d\n", 1600000000 + n * 300, 70 + n % 200 }' >"$folder/readings.csv"
"$program" import --quiet --timezone Europe/Madrid --store "$folder/logbook.db" "$folder/readings.csv"

mkdir "$folder/posts"
serve "$folder/posts"
(umask 077 && echo bench-0123456789abcdef >"$folder/token")
"$program" remote set "$url" --type nightscout --token-file "$folder/token" --store "$folder/logbook.db" >/dev/null
ours=$(span "$program" upload --push-only --quiet --store "$folder/logbook.db")
stop
pending=$(sqlite3 -readonly "$folder/logbook.db" 'SELECT count(*) FROM reading WHERE uploaded = 0')

serve
# curl sends all posts over one connection, as glucoport's upload does.
for post in "$folder"/posts/*; do
  printf 'next\nurl = "%s/api/v1/entries.json"\nheader = "Content-Type: application/json"\ndata-binary = "@%s"\noutput = "/dev/null"\n' \
    "$url" "$post"
done | tail -n +2 >"$folder/curl"
bare=$(span curl -sS --config "$folder/curl")
stop
awk -v rows="$rows" -v ours="$ours" -v bare="$bare" -v left="$pending" -v posts="$(find "$folder/posts" -type f | wc -l)" 'BEGIN {
  printf "%d readings in %d bulk posts: upload %.2f s, the posts alone %.2f s (%.2fx), %d left\n", rows, posts, ours,
    bare, ours / bare, left }'
