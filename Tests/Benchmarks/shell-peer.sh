#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Imports a benchmark input with the sqlite3 shell: first raw rows, then typed rows with the same unique key.
# shell-peer.sh INPUT STORE
set -euo pipefail
input=$1 store=$2
rm -f "$store" "$store"-wal "$store"-shm
key="PRIMARY KEY (device, kind, position_kind, position, value_bucket, occurrence)"
table="CREATE TABLE reading (device TEXT NOT NULL, kind TEXT NOT NULL, position_kind INTEGER NOT NULL,
  position INTEGER NOT NULL, value_bucket INTEGER NOT NULL, occurrence INTEGER NOT NULL, device_time TEXT NOT NULL,
  value REAL, unit TEXT NOT NULL, $key) WITHOUT ROWID;"
insert="INSERT OR IGNORE INTO reading SELECT"
case "$input" in
  *clarity.csv) select="\"Transmitter ID\", 'cbg', 1, CAST(\"Transmitter Time (Long Integer)\" AS INTEGER), 0, 0,
      \"Timestamp (YYYY-MM-DDThh:mm:ss)\", CAST(\"Glucose Value (mg/dL)\" AS REAL), 'mg/dL' FROM raw" skip=0 ;;
  *libreview.csv) select="\"Serial Number\", 'cbg', 0,
      unixepoch(substr(t, 7, 4) || '-' || substr(t, 4, 2) || '-' || substr(t, 1, 2) || substr(t, 11)), 0, 0, t,
      CAST(\"Historic Glucose mg/dL\" AS REAL), 'mg/dL'
      FROM (SELECT *, \"Device Timestamp\" AS t FROM raw)" skip=1 ;;
  *.csv) select="device, 'smbg', 0, unixepoch(substr(time, 1, 19)), CAST(round(value / 1.801559) AS INTEGER), 0,
      time, CAST(value AS REAL), unit FROM raw" skip=0 ;;
  *nightscout.json) select="json_extract(value, '\$.device'), 'cbg', 1, json_extract(value, '\$.date'), 0, 0,
      json_extract(value, '\$.dateString'), json_extract(value, '\$.sgv'), 'mg/dL'
      FROM json_each(CAST(readfile('$input') AS TEXT))" skip= ;;
  *.ndjson) select="json_extract(line, '\$.device'), 'smbg', 0, unixepoch(substr(json_extract(line, '\$.time'), 1, 19)),
      CAST(round(json_extract(line, '\$.value') / 1.801559) AS INTEGER), 0, json_extract(line, '\$.time'),
      CAST(json_extract(line, '\$.value') AS REAL), json_extract(line, '\$.unit') FROM raw" skip=0 ;;
esac
{
  echo "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
  echo "$table"
  if [ "${input##*.}" = ndjson ]; then
    echo "CREATE TABLE raw (line TEXT);"
    printf '.mode ascii\n.separator "\\001" "\\n"\n.import %s raw\n' "$input"
  elif [ -n "$skip" ]; then
    printf '.mode csv\n.import --skip %s %s raw\n' "$skip" "$input"
  fi
  echo "$insert $select;"
} | sqlite3 "$store" >/dev/null
