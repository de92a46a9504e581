#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Reads the PDFs of `glucoport report` with other programs. Checks the structure, the embedded font subsets,
# the text that can be found, the tags, and the number of pages. The bytes must be the same each time, and the
# sheets must look like the pictures in Samples/report. With FOLDER, such as Samples/report, writes the
# pictures there. Needs root if packages are missing.
#   Tests/pdf.sh [PROGRAM [FOLDER]]
# By default, the program that the checks have built is used.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:-.build/checks/release/glucoport}")
folder=${2:-}
Tests/install-packages.sh python3 poppler-utils qpdf

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GLUCOPORT_STORE=$work/sample.db PYTHONDONTWRITEBYTECODE=1
python3 Tests/Browser/sample.py "$work"
readings='time=time,value=mg/dL,device=device'
# sensor FILE: imports the values of a sensor into the store.
sensor() {
  "$program" import --quiet --timezone Europe/Madrid --format generic --kind cbg --unit mg/dL --map "$readings" "$work/$1"
}
sensor sensor.csv
"$program" import --quiet --format generic --kind smbg --unit mg/dL \
  --map "$readings,insulin=insulin,carbs=carbs,note=note" "$work/diary.csv"

fail() {
  echo "pdf.sh: $1" >&2
  exit 1
}

# report NAME OPTION…: writes a PDF of the sample's fixed period, and checks it with other programs.
report() {
  local file=$work/$1.pdf
  shift
  "$program" report --since 2026-03-02 --until 2026-03-16 --quiet --force -o "$file" "$@"
  cp "$file" "$work/first.pdf"
  "$program" report --since 2026-03-02 --until 2026-03-16 --quiet --force -o "$file" "$@"
  cmp "$file" "$work/first.pdf" || fail "two runs differ: $*"
  qpdf --check "$file" >"$work/check" 2>&1 || { cat "$work/check" >&2; fail "qpdf: $*"; }
  pdffonts "$file" | tail -n +3 | awk '{ print $(NF-4), $(NF-3), $(NF-2) }' | sort -u >"$work/fonts"
  [ "$(cat "$work/fonts")" = "yes yes yes" ] || fail "fonts: $* $(cat "$work/fonts")"
  pdfinfo "$file" >"$work/info"
  grep -q '^Tagged: *yes' "$work/info" || fail "no tags: $*"
  if grep -q '^CreationDate' "$work/info"; then fail "a time: $*"; fi
  pages=$(sed -n 's/^Pages: *//p' "$work/info")
  text=$(pdftotext "$file" -)
}

for language in en de es fr; do
  for unit in mg/dL mmol/L; do
    for paper in A4 Letter; do
      report summary --language $language --unit $unit --paper $paper --pages summary --name 'Ágnes Őry'
      [ "$pages" = 1 ] || fail "the summary has $pages pages: $language $unit $paper"
      case $text in *"Ágnes Őry"*) ;; *) fail "no name in the text: $language" ;; esac
      report all --language $language --unit $unit --paper $paper --pages all --anonymise
      case $text in *2026-03*) fail "a date: $language" ;; esac
    done
  done
done
GLUCOPORT_STORE=$work/journey.db sensor journey.csv
GLUCOPORT_STORE=$work/journey.db report journey --pages all --language fr
case $text in *"· 30 h"*"· 18 h"*) ;; *) fail "no lengths of the days of a journey" ;; esac

# picture NAME OPTION…: draws the first page of a report as a picture. With FOLDER, the picture is written
# there. Otherwise it is compared with that of Samples/report.
picture() {
  local name=$1
  shift
  report "$name" "$@"
  pdftoppm -r 100 -f 1 -singlefile -png "$work/$name.pdf" "${folder:-$work}/$name"
  [ -n "$folder" ] || Tests/picture.py "$work/$name.png" "Samples/report/$name.png" || fail "another picture: $name"
}
picture both --pages summary --name 'Ada Example'
picture sensor --pages summary --device 'Sample Sensor'
picture insulin --pages days --name 'Ada Example'
picture meter --pages summary --device 'Sample Meter' --language fr
picture log --pages log --unit mmol/L --language de
picture pregnancy --pages summary --targets pregnancy --language es --anonymise
GLUCOPORT_STORE=$work/journey.db picture journey --pages summary --name 'Ada Example'
GLUCOPORT_STORE=$work/few.db sensor few.csv
GLUCOPORT_STORE=$work/few.db picture little --pages summary --language de
# The comparison must find a difference between two different pictures. Otherwise it would prove nothing.
if Tests/picture.py Samples/report/both.png Samples/report/journey.png >"$work/other"; then fail "two sheets look alike"; fi
