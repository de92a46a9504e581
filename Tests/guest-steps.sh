# shellcheck shell=bash disable=SC2034 # the scripts that source this file use its variables
# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts that run as a system service in the guest of Tests/guest-system.sh. Defines their
# messages, their waits and their common steps. Ends the guest when the script ends.
export LC_ALL=C.UTF-8 HOME=/root
trial=/opt/trial
start=${EPOCHREALTIME/./}
home=/home/anna second=/home/anna/second/logbook.db store=/home/anna/.local/share/glucoport/logbook.db

finish() {
  local status=$?
  journalctl -b --no-pager -o short-monotonic -n 2000 || true
  echo "guest: exit status $status"
  sync
  systemctl poweroff --force --force
}
trap finish EXIT
# seconds: prints the time since the script began, with tenths.
seconds() {
  local tenths=$(((${EPOCHREALTIME/./} - start) / 100000))
  echo "$((tenths / 10)).$((tenths % 10)) s"
}
ok() { echo "ok $(seconds): $*"; }
fail() { echo "FAILED $(seconds): $*"; exit 1; }
# await WHAT COMMAND...: waits until the command succeeds. The limit is five minutes, since the guest's
# processor is simulated.
await() {
  local what=$1 limit=$((SECONDS + 300))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$limit" ] || fail "waited in vain for $what"
    sleep 0.1
  done
}

# as USER COMMAND...: runs a command as this user, with the user's present groups and service manager.
as() {
  local user=$1
  shift
  runuser -u "$user" -- env HOME="$(getent passwd "$user" | cut -d: -f6)" XDG_RUNTIME_DIR="/run/user/$(id -u "$user")" "$@"
}
anna() { as anna "$@"; }
units() { anna systemctl --user "$@"; }
# readings STORE USER: prints the number of readings in a store.
readings() { as "${2:-anna}" glucoport status --store "$1" --json | grep -o '"readings":[0-9]*' | head -1 | cut -d: -f2; }
is() { [ "$("${@:2}")" = "$1" ]; }
# has COUNT: fails unless anna's store has this number of readings.
has() { is "$1" readings "$store" || fail "the store has $(readings "$store") readings and not $1"; }

# manager USER|'' ARGUMENT...: runs systemctl for the service manager of a user, or for that of the system.
manager() { if [ -n "$1" ]; then as "$1" systemctl --user "${@:2}"; else systemctl "${@:2}"; fi; }
# has_ended USER UNIT BEFORE: whether a unit has run and ended since the invocation BEFORE.
has_ended() {
  local id state
  id=$(manager "$1" show -P InvocationID "$2")
  state=$(manager "$1" show -P ActiveState "$2")
  [ -n "$id" ] && [ "$id" != "$3" ] && [[ $state = inactive || $state = failed ]]
}
# result USER UNIT STATUS: fails unless the unit's last run had this exit status.
result() {
  local status
  status=$(manager "$1" show -P ExecMainStatus "$2")
  [ "$status" = "$3" ] || fail "$2 ended with $status and not $3"
}

# begin: waits for anna's service manager, and installs the package.
begin() {
  loginctl enable-linger anna
  await "the service manager of anna" units is-active default.target
  ok "the guest has started, with $(systemctl --version | head -1)"
  # The package is installed while the system runs, as on the computer of a user.
  dpkg -i "$trial/glucoport.deb" >/run/dpkg 2>&1 || fail "dpkg: $(cat /run/dpkg)"
  ok "the package is installed, $(glucoport --version)"
}
# serve: starts the server of the package, and creates a token of each role for anna.
serve() {
  local name role token
  systemctl --quiet enable --now glucoport-server.service
  anna mkdir -p "$home/.config"
  anna mkdir -m 700 "${second%/*}"
  for name in laptop phone; do
    role='write'
    if [ $name = phone ]; then role='read'; fi
    token=$(as glucoport glucoport serve token add "anna-$name" --role $role --logbook anna --data /var/lib/glucoport)
    anna bash -c "umask 077; echo '$token' >$home/.config/token-$name"
  done
  ok "the server runs"
}
# connect: lets anna's store upload to the server, and her second store, which is empty, fetch from it.
connect() {
  anna glucoport remote set http://127.0.0.1:8077 --token-file "$home/.config/token-laptop" >/run/remote 2>&1 ||
    fail "remote set: $(cat /run/remote)"
  anna glucoport upload --quiet
  anna glucoport remote set http://127.0.0.1:8077 --token-file "$home/.config/token-phone" --store "$second" >/run/remote 2>&1 ||
    fail "remote set: $(cat /run/remote)"
}
# brought COUNT: fails unless the server got this number of readings since the last call. The second store
# fetches them.
brought() {
  local fetched
  fetched=$(anna glucoport upload --store "$second" 2>&1) || fail "the second store: $fetched"
  [[ $fetched == *"pulled $1 reading"* ]] || fail "$1 readings should have come to the server: $fetched"
}
# quiet_journal: fails if the Swift runtime has written to the journal.
quiet_journal() {
  journalctl -b --no-pager -o cat -t glucoport >/run/journal
  ! grep 'Failed to set thread priority' /run/journal >/run/noise || fail "$(wc -l </run/noise) lines of the runtime in the journal"
  ok "the journal has $(wc -l </run/journal) lines of glucoport"
}
