#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the whole check: installs what is missing, then format, build without warnings, tests, manual pages.
# As root it installs by itself; without, it says what to install.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }

say "packages"
Tests/install-packages.sh libsqlite3-dev zlib1g-dev mandoc sqlite3 curl openssl
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
