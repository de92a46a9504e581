#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# For daily work: builds what has changed, then runs the tests that only compute. Those that try many seeds try fewer, and
# the few that weigh much are left to Tests/run.sh, which is the whole check.
#   Tests/quick.sh [OPTION of swift test]...
set -euo pipefail
cd "$(dirname "$0")/.."
source Tests/phases.sh

require swift "install Swift 6.2 or newer, see https://www.swift.org/install/linux"
phase "build, warnings are errors"
build

memory_folder
export GLUCOPORT_FUZZ_ROUNDS=${GLUCOPORT_FUZZ_ROUNDS:-100}
phase "tests that compute"
check --skip "$waiting" --skip '\.(SimulationTests|VerifyTrafficTests|FaultTests|SendOrderTests)/' "$@"
