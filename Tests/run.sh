#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the whole check: installs what is missing, then format, build without warnings, tests, manual pages. For every
# change; Tests/quick.sh is for daily work, and Tests/long.sh for an issue and before a release.
# As root it installs by itself; without, it says what to install.
set -euo pipefail
cd "$(dirname "$0")/.."
source Tests/phases.sh

phase "packages"
require swift "install Swift 6.2 or newer, see https://www.swift.org/install/linux"
Tests/install-packages.sh libsqlite3-dev zlib1g-dev liblzma-dev libbz2-dev libzstd-dev libexpat1-dev libusb-1.0-0-dev \
  umockdev mandoc sqlite3 strace curl openssl xz-utils bzip2 systemd dpkg-dev binutils python3 dbus-daemon python3-dbus python3-gi \
  postgresql-15 libpq5
swift --version

# Other packages come from afar while this machine has other work. What fails here is said by the build.
"${for_checks[@]}" swift package --scratch-path "$build_folder" resolve >/dev/null 2>&1 & resolution=$!
background=("$resolution")

phase "format and manual pages"
swift format lint --parallel --strict --recursive Sources Tests Package.swift Samples/embedding
mandoc -T lint -W warning man/*.[1-9]
echo "format and manual pages: no findings"

phase "build, warnings are errors"
wait "$resolution" || true
background=()
build

phase "units and packages"
Tests/packaging.sh "$(built glucoport)"

memory_folder
# Tests that try only a share of their cases try others at each commit.
export GLUCOPORT_TURN=${GLUCOPORT_TURN:-$(commits)}
alone='\.(CrashTests|UploadKillTests)/'
# Tests that kill a program in the middle of its work have the machine to themselves, so that they meet it there.
phase "tests that kill programs, one after the other"
check --no-parallel --filter "$alone"

# Beside the next two phases, from what they leave of the machine: tests of the store, which read no clock, then seeded
# schedules, many short ones and some long ones with a server of ours, and some with a Nightscout site and on PostgreSQL. Each
# commit has seeds of its own, so that together they try far more than one. More, or others, with GLUCOPORT_SCHEDULES,
# GLUCOPORT_LONG_SCHEDULES, GLUCOPORT_SITE_SCHEDULES, GLUCOPORT_DATABASE_SCHEDULES, GLUCOPORT_FIRST_SEED and
# GLUCOPORT_STEPS. A seed that breaks a rule is printed with all that happened, and replays:
# simulate [site | database] 1 SEED STEPS.
simulate=$(built simulate) steps=${GLUCOPORT_STEPS:-8}
short=${GLUCOPORT_SCHEDULES:-300} long=${GLUCOPORT_LONG_SCHEDULES:-40} site=${GLUCOPORT_SITE_SCHEDULES:-40}
databases=${GLUCOPORT_DATABASE_SCHEDULES:-10}
first=${GLUCOPORT_FIRST_SEED:-$(($(commits) * 4000 + 1))}
filling='^LogbookStoreTests\.'
filled="$work/filled.log"
test_program
(
  trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
  trap 'exit 143' TERM
  chrt --idle --pid 0 "$BASHPID" || renice -n 19 "$BASHPID" >/dev/null || true
  status=0
  "${tests[@]}" --experimental-maximum-parallelization-width 1 --filter "$filling" & wait $! || status=1
  schedules "$simulate" "$short" "$first" "$steps" || status=1
  schedules "$simulate" "$long" "$first" $((3 * steps)) || status=1
  schedules "$simulate" "$site" "$first" "$steps" site || status=1
  "$simulate" database "$databases" "$first" "$steps" || status=1
  exit "$status"
) >"$filled" 2>&1 & filler=$!
background=("$filler")

phase "tests that compute, side by side"
check_apart --skip "$waiting" --skip "$alone"

# Tests of servers and of whole programs wait for others with a limit; side by side with hundreds that only compute,
# a small machine would let them wait too long. A few at a time find the machine idle more often than not.
phase "tests that wait for servers and programs, some side by side"
check --experimental-maximum-parallelization-width $(($(nproc) + 1)) --filter "$waiting" --skip "$alone"

phase "the rest of what ran beside these two"
status=0
wait "$filler" || status=$?
background=()
logs=("$filled")
cat "$filled"
[ "$status" -eq 0 ] || show_failures
exit "$status"
