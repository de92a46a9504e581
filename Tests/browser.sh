#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Opens pages of `glucoport report` in a headless Chromium, and one of `glucoport serve --pages`. A page must
# make no request and print no message. Nothing may be wider than a screen of 360, 800 or 1400 pixels, light
# or dark. Headings, names, tables and contrast are checked. On a print on A4 or Letter, no picture may be
# truncated. Then damages a page in many ways, and each damage must be found. Needs root if packages are
# missing.
#   Tests/browser.sh [PROGRAM [FOLDER]]
# By default, uses the program that the checks have built. With FOLDER, such as Samples/report, writes the screenshots
# there.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:-.build/checks/release/glucoport}")
folder=${2:-}
Tests/install-packages.sh chromium python3 poppler-utils

work=$(mktemp -d)
server=
end() {
  if [ -n "$server" ]; then
    kill -TERM "$server" 2>/dev/null || true
    wait "$server" || true
  fi
  rm -rf "$work"
}
trap end EXIT
export GLUCOPORT_STORE=$work/sample.db PYTHONDONTWRITEBYTECODE=1
python3 Tests/Browser/sample.py "$work"
readings='time=time,value=mg/dL,device=device'
"$program" import --quiet --timezone Europe/Madrid --format generic --kind cbg --unit mg/dL --map "$readings" \
  "$work/sensor.csv"
"$program" import --quiet --format generic --kind smbg --unit mg/dL \
  --map "$readings,insulin=insulin,carbs=carbs,note=note" "$work/diary.csv"

# page NAME OPTION…: writes a report of the sample's fixed period.
page() {
  local name=$1
  shift
  "$program" report --since 2026-03-02 --until 2026-03-16 --pages all -o "$work/$name.html" "$@"
}
page en
page de --language de --unit mmol/L
page es --language es --targets pregnancy
page fr --language fr --targets older --unit mmol/L
page anonymised --anonymise
page sticks --device 'Sample Meter'
"$program" report --since 2026-03-09 --until 2026-03-10 --pages all -o "$work/day.html"
"$program" report --since 2026-03-02 --until 2026-03-16 --name 'Ada Example' -o "$work/usual.html"

echo "pages in a browser"
python3 Tests/Browser/report.py check "$work"/*.html
echo "a page of a server in a browser"
(umask 077; "$program" serve token add sample --role write --logbook sample --data "$work/served" >"$work/token")
: >"$work/listening"
"$program" serve --pages --quiet --data "$work/served" --listen 127.0.0.1:0 >"$work/listening" &
server=$!
until grep -q '^listening on' "$work/listening"; do
  kill -0 "$server" || exit 69
  sleep 0.1
done
"$program" remote set "$(sed 's/^listening on //' "$work/listening")" --token-file "$work/token" >/dev/null
"$program" upload --quiet
python3 Tests/Browser/report.py check "$("$program" remote page)&last=2026-03-15"

echo "damaged pages in a browser"
python3 Tests/Browser/report.py prove "$work/en.html"
if [ -n "$folder" ]; then python3 Tests/Browser/report.py shoot "$work/usual.html" "$folder"; fi
