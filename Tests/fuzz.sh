#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the import with libFuzzer, which is a part of the Swift toolchain. Builds Tests/Fuzz with coverage,
# starts with the samples and with archives made of them, and runs each kind of input for SECONDS. A kind
# fails at a crash, at a trap, or at a broken rule of Tests/Fuzz/Invariants.swift. It also fails if an input
# takes more than ten seconds or 1 GiB. The input is then kept.
#   Tests/fuzz.sh [SECONDS [KIND…]]     kinds: table json xml zip sheet sqlite packed; 120 seconds each
#   .build/fuzz/import FILE             imports one input again, such as one that was kept
# Inputs that reach other code than the ones before stay in .build/fuzz/corpus, and the next run starts with
# them. GLUCOPORT_FUZZ_CORPUS names another folder for them, and GLUCOPORT_FUZZ_SEED sets the seed of
# libFuzzer.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-120}
shift || true
kinds=("$@")
[ ${#kinds[@]} -gt 0 ] || kinds=(table json xml zip sheet sqlite packed)
scratch=.build/fuzz corpus=${GLUCOPORT_FUZZ_CORPUS:-.build/fuzz/corpus}
program=$scratch/import
# The minimum number of code edges that the seeds of a kind must reach. The samples reach many more. Inputs
# that are refused at once reach fewer.
least=1000

# Package.swift has the target Fuzz only if this variable is set.
GLUCOPORT_FUZZ=1 swift build -c release --product Fuzz --scratch-path "$scratch" -debug-info-format none \
  -Xswiftc -sanitize=fuzzer -Xswiftc -index-ignore-system-modules
library=$(GLUCOPORT_FUZZ=1 swift build -c release --scratch-path "$scratch" --show-bin-path)/libFuzz.a
# SwiftPM cannot link a program whose `main` is in a library.
swiftc -sanitize=fuzzer "$library" -o "$program" -lz -lbz2 -llzma -lzstd -lexpat -lsqlite3 -lstdc++ -lm

rm -rf "$scratch/seeds"
python3 Tests/Fuzz/seeds.py Samples "$scratch/seeds"

# Temporary files are written for every input, so they are kept in memory if possible.
folder=$(mktemp -d "$([ -w /dev/shm ] && echo /dev/shm || echo "${TMPDIR:-/tmp}")/glucoport-fuzz.XXXXXX")
trap 'rm -rf "$folder"' EXIT
export TMPDIR=$folder SWIFT_BACKTRACE=enable=no

failed=()
for kind in "${kinds[@]}"; do
  printf '\n== %s for %s s\n' "$kind" "$seconds"
  mkdir -p "$corpus/$kind" "$scratch/found"
  options=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -max_len=65536 -print_final_stats=1 -verbosity=1
    -artifact_prefix="$scratch/found/$kind-")
  [ -z "${GLUCOPORT_FUZZ_SEED:-}" ] || options+=(-seed="$GLUCOPORT_FUZZ_SEED")
  [ ! -f "Tests/Fuzz/$kind.dict" ] || options+=(-dict="Tests/Fuzz/$kind.dict")
  log=$scratch/$kind.log
  if "$program" "${options[@]}" "$corpus/$kind" "$scratch/seeds/$kind" >"$log" 2>&1; then
    grep -E '^stat::(number_of_executed_units|peak_rss_mb)|^#[0-9]+.*DONE' "$log" || true
    reached=$(sed -nE 's/^#[0-9]+[[:space:]]+INITED cov: ([0-9]+).*/\1/p' "$log")
    # A reader that does not read its inputs would never fail, so the number of reached edges is checked.
    [ "${reached:-0}" -ge "$least" ] || { echo "the seeds reach only ${reached:-no} edges"; failed+=("$kind"); }
  else
    failed+=("$kind")
    grep -vE '^#[0-9]+|NEW_FUNC' "$log" | tail -60
  fi
done

if [ ${#failed[@]} -gt 0 ]; then
  printf '\n%s: failed; the inputs are in %s/found\n' "${failed[*]}" "$scratch"
  exit 1
fi
printf '\n%s: nothing found\n' "${kinds[*]}"
