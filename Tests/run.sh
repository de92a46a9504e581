#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the whole check: installs what is missing, then format, build without warnings, tests, manual pages.
# As root it installs by itself; without, it says what to install.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }

say "packages"
Tests/install-packages.sh libsqlite3-dev zlib1g-dev libusb-1.0-0-dev umockdev mandoc sqlite3 strace curl openssl
swift --version

say "format"
swift format lint --strict --recursive Sources Tests Package.swift

say "build, warnings are errors"
CI=true swift build --build-tests

# Tests of servers and of whole programs wait for others with a limit; side by side with hundreds that only compute,
# a small machine would let them wait too long.
waiting='CommandsTests\.|LogbookServerTests\.|RemotesTests\.|TestServersTests\.|USBTransportTests\.'
say "tests that compute, side by side"
CI=true swift test --skip-build --skip "$waiting"
say "tests that wait for servers and programs, one after the other"
CI=true swift test --skip-build --no-parallel --filter "$waiting"

# With a server of ours, then with a Nightscout site. More, or longer ones, with GLUCOPORT_SCHEDULES,
# GLUCOPORT_SITE_SCHEDULES, GLUCOPORT_FIRST_SEED and GLUCOPORT_STEPS. A seed that breaks a rule is printed with all that
# happened, and replays: simulate [site] 1 SEED STEPS.
say "simulated schedules"
CI=true swift build -c release --product simulate
"$(swift build -c release --show-bin-path)/simulate" \
  "${GLUCOPORT_SCHEDULES:-6000}" "${GLUCOPORT_FIRST_SEED:-1}" "${GLUCOPORT_STEPS:-20}"
"$(swift build -c release --show-bin-path)/simulate" site \
  "${GLUCOPORT_SITE_SCHEDULES:-500}" "${GLUCOPORT_FIRST_SEED:-1}" "${GLUCOPORT_STEPS:-20}"

say "manual pages"
mandoc -T lint -W warning man/*.[1-9]
echo "manual pages: no findings"
