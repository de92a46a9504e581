#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the whole check: installs what is missing, then format, build without warnings, tests, manual pages.
# As root it installs by itself; without, it says what to install.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }

# check OPTION…: runs tests. What failed is told once more at the end, where it is found among a thousand others.
check() {
  local told=.build/tests.log
  CI=true swift test --skip-build "$@" 2>&1 | tee "$told" && return
  say "failures"
  grep -A 20 -E '✘ |^error: |Fatal error' "$told" | grep -vE '^◇ |^✔ ' || true
  return 1
}

say "packages"
Tests/install-packages.sh libsqlite3-dev zlib1g-dev libusb-1.0-0-dev umockdev mandoc sqlite3 strace curl openssl
swift --version

say "format"
swift format lint --strict --recursive Sources Tests Package.swift

say "build, warnings are errors"
CI=true swift build --build-tests

waiting='CommandsTests\.|LogbookServerTests\.|RemotesTests\.|TestServersTests\.|USBTransportTests\.'
say "tests that compute, side by side"
check --skip "$waiting"

# The optimised build of the simulation takes what the tests below leave of the machine, in a folder of its own, since two
# builds cannot share one.
simulation=.build/simulation built=.build/simulation.log
CI=true nice -n 19 ionice -c 3 swift build -c release --product simulate --scratch-path "$simulation" >"$built" 2>&1 & build=$!
trap 'kill "$build" 2>/dev/null || true' EXIT

# Tests of servers and of whole programs wait for others with a limit; side by side with hundreds that only compute,
# a small machine would let them wait too long.
say "tests that wait for servers and programs, one after the other"
check --no-parallel --filter "$waiting"

# Many short ones and some long ones with a server of ours, then some with a Nightscout site. More, or longer ones, with
# GLUCOPORT_SCHEDULES, GLUCOPORT_LONG_SCHEDULES, GLUCOPORT_SITE_SCHEDULES, GLUCOPORT_FIRST_SEED and GLUCOPORT_STEPS. A seed
# that breaks a rule is printed with all that happened, and replays: simulate [site] 1 SEED STEPS.
say "simulated schedules"
wait "$build" || { cat "$built" && exit 1; }
trap - EXIT
simulate=$(swift build -c release --scratch-path "$simulation" --show-bin-path)/simulate
first=${GLUCOPORT_FIRST_SEED:-1} steps=${GLUCOPORT_STEPS:-8}

# schedules COUNT STEPS [site]: in a process for each processor, since in one they wait for each other's memory.
schedules() {
  local count=$1 steps=$2 lanes lane from process processes=()
  shift 2
  lanes=$(nproc)
  for ((lane = 0; lane < lanes; lane++)); do
    from=$((count * lane / lanes))
    "$simulate" "$@" $((count * (lane + 1) / lanes - from)) $((first + from)) "$steps" & processes+=($!)
  done
  for process in "${processes[@]}"; do wait "$process"; done
}
schedules "${GLUCOPORT_SCHEDULES:-10000}" "$steps"
schedules "${GLUCOPORT_LONG_SCHEDULES:-500}" $((3 * steps))
schedules "${GLUCOPORT_SITE_SCHEDULES:-500}" "$steps" site

say "manual pages"
mandoc -T lint -W warning man/*.[1-9]
echo "manual pages: no findings"
