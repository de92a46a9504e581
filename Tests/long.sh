#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that run once for an issue and before a release, in addition to Tests/run.sh. They use many more seeds,
# large stores, reports in a browser, and the meters with a real kernel. Takes hours. Needs root if packages
# are missing.
#   Tests/long.sh
# These variables change what is run:
# - GLUCOPORT_SCHEDULES, GLUCOPORT_FUZZ_ROUNDS: the numbers of seeds.
# - GLUCOPORT_MORE_SEEDS: the number of seeds of other tests, as a multiple of that in a check.
# - GLUCOPORT_FIRST_SEED, GLUCOPORT_FUZZ_SEED: the first seeds.
# - GLUCOPORT_VERIFY_READINGS, GLUCOPORT_SITE_READINGS: the readings in a comparison, and in an upload to a
#   site.
# - GLUCOPORT_SITE_CUTS: the bytes between two positions at which a site's answer is truncated.
# - GLUCOPORT_FUZZ_SECONDS: the seconds of libFuzzer for each kind of input.
# - GLUCOPORT_DAMAGE_SECONDS: the seconds for each kind of Tests/Damage/damage.py and Tests/Damage/siege.py.
set -euo pipefail
cd "$(dirname "$0")/.."
source Tests/phases.sh

phase "packages"
require swift "install Swift 6.2 or newer, see https://www.swift.org/install/linux"
Tests/install-packages.sh libsqlite3-dev zlib1g-dev liblzma-dev libbz2-dev libzstd-dev libexpat1-dev libusb-1.0-0-dev python3 strace \
  postgresql-15 libpq5 util-linux iproute2

# An optimised build is worth its time for this number of schedules, but not for the few of a check.
phase "optimised build of the simulation"
swift build -c release --product simulate --scratch-path .build/simulation
simulate=$(swift build -c release --scratch-path .build/simulation --show-bin-path)/simulate

phase "simulated schedules"
count=${GLUCOPORT_SCHEDULES:-100000} steps=${GLUCOPORT_STEPS:-8}
first=${GLUCOPORT_FIRST_SEED:-$(($(commits) * count + 1))}
schedules "$simulate" "$count" "$first" "$steps"
schedules "$simulate" $((count / 10)) "$first" $((3 * steps))
schedules "$simulate" $((count / 10)) "$first" "$steps" site
# Two servers on one PostgreSQL database. Each client alternates between them.
schedules "$simulate" $((count / 50)) "$first" "$steps" database
schedules "$simulate" $((count / 500)) "$first" $((3 * steps)) database

phase "build"
build

phase "the libraries in a package of another program"
swift run --package-path Samples/embedding --scratch-path .build/embedding embedding \
  Samples/clarity/clarity-mgdl-en.csv Europe/Madrid | grep -q ' cbg 110.0 mg/dL'

phase "packages, built twice in two folders"
rm -rf .build/packages/long
Tests/reproducible.sh '' .build/packages/long

phase "packages in a fresh Debian root"
GLUCOPORT_METER_PLUG=$(built meter-plug) Tests/fresh-root.sh .build/packages/long

phase "processor time of imports, compared with the last commit that accepted its cost"
Tests/Benchmarks/import-cost.sh

phase "a store of 100 million readings, a server with a thousand logbooks, and the memory of an import"
rm -rf .build/packages/unpacked
dpkg-deb --extract .build/packages/long/glucoport_*.deb .build/packages/unpacked
GLUCOPORT_PROGRAM=.build/packages/unpacked/usr/bin/glucoport Tests/Benchmarks/scale.sh
Tests/Benchmarks/scale-server.py .build/packages/unpacked/usr/bin/glucoport
GLUCOPORT_PROGRAM=.build/packages/unpacked/usr/bin/glucoport Tests/Benchmarks/import.sh --memory

phase "many damaged exports"
GLUCOPORT_FUZZ_ROUNDS=${GLUCOPORT_FUZZ_ROUNDS:-20000} check --filter '\.MutationTests/'

phase "many seeds of the tests that make their own sequences"
GLUCOPORT_MORE_SEEDS=${GLUCOPORT_MORE_SEEDS:-20} check \
  --filter '\.(UndoSequenceTests|UndoTests|NestingConflictTests|ZoneSyncTests|ListingOrderTests)/'

phase "every case of the tests of which a check tries a share"
shared='CountingProperty|CutSample|DamagedServerFile|HostileStore|HostileText|Interleaving|LastLine|LibreDamage|LinearParsing'
shared+='|MovedColumns|PendingRanges|SampleImport|ScatteredImport|Sheet|SiteMove|SiteRemoval|SiteTraffic|StoreMerge|ValueSet|ZoneHistory'
GLUCOPORT_MORE_SEEDS=1 check --filter "\.($shared)Tests/"

phase "every column of a store with hostile values, for every command"
GLUCOPORT_DAMAGE_ALL=1 check --filter '\.HostileStoreTests/everyDamagedValue'

phase "inputs of libFuzzer"
Tests/fuzz.sh "${GLUCOPORT_FUZZ_SECONDS:-600}"

phase "damaged files, stores, requests and answers"
for kind in inputs bits requests answers schemas lines disk pages; do
  python3 Tests/Damage/damage.py "$(built glucoport)" "$kind" "${GLUCOPORT_DAMAGE_SECONDS:-3600}"
done

phase "a server with 10,000 connections, with tokens that change, and killed at a socket that stays"
for kind in connections tokens sockets; do
  python3 Tests/Damage/siege.py "$(built glucoport)" "$kind" "${GLUCOPORT_DAMAGE_SECONDS:-3600}"
done

phase "what a comparison of large stores weighs"
GLUCOPORT_VERIFY_READINGS=${GLUCOPORT_VERIFY_READINGS:-1000000} check --filter '\.VerifyTrafficTests/'

phase "a large first upload to a Nightscout site, answers cut at each byte, and a slow site"
GLUCOPORT_SITE_READINGS=${GLUCOPORT_SITE_READINGS:-100000} check --filter '\.SiteTrafficTests/aFirstUpload'
GLUCOPORT_SITE_CUTS=${GLUCOPORT_SITE_CUTS:-1} check --filter '\.SiteTrafficTests/aTruncatedAnswer'
GLUCOPORT_SLOW_SITE=1 check --filter '\.SlowSiteTests/'

phase "the manual of PostgreSQL: TLS, pgbouncer, backups, a promoted standby, Patroni"
Tests/postgres.sh "$(built glucoport)"

phase "reports as PDF, read by other programs"
Tests/pdf.sh "$(built glucoport)"

phase "reports in a browser"
Tests/browser.sh "$(built glucoport)"

phase "sources at real servers and proxies, and for two weeks"
Tests/sources.sh "$(built glucoport)"

phase "meters at a real kernel's USB stack"
Tests/usb-guest.sh

phase "meters plugged into a Debian with systemd and udev"
Tests/plug-in.sh .build/packages/long

phase "Bluetooth meters with the real bluetoothd, and a source on a timer"
Tests/bluetooth.sh .build/packages/long
