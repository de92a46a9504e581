#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the release program, and imports the sample exports into a new store in a temporary folder. Shows what is in
# the store, and copies it into a second store through a server. As root, it installs what is missing; otherwise it
# prints what to install. GLUCOPORT_PROGRAM names a program that is built already.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }

program=${GLUCOPORT_PROGRAM:-}
if [ -z "$program" ]; then
  say "packages"
  Tests/install-packages.sh libsqlite3-dev zlib1g-dev liblzma-dev libbz2-dev libzstd-dev libexpat1-dev libusb-1.0-0-dev
  command -v swift >/dev/null || { echo "Please install Swift 6.2 or newer from swift.org" >&2; exit 69; }

  say "build"
  # The program does not search its own folder for libraries: other users may be able to write a library there.
  swift build -c release --static-swift-stdlib --disable-local-rpath --product glucoport
  program=$(swift build -c release --static-swift-stdlib --show-bin-path)/glucoport
fi

folder=$(mktemp -d)
server=
end() {
  if [ -n "$server" ]; then
    kill -TERM "$server" 2>/dev/null || true
    wait "$server" || true
  fi
  rm -rf "$folder"
}
trap end EXIT
export GLUCOPORT_STORE="$folder/logbook.db"

# Some samples contain broken rows on purpose. Status 3 means that these were rejected, and all other rows are
# stored.
import() { "$program" import "$@" || [ $? -eq 3 ]; }

say "import the sample exports"
import --timezone Europe/Madrid Samples/clarity/clarity-mgdl-en.csv
import Samples/libreview/libreview-mmol-nl-decimal-comma.csv \
  Samples/libre-desktop/libre-desktop-mmol-en.tsv Samples/mysugr/mysugr-mgdl-en.csv \
  Samples/nightscout/nightscout-entries-v1.json Samples/tidepool/tidepool.json Samples/glucoport/everything.ndjson

say "the store"
"$program" status

say "the latest readings"
"$program" list --limit 10 --long

say "the same again stores nothing twice"
import Samples/clarity/clarity-mgdl-en.csv

say "an import with the wrong time zone, its undo, and the right one"
printf 'time,glucose\n2026-05-06T08:00:00,12.4\n2026-05-06T12:00:00,15.6\n' >"$folder/diary.csv"
import --unit mmol/L --kind smbg --timezone America/New_York "$folder/diary.csv"
"$program" undo --yes
import --unit mmol/L --kind smbg --timezone Europe/Madrid "$folder/diary.csv"
"$program" list --since 2026-05-06 --until 2026-05-07

say "a server for this machine, on a port that the system chooses"
umask 077
for name in first second; do
  "$program" serve token add "$name" --role write --logbook anna --data "$folder/server" >"$folder/$name.token"
done
# The server writes its address into this file, which the loop may read before the server has begun.
: >"$folder/listening"
"$program" serve --quiet --data "$folder/server" --listen 127.0.0.1:0 >"$folder/listening" &
server=$!
until grep -q '^listening on' "$folder/listening"; do
  kill -0 "$server" || exit 69
  sleep 0.1
done
url=$(sed 's/^listening on //' "$folder/listening")

say "upload"
"$program" remote set "$url" --token-file "$folder/first.token"
"$program" upload

say "a second store fetches it and adds a record, and the first fetches that"
second=$folder/second.db
"$program" remote set "$url" --token-file "$folder/second.token" --zone theirs --store "$second"
"$program" upload --store "$second"
"$program" record add insulin 4.5 --subtype rapid --note "with dinner" --store "$second"
"$program" upload --store "$second"
"$program" upload

say "both hold the same"
digest() { "$program" export --format ndjson --store "$1" | sort | sha256sum; }
digest "$GLUCOPORT_STORE"
digest "$second"
[ "$(digest "$GLUCOPORT_STORE")" = "$(digest "$second")" ]
