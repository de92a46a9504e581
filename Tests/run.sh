#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the whole check: installs what is missing, then format, build without warnings, tests, manual pages.
# As root it installs by itself; without, it says what to install.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }

say "packages"
missing=()
for package in libsqlite3-dev zlib1g-dev mandoc sqlite3; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" -ne 0 ]; then
    echo "Please install: ${missing[*]}" >&2
    echo "  sudo apt-get install ${missing[*]}" >&2
    exit 69
  fi
  for attempt in 1 2 3; do
    apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" && break
    [ "$attempt" -lt 3 ] || { echo "the packages could not be installed" >&2; exit 69; }
    sleep $((attempt * 5))
  done
fi
swift --version

say "format"
swift format lint --strict --recursive Sources Tests Package.swift

say "build, warnings are errors"
CI=true swift build --build-tests

say "tests"
CI=true swift test --skip-build

say "manual pages"
mandoc -T lint -W warning man/*.[1-9]
echo "manual pages: no findings"
