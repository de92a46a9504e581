#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the release program, imports the sample exports into a store of its own in a temporary folder, and shows
# what is in it. Installs what is missing as root; without, it says what to install.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }

say "packages"
Tests/install-packages.sh libsqlite3-dev zlib1g-dev
command -v swift >/dev/null || { echo "Please install Swift 6.2 or newer from swift.org" >&2; exit 69; }

say "build"
swift build -c release --static-swift-stdlib --product glucoport
program=$(swift build -c release --static-swift-stdlib --show-bin-path)/glucoport

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export GLUCOPORT_STORE="$folder/logbook.db"

# Some samples hold broken rows on purpose: status 3 says that those were rejected and the rest is stored.
import() { "$program" import "$@" || [ $? -eq 3 ]; }

say "import the sample exports"
import --timezone Europe/Madrid Samples/clarity/clarity-mgdl-en.csv
import Samples/libreview/libreview-mmol-nl-decimal-comma.csv \
  Samples/libre-desktop/libre-desktop-mmol-en.tsv Samples/mysugr/mysugr-mgdl-en.csv \
  Samples/nightscout/nightscout-entries-v1.json Samples/tidepool/tidepool.json Samples/glucoport/everything.ndjson

say "the store"
"$program" status

say "the latest readings"
"$program" list --limit 10 --long

say "the same again stores nothing twice"
import Samples/clarity/clarity-mgdl-en.csv
