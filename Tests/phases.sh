# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by the checks. Divides a check into phases, prints their times and the failed tests at the end, and
# runs schedules of the simulation. Every check runs without a person. It reads no standard input, and its
# exit status is not 0 if anything fails.

exec </dev/null
source Tests/compiler.sh
work=$build_folder
mkdir -p "$work"
export CI=true

# The targets whose tests wait for servers and for whole programs. The tests of all other targets only
# compute. The pattern is anchored, since names of files also end with "Tests.".
waiting='^(BluetoothTransport|Commands|PostgresStore|Program|ProgramRemote|LogbookServer|Remotes|TestServers|USBTransport)Tests\.'

phase='' phase_began=0 phase_used=0 phase_times=() background=() apart=() scratch='' logs=()

# used: sets `seconds_used` to the processor time of all ended processes, in tenths of a second.
used() {
  times >"$work/times"
  seconds_used=$(awk 'function s(t) { split(t, p, /[ms]/); return p[1] * 60 + p[2] }
    { sum += s($1) + s($2) } END { printf "%d", sum * 10 }' "$work/times")
}

end_phase() {
  [ -n "$phase" ] || return 0
  used
  local tenths=$((seconds_used - phase_used))
  phase_times+=("$(printf '%5d s, %5d.%d s of processor time: %s' \
    $((SECONDS - phase_began)) $((tenths / 10)) $((tenths % 10)) "$phase")")
  phase=''
}

# phase NAME: ends the current phase and begins the next one.
phase() {
  end_phase
  phase=$1 phase_began=$SECONDS
  used
  phase_used=$seconds_used
  printf '\n== %s\n' "$phase"
}

# failed_tests LOG…: prints the tests that failed, and those that did not end, for example after a trap.
failed_tests() {
  local log
  # Some versions of awk do not know characters of several bytes, so the first word is matched as text without
  # blanks.
  for log in "$@"; do awk '
    / started\.$/ && /^[^ ]+ Test / && !/^[^ ]+ Test (run|case) / {
      name = $0; sub(/^[^ ]+ Test /, "", name); sub(/ started\.$/, "", name); begun[name]++ }
    /^[^ ]+ Test .* (passed|failed) after / && !/^[^ ]+ Test run / {
      name = $0; sub(/^[^ ]+ Test /, "", name); sub(/ (passed|failed) after .*/, "", name)
      sub(/ with [0-9]+ test cases?$/, "", name); begun[name]--
      if ($0 ~ / failed after /) print "failed: " name }
    /^[^ ]+ Test run with / { ended = 1 }
    END { if (!ended) for (name in begun) if (begun[name] > 0) print "did not end: " name }' "$log"; done | sort -u
}

finish() {
  local status=$? last=$phase process
  trap - EXIT
  for process in "${background[@]}" "${apart[@]}"; do
    kill "$process" 2>/dev/null || true
    wait "$process" 2>/dev/null || true
  done
  # A killed process may still write into the folder, so that it cannot be removed. The failures are printed
  # nevertheless.
  [ -z "$scratch" ] || rm -rf "$scratch" 2>/dev/null || true
  end_phase
  printf '\n== times\n'
  printf '%s\n' "${phase_times[@]}"
  printf '%5d s in all\n' "$SECONDS"
  if [ "$status" -ne 0 ]; then
    printf '\n== FAILED in: %s\n' "$last"
    [ ${#logs[@]} -eq 0 ] || failed_tests "${logs[@]}"
  else
    printf '\n== passed\n'
  fi
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# require COMMAND PACKAGE-OR-HINT: ends with a message if the command is missing.
require() {
  command -v "$1" >/dev/null || { echo "$1 is missing: $2" >&2; exit 69; }
}

# build OPTION…: builds everything. Warnings are errors.
build() { compile --build-tests --disable-xctest "$@"; }

# test_program: sets `tests` to the built test program with its first options. `swift test` is not used. After
# any change of an environment variable it reads the descriptions of all packages again, which takes about ten
# seconds.
test_program() {
  tests=(env NO_COLOR=1 "$(built glucoportPackageTests.xctest)" --testing-library swift-testing)
}

# show_failures: prints the failures again, since they are hard to find among a thousand other lines.
show_failures() {
  printf '\n== failures\n'
  cat "${logs[@]}" | grep -A 20 -E '✘ |^error: |Fatal error' | grep -vE '^◇ |^✔ ' || true
}

# check OPTION…: runs the built tests for at most half an hour. Their output goes to a file. With a pipe,
# `check` would wait for every process that a test has left running.
check() {
  local tests status=0 log="$work/tests.log" reader
  test_program
  logs=("$log")
  : >"$log"
  timeout --kill-after=30 1800 "${tests[@]}" "$@" >"$log" 2>&1 & apart=($!)
  tail --follow --lines=+1 --pid="${apart[0]}" "$log" & reader=$!
  ended || status=$?
  wait "$reader" || true
  [ "$status" -ne 0 ] || return 0
  # The test program ends with EX_UNAVAILABLE (69) if no test matches the options.
  if [ "$status" -eq 69 ]; then echo "no test is chosen by: $*"; fi
  show_failures
  return 1
}

# ended: waits for the first process of `apart` that ends, and returns its status.
ended() {
  local process which status=0 others=()
  wait -n -p which "${apart[@]}" || status=$?
  for process in "${apart[@]}"; do [ "$process" = "$which" ] || others+=("$process"); done
  apart=("${others[@]}")
  return "$status"
}

# check_apart OPTION…: runs tests like `check`, but in several processes, one for each processor at a time,
# the longest first. In a single process, concurrent tests wait for each other when they allocate memory or
# look up Swift types. Two processors then do only a fifth more than one. Prints the output when all have
# ended.
check_apart() {
  local groups=('^SyncTests\.' '^LogbookStoreTests\.' '^FormatsTests\.' '^(Ingest|Parsing)Tests\.')
  local choices=() tests group choice status=0
  for group in "${groups[@]}"; do choices+=("--filter $group"); done
  choices=("${choices[@]:0:2}" "--skip $(IFS='|'; echo "${groups[*]}")" "${choices[@]:2}")
  test_program
  rm -f "$work"/tests-*.log
  tests+=(--experimental-maximum-parallelization-width 1)
  logs=()
  for choice in "${choices[@]}"; do
    if [ ${#apart[@]} -ge "$(nproc)" ]; then ended || status=1; fi
    logs+=("$work/tests-${#logs[@]}.log")
    "${tests[@]}" "${choice%% *}" "${choice#* }" "$@" >"${logs[-1]}" 2>&1 & apart+=($!)
  done
  while [ ${#apart[@]} -gt 0 ]; do ended || status=1; done
  cat "${logs[@]}"
  [ "$status" -ne 0 ] || return 0
  show_failures
  return 1
}

# memory_folder: puts temporary files into memory if there is enough of it. Tests kill processes but no
# machines, so their files need no disk. Otherwise most of their time would be spent waiting for it.
memory_folder() {
  local parent=/dev/shm free
  free=$(df --output=avail -k "$parent" 2>/dev/null | tail -1 || echo 0)
  [ "${free:-0}" -ge 1048576 ] && [ -w "$parent" ] || return 0
  [ "$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)" -ge 3145728 ] || return 0
  scratch=$(mktemp -d "$parent/glucoport.XXXXXX")
  # Some tests run programs as the user `nobody`, and some run copies of programs in this folder.
  chmod 755 "$scratch"
  if cp /bin/true "$scratch/true" && "$scratch/true"; then export TMPDIR=$scratch; fi
}

# schedules SIMULATE COUNT FIRST-SEED STEPS [site | database]: runs schedules in one process for each
# processor. In a single process, they would wait for each other's memory.
schedules() {
  local simulate=$1 count=$2 first=$3 steps=$4 lanes lane from process processes=() status=0
  shift 4
  lanes=$(nproc)
  for ((lane = 0; lane < lanes; lane++)); do
    from=$((count * lane / lanes))
    "$simulate" "$@" $((count * (lane + 1) / lanes - from)) $((first + from)) "$steps" & processes+=($!)
  done
  for process in "${processes[@]}"; do wait "$process" || status=1; done
  return "$status"
}

# commits: prints the number of commits, so that each commit gets different seeds.
commits() { git rev-list --count HEAD 2>/dev/null || echo 0; }
