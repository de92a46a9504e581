#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares `import --meter` of a simulated meter with a minimal libusb program that makes the same exchanges with the
# same simulated meter. Both take turns. Prints the median wall times, including the start of the process, and their
# ratio. Builds first, with the release configuration unless CONFIGURATION is debug.
#   Tests/Benchmarks/meter.sh [RECORDS] [RUNS]
set -euo pipefail
# A fixed time zone, so that the time zone of this machine has no effect.
export GLUCOPORT_TIMEZONE=UTC
cd "$(dirname "$0")/../.."
records=${1:-1000} runs=${2:-7} configuration=${CONFIGURATION:-release}
swift build -c "$configuration" --product glucoport
swift build -c "$configuration" --product meter-plug
products=$(swift build -c "$configuration" --show-bin-path)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cc -O2 -o "$folder/bare-loop" Tests/Benchmarks/bare-loop.c -lusb-1.0

# plugged COMMAND…: the time of a command in seconds, with the meter connected.
plugged() {
  "$products/meter-plug" contour "$records" "$@" 2>"$folder/errors" >"$folder/output" ||
    { cat "$folder/errors" >&2 && exit 1; }
  sed -n 's/^meter-plug: .* \([0-9.]*\) s$/\1/p' "$folder/errors"
}

plugged "$products/glucoport" meter record --quiet "$folder/talk" >/dev/null
for _ in $(seq "$runs"); do
  rm -f "$folder"/logbook.db*
  plugged "$products/glucoport" import --meter --quiet --timezone UTC --store "$folder/logbook.db" >>"$folder/ours"
  plugged "$folder/bare-loop" "$folder/talk" >>"$folder/bare"
done
read -r exchanges _ <"$folder/output"
median() { sort -n "$1" | awk '{ time[NR] = $1 } END { print time[int((NR + 1) / 2)] }'; }
awk -v ours="$(median "$folder/ours")" -v bare="$(median "$folder/bare")" -v exchanges="$exchanges" \
  -v records="$records" 'BEGIN {
  printf "%d records, %d exchanges: import %.2f s, %.0f a second; bare loop %.2f s, %.0f a second; ratio %.2f\n",
    records, exchanges, ours, exchanges / ours, bare, exchanges / bare, ours / bare
  exit ours / bare >= 1.2 }'
