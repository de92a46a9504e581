#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# For daily work: builds what has changed, and runs the tests that only compute, in half a minute. Tests with many
# seeds try fewer of them. Tests that take more than a second each are left to Tests/run.sh, which is the whole check.
# With options, all tests that match them are run.
#   Tests/quick.sh [--filter REGEX | --skip REGEX | --no-parallel]...
set -euo pipefail
cd "$(dirname "$0")/.."

# Other options are refused here: the test program would ignore them and run all tests.
options=("$@")
while [ ${#options[@]} -gt 0 ]; do
  case ${options[0]} in
    --filter | --skip) values=1 ;;
    --no-parallel) values=0 ;;
    *) values=${#options[@]} ;;
  esac
  [ ${#options[@]} -gt "$values" ] || { sed -n 's/^#   //p' Tests/quick.sh >&2; exit 64; }
  options=("${options[@]:1 + values}")
done

source Tests/phases.sh

require swift "install Swift 6.2 or newer, see https://www.swift.org/install/linux"
phase "build, warnings are errors"
build

memory_folder
export GLUCOPORT_FUZZ_ROUNDS=${GLUCOPORT_FUZZ_ROUNDS:-100}
phase "tests that compute"
heavy='Attachment|AttachmentSync|BatchBorder|Circle|ConflictMatrix|Conformance|CountingProperty|CountingStore'
heavy+='|CutSample|DamagedRow|DriverConformance|Embedded|EndlessRemote|Examination|Fault|ForeignProgram'
heavy+='|ForeignProgramOnServer|FormatConformance|GenericKind|HostileText|Interleaving|Interruption|ItemZone'
heavy+='|JourneyDay|LastLine|LibreDamage|LinearParsing|ListingOrder|LookupCost|MovedColumns|MySugr'
heavy+='|NightscoutImport|Overlap|Packing|Page|PendingRanges|PhonePage|QueueRules|RandomPicture|ReadAhead'
heavy+='|RecordOrder|RecordRules|Reexport|RemoteSetting|SampleImport|ScatteredImport|SendOrder|Sheet|Simulation'
heavy+='|SiteMove|SiteRemoval|SiteTraffic|SiteVerify|SpreadsheetDamage|StoreMerge|StoredIdentity|SyncState|Undo'
heavy+='|UndoSequence|UnsortedSpool|ValueSet|Verify|VerifyTraffic|WaitingIngest|WithdrawnReadings|ZoneHistory'
heavy+='|ZoneSync'
if [ $# -gt 0 ]; then
  check "$@"
else
  check_apart --skip "$waiting" --skip "[.]($heavy)(Tests|Conformance)/"
fi
