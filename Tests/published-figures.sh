#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares `glucoport stats` with the published figures of iglu's example data (five subjects with a Dexcom
# G4). The data is not part of this project. The first argument is its CSV file with the columns id, time and
# gl, such as tests/data/example_data_5_subject.csv of iglu_python. The second argument is the program; by
# default, it is the one that the checks have built.
set -euo pipefail
data=${1:?the CSV with the columns id, time and gl}
program=$(realpath "${2:-$(dirname "$0")/../.build/checks/release/glucoport}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# For each subject: mean, SD, CV and percentiles must be exact. The numbers of episodes below and above may
# differ by one, since iglu interpolates on a grid.
published='1 123.665523 33.268076 26.901658 1 16
2 218.452810 52.371109 23.973648 0 21
3 154.041748 44.783125 29.072070 1 9
4 129.674400 29.067820 22.416005 2 13
5 174.607521 58.576553 33.547554 1 38'

status=0
while read -r subject mean deviation variation low high; do
  {
    echo 'time,glucose (mg/dL)'
    tr -d '"\r' <"$data" | awk -F, -v subject="$subject" '
      NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
      $column["id"] ~ (subject "$") { sub(" ", "T", $column["time"]); print $column["time"] "," $column["gl"] }'
  } >"$work/$subject.csv"
  "$program" import --quiet --timezone UTC --kind cbg --store "$work/$subject.db" "$work/$subject.csv"
  "$program" stats --store "$work/$subject.db" --since 2000-01-01 --unit mg/dL --format csv | tr -d '\r' |
    awk -F, -v subject="$subject" -v expected="$mean $deviation $variation $low $high" '
      NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
      function near(name, wanted, tolerance) {
        got = $column[name]; difference = got - wanted
        if (difference < 0) difference = -difference
        if (got == "" || difference > tolerance) { print "subject " subject ": " name " is " got ", published " wanted; bad = 1 }
      }
      $1 == "total" {
        split(expected, wanted, " ")
        near("mean", wanted[1], 0.0001); near("sd", wanted[2], 0.0001); near("cv_percent", wanted[3], 0.0001)
        near("low_episodes", wanted[4], 1); near("high_episodes", wanted[5], 1)
        found = 1
      }
      END { exit bad || !found }' && echo "subject $subject: as published" || status=1
done <<<"$published"
exit "$status"
