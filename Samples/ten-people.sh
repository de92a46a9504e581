#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A nurse's day with the meters and exports of ten people on one computer. Each person has a store, a folder for exports and a
# meter. All files are in a temporary folder, which is removed at the end; glucoport must be in PATH.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_DATA_HOME="$folder/data" GLUCOPORT_TIMEZONE=UTC
people=(Anna Ben Carla Dana Emil Fritz Gina Hugo Ida Jan)

# Once: a person, a folder and a meter for each.
for n in "${!people[@]}"; do
  name=${people[$n]}
  mkdir -p "$folder/exports/$name"
  glucoport person add "$name" --folder "$folder/exports/$name" --quiet
  glucoport person assign "70000$n" "$name" --quiet
done

# In the morning the exports of all people are in their folders.
for n in "${!people[@]}"; do
  name=${people[$n]}
  printf 'Name:%s Sample,Date Range:3/1/2026 - 3/31/2026\nTimestamp,Glucose Value (mg/dl),Manual Reading,Serial Number\n' "$name" \
    >"$folder/exports/$name/monday.csv"
  printf '3/25/2026 1%s:05,1%s0.0,,70000%s\n' "$n" "$n" "$n" >>"$folder/exports/$name/monday.csv"
done
glucoport import --quiet "$folder"/exports/*

# A file in the wrong folder is refused, and the message names the person whom it fits.
cp "$folder/exports/Ben/monday.csv" "$folder/exports/Anna/mixed-up.csv"
glucoport import --quiet "$folder/exports/Anna" && exit 1
rm "$folder/exports/Anna/mixed-up.csv"

# At noon somebody types what the meters do not know. 45 g were meant; undo takes back the last thing.
glucoport add 6.1mmol 450g soup --person Ida --at 2026-03-25T12:00 --quiet
glucoport undo --person Ida --yes --quiet
glucoport add 6.1mmol 45g soup --person Ida --at 2026-03-25T12:00 --quiet

# In the evening: a page for each person, a backup of all, and a look at all.
mkdir "$folder/reports" "$folder/backup"
glucoport report --all "$folder/reports" --quiet
glucoport backup "$folder/backup" --keep 7 --quiet
glucoport status --check --quiet --max-backup-age 1d
glucoport person list --json

# Jan leaves. Everything of him is removed here, and the rest stays.
glucoport person remove Jan --erase --confirm Jan >/dev/null
ls "$folder/reports" | wc -l
ls "$folder/backup" | wc -l
