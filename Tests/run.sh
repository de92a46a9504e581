#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the whole check: installs missing packages, then checks the format, the build without warnings, the
# tests and the manual pages. Run it for every change. Tests/quick.sh is for daily work, and Tests/long.sh for
# an issue and before a release. Without root, prints the command that installs missing packages.
set -euo pipefail
cd "$(dirname "$0")/.."
source Tests/phases.sh

phase "packages"
require swift "install Swift 6.2 or newer, see https://www.swift.org/install/linux"
Tests/install-packages.sh libsqlite3-dev zlib1g-dev liblzma-dev libbz2-dev libzstd-dev libexpat1-dev libusb-1.0-0-dev \
  umockdev mandoc sqlite3 strace curl openssl xz-utils bzip2 systemd dpkg-dev binutils python3 dbus-daemon python3-dbus python3-gi \
  postgresql-15 libpq5
swift --version

# Other packages are downloaded while this machine does other work. If that fails, the build reports it.
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
# Some tests try only a share of their cases, and another share at each commit.
export GLUCOPORT_TURN=${GLUCOPORT_TURN:-$(commits)}
alone='\.(CrashTests|UploadKillTests)/'
# Tests that kill a running program run without other tests, since the timing would otherwise vary too much.
phase "tests that kill programs, one after the other"
check --no-parallel --filter "$alone"

# Tests that only compute do not depend on time. They run during the following phase, with the processor time
# that it leaves. Seeded schedules of the simulation run in the same way. There are many short ones, some long
# ones with our server, and some with a Nightscout site and with PostgreSQL. Each commit has different seeds, and all
# of them together try far more schedules than one. The numbers are set by GLUCOPORT_SCHEDULES,
# GLUCOPORT_LONG_SCHEDULES, GLUCOPORT_SITE_SCHEDULES, GLUCOPORT_DATABASE_SCHEDULES, GLUCOPORT_FIRST_SEED and
# GLUCOPORT_STEPS. If a seed breaks a rule, it is printed with all events. To repeat it, run:
# simulate [site | database] 1 SEED STEPS.
simulate=$(built simulate) steps=${GLUCOPORT_STEPS:-8}
short=${GLUCOPORT_SCHEDULES:-300} long=${GLUCOPORT_LONG_SCHEDULES:-40} site=${GLUCOPORT_SITE_SCHEDULES:-40}
databases=${GLUCOPORT_DATABASE_SCHEDULES:-10}
first=${GLUCOPORT_FIRST_SEED:-$(($(commits) * 4000 + 1))}
computed="$work/computed.log"
(
  trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
  trap 'exit 143' TERM
  chrt --idle --pid 0 "$BASHPID" || renice -n 19 "$BASHPID" >/dev/null || true
  status=0
  check_apart --skip "$waiting" --skip "$alone" || status=1
  "$simulate" database "$databases" "$first" "$steps" & on_databases=$!
  schedules "$simulate" "$short" "$first" "$steps" || status=1
  schedules "$simulate" "$long" "$first" $((3 * steps)) || status=1
  schedules "$simulate" "$site" "$first" "$steps" site || status=1
  wait "$on_databases" || status=1
  exit "$status"
) >"$computed" 2>&1 & computing=$!
background=("$computing")

# Tests of servers and of whole programs wait for other processes with a time limit. If hundreds of them ran together, a
# small machine could exceed it. A few at a time leave the machine idle more often than not.
phase "tests that wait for servers and programs, some side by side, and tests that compute in the rest of the time"
check --experimental-maximum-parallelization-width $(($(nproc) + 1)) --filter "$waiting" --skip "$alone"

phase "the rest of the tests that compute, and the simulation"
status=0
wait "$computing" || status=$?
background=()
logs=("$work"/tests-*.log)
cat "$computed"
exit "$status"
