# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by the checks: phases with their times, tests whose failures are listed at the end, and schedules of the
# simulation. Every check runs without a person: no standard input, and an exit status other than 0 when anything fails.

exec </dev/null
source Tests/compiler.sh
work=$build_folder
mkdir -p "$work"
export CI=true

# Targets whose tests wait for servers and for whole programs; all others only compute. `filling` is the group of these, if
# any, that the caller runs by itself. Anchored, since files, too, have a name that ends with "Tests.".
waiting='^(BluetoothTransport|Commands|PostgresStore|Program|ProgramRemote|LogbookServer|Remotes|TestServers|USBTransport)Tests\.'
filling=''

phase='' phase_began=0 phase_used=0 phase_times=() background=() apart=() scratch='' logs=()

# used: sets `seconds_used` to the processor time of all that has ended, in tenths of a second.
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

# phase NAME: ends the phase before and begins the next one.
phase() {
  end_phase
  phase=$1 phase_began=$SECONDS
  used
  phase_used=$seconds_used
  printf '\n== %s\n' "$phase"
}

# failed_tests LOG…: the tests that failed, and those that did not end, as after a trap.
failed_tests() {
  local log
  # Not every awk knows that a sign of several bytes is one, so that the first word is whatever has no blank.
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
  # What was ended may still write there; what failed is said all the same.
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

# require COMMAND PACKAGE-OR-HINT: ends with what is missing.
require() {
  command -v "$1" >/dev/null || { echo "$1 is missing: $2" >&2; exit 69; }
}

# build OPTION…: builds everything; warnings are errors.
build() { compile --build-tests --disable-xctest "$@"; }

# test_program: sets `tests` to the program of the tests that are built, with its first options. `swift test` would read the
# descriptions of all packages again whenever any variable of the environment has changed, for some ten seconds.
test_program() {
  tests=(env NO_COLOR=1 "$(built glucoportPackageTests.xctest)" --testing-library swift-testing)
}

# show_failures: prints again what failed, where it is found among a thousand others.
show_failures() {
  printf '\n== failures\n'
  cat "${logs[@]}" | grep -A 20 -E '✘ |^error: |Fatal error' | grep -vE '^◇ |^✔ ' || true
}

# check OPTION…: runs tests that are built, for half an hour at most. Their output goes to a file: a pipe would have no end as
# long as a process that a test left has it, too.
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
  # EX_UNAVAILABLE, with which the program says that it found none.
  if [ "$status" -eq 69 ]; then echo "no test is chosen by: $*"; fi
  show_failures
  return 1
}

# ended: waits for the first of `apart` that ends, and gives its status.
ended() {
  local process which status=0 others=()
  wait -n -p which "${apart[@]}" || status=$?
  for process in "${apart[@]}"; do [ "$process" = "$which" ] || others+=("$process"); done
  apart=("${others[@]}")
  return "$status"
}

# check_apart OPTION…: the same in several programs, as many at a time as there are processors, the longest first, and
# without the group that is `filling`. In a single one, tests that run side by side wait for each other's memory and for what
# Swift knows of types: two processors do a fifth more than one does. Prints when all have ended.
check_apart() {
  local groups=('^SyncTests\.' '^LogbookStoreTests\.' '^FormatsTests\.' '^(Ingest|Parsing)Tests\.')
  local choices=("--skip $(IFS='|'; echo "${groups[*]}")") tests group choice status=0
  for group in "${groups[@]}"; do [ "$group" = "$filling" ] || choices+=("--filter $group"); done
  test_program
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

# memory_folder: lets temporary files be in memory where there is room for them. Tests kill processes and no machines, so
# none needs a disk below its files; waiting for one is most of what they would do.
memory_folder() {
  local parent=/dev/shm free
  free=$(df --output=avail -k "$parent" 2>/dev/null | tail -1 || echo 0)
  [ "${free:-0}" -ge 1048576 ] && [ -w "$parent" ] || return 0
  [ "$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)" -ge 3145728 ] || return 0
  scratch=$(mktemp -d "$parent/glucoport.XXXXXX")
  # Some tests run programs as nobody, and some from copies of their own.
  chmod 755 "$scratch"
  if cp /bin/true "$scratch/true" && "$scratch/true"; then export TMPDIR=$scratch; fi
}

# schedules SIMULATE COUNT FIRST-SEED STEPS [site | database]: in a process for each processor, since in one they wait for each
# other's memory.
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

# commits: how many there are, by which each commit has seeds of its own.
commits() { git rev-list --count HEAD 2>/dev/null || echo 0; }
