#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# For Tests/plug-in.sh, as a system service of its guest: installs the package, sets a server and a person's store up as
# glucoport-operation(7) says, plugs meters in, and looks at what the units did. Ends the guest.
#   plug-in-guest.sh
set -euo pipefail
export LC_ALL=C.UTF-8 HOME=/root
trial=/opt/plug-in
start=${EPOCHREALTIME/./}
home=/home/anna second=/home/anna/second/logbook.db store=/home/anna/.local/share/glucoport/logbook.db kiosk=/var/lib/glucoport-import/logbook.db

finish() {
  local status=$?
  journalctl -b --no-pager -o short-monotonic -n 2000 || true
  echo "guest: exit status $status"
  sync
  systemctl poweroff --force --force
}
trap finish EXIT
# seconds: since the script began, with tenths.
seconds() {
  local tenths=$(((${EPOCHREALTIME/./} - start) / 100000))
  echo "$((tenths / 10)).$((tenths % 10)) s"
}
ok() { echo "ok $(seconds): $*"; }
fail() { echo "FAILED $(seconds): $*"; exit 1; }
# await WHAT COMMAND...: until the command succeeds, five minutes at most: the guest's processor is a simulated one.
await() {
  local what=$1 limit=$((SECONDS + 300))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$limit" ] || fail "waited in vain for $what"
    sleep 0.1
  done
}

# as USER COMMAND...: as this person, with the groups of today, and with the bus of the person's service manager.
as() {
  local user=$1
  shift
  runuser -u "$user" -- env HOME="$(getent passwd "$user" | cut -d: -f6)" XDG_RUNTIME_DIR="/run/user/$(id -u "$user")" "$@"
}
anna() { as anna "$@"; }
units() { anna systemctl --user "$@"; }
# readings STORE USER: how many readings a store holds.
readings() { as "${2:-anna}" glucoport status --store "$1" --json | grep -o '"readings":[0-9]*' | head -1 | cut -d: -f2; }
is() { [ "$("${@:2}")" = "$1" ]; }

# plug DRIVER COUNT: a meter with so many readings, until it is pulled.
libraries=$(find "$trial/programs" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
loader=$(find "$trial/programs" -name 'ld-linux*.so*' | head -1)
plug() {
  exec 9> >(exec "$loader" --library-path "$libraries" "$trial/programs/bin/usb-guest" plug "$1" "$2" >/run/plugged 2>&1 9>&-)
  plugger=$!
  await "the meter to be plugged in: $(cat /run/plugged 2>&1)" grep -q '^plugged' /run/plugged
}
pull() {
  exec 9>&-
  wait "$plugger" || fail "the meter cannot be pulled: $(cat /run/plugged)"
  rm /run/plugged
}

# manager USER|'' : the service manager that is asked: a person's or the system's.
manager() { if [ -n "$1" ]; then as "$1" systemctl --user "${@:2}"; else systemctl "${@:2}"; fi; }
# has_ended USER UNIT BEFORE: whether a unit has run since the invocation BEFORE, and ended.
has_ended() {
  local id state
  id=$(manager "$1" show -P InvocationID "$2")
  state=$(manager "$1" show -P ActiveState "$2")
  [ -n "$id" ] && [ "$id" != "$3" ] && [[ $state = inactive || $state = failed ]]
}
# plug_for USER UNIT DRIVER COUNT: plugs in, and waits until the unit was started by that, and ended.
plug_for() {
  local before
  before=$(manager "$1" show -P InvocationID "$2")
  plug "$3" "$4"
  await "$2 to be started and to end" has_ended "$1" "$2" "${before:-none}"
}
# kiosk_import COUNT STATUS: plugs in, and waits until the kiosk's import has ended with this status. The name of its unit
# has the port of the meter.
kiosk_import() {
  plug_for '' glucoport-import@1-1.service contour "$1"
  result '' glucoport-import@1-1.service "$2"
}
# at_the_seat USER: whether this person's session is the active one at the screen.
at_the_seat() { loginctl show-session "$(loginctl show-seat -P ActiveSession seat0)" -P Name | grep -qx "$1"; }
# is_skipped UNIT: whether anna's service manager looked at the conditions of a unit, and one did not hold.
is_skipped() {
  [ "$(units show -P ConditionTimestampMonotonic "$1")" != 0 ] && is no units show -P ConditionResult "$1"
}
# result USER UNIT STATUS: the unit's last import has this exit status.
result() {
  local status
  status=$(manager "$1" show -P ExecMainStatus "$2")
  [ "$status" = "$3" ] || fail "$2 ended with $status and not $3"
}
# brought COUNT: since it was last asked, the server has got so many readings, which a second store fetches.
brought() {
  local fetched
  fetched=$(anna glucoport upload --store "$second" 2>&1) || fail "the second store: $fetched"
  [[ $fetched == *"pulled $1 reading"* ]] || fail "$1 readings should have come to the server: $fetched"
}

meter=glucoport-meter.service

systemctl --quiet is-active systemd-udevd systemd-logind || fail "udev or logind does not run"
loginctl enable-linger anna
await "the service manager of anna" units is-active default.target
[ -e /sys/devices/platform/vhci_hcd.0 ] || fail "there is no plug"
ok "the guest has started, with $(systemctl --version | head -1)"

# The package comes into a system that runs.
dpkg -i "$trial/glucoport.deb" >/run/dpkg 2>&1 || fail "dpkg: $(cat /run/dpkg)"
ok "the package is installed, $(glucoport --version)"

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

# Nothing is imported for a person without a store, which the first import by hand creates.
plug contour 3
await "$meter to be skipped" is_skipped $meter
[ ! -e "$store" ] || fail "a store was created unasked"
ok "nothing is imported without a store"
status=0
anna glucoport import --meter --timezone UTC >/run/import 2>&1 || status=$?
[ $status = 77 ] || fail "an import without permission ended with $status: $(cat /run/import)"
[ ! -e "$store" ] || fail "an import without permission created a store"
usermod -aG plugdev anna
anna glucoport import --meter --timezone UTC >/run/import 2>&1 || fail "the import by hand: $(cat /run/import)"
pull
anna glucoport remote set http://127.0.0.1:8077 --token-file "$home/.config/token-laptop" >/run/remote 2>&1 ||
  fail "remote set: $(cat /run/remote)"
anna glucoport upload --quiet
anna glucoport remote set http://127.0.0.1:8077 --token-file "$home/.config/token-phone" --store "$second" >/run/remote 2>&1 ||
  fail "remote set: $(cat /run/remote)"
brought 3
ok "the first import by hand"

# The service manager runs with the groups of its start, so that without a new one the import has no permission. The person
# hears of it, without values.
cat >/usr/bin/notify-send <<'STUB'
#!/bin/sh
printf '%s\n' "$@" >>"$HOME/notified"
STUB
chmod 755 /usr/bin/notify-send
plug_for anna $meter contour 5
result anna $meter 77
await "the notification" test -s "$home/notified"
grep -q "$meter" "$home/notified" || fail "the notification does not name the unit: $(cat "$home/notified")"
grep -qE 'mg/dL|mmol|95|254|187' "$home/notified" && fail "the notification has values: $(cat "$home/notified")"
is 3 readings "$store" || fail "readings were stored"
pull
ok "an import that fails leads to a notification: $(paste -sd' ' "$home/notified")"
rm "$home/notified"
systemctl restart user@1500.service

# What all this is for.
plugged=$(seconds)
plug_for anna $meter contour 5
result anna $meter 0
ended=$(seconds)
is 5 readings "$store" || fail "the store has $(readings "$store") readings and not 5"
brought 2
ok "plugged in at $plugged, the readings were in the store and on the server at $ended, without a key pressed"
pull

plug_for anna $meter contour 5
result anna $meter 0
is 5 readings "$store" || fail "the store has $(readings "$store") readings and not 5"
brought 0
pull
ok "the same meter again starts the unit again and brings nothing new"

# Other links: a disk, a terminal of the kernel, a bulk pipe, and a modem.
count=5
for driver in onetouch-verio onetouch-verio-iq accu-chek-guide accu-chek-mobile dexcom-g4; do
  plug_for anna $meter $driver 4
  result anna $meter 0
  brought 4
  count=$((count + 4))
  pull
  ok "$driver"
done
[ ! -e "$home/notified" ] || fail "there were notifications: $(cat "$home/notified")"

anna glucoport doctor >/run/doctor 2>&1 || fail "doctor: $(cat /run/doctor)"
ok "doctor: $(cut -d' ' -f1 /run/doctor | sort | uniq -c | paste -sd' ')"

# Who sits at the computer needs no group.
gpasswd -d anna plugdev >/dev/null
loginctl disable-linger anna
await "the service manager of anna to end" is inactive systemctl show -P ActiveState user@1500.service
mkdir -p /run/systemd/system/getty@tty1.service.d
printf '[Service]\nExecStart=\nExecStart=-/sbin/agetty --autologin anna --noclear %%I linux\n' >/run/systemd/system/getty@tty1.service.d/login.conf
systemctl daemon-reload
systemctl restart getty@tty1.service
await "anna to be at the seat" at_the_seat anna
await "the service manager of anna" units is-active default.target
plug_for anna $meter contour 6
result anna $meter 0
brought 1
count=$((count + 1))
pull
ok "at the seat, without the group"
rm -r /run/systemd/system/getty@tty1.service.d
systemctl daemon-reload
systemctl stop getty@tty1.service
loginctl terminate-user anna
await "the service manager of anna to end" is inactive systemctl show -P ActiveState user@1500.service

# A kiosk, by the rule of the manual.
cp "$trial/71-glucoport-kiosk.rules" /etc/udev/rules.d/
udevadm control --reload
kiosk_import 4 78
pull
timedatectl set-timezone Africa/Abidjan
kiosk_import 4 0
is 4 readings "$kiosk" glucoport || fail "the kiosk has $(readings "$kiosk" glucoport) readings and not 4"
pull
token=$(as glucoport glucoport serve token add kiosk --role write --logbook kiosk --data /var/lib/glucoport)
as glucoport bash -c "umask 077; echo '$token' >${kiosk%/*}/token"
as glucoport glucoport remote set http://127.0.0.1:8077 --token-file "${kiosk%/*}/token" --store "$kiosk" >/run/remote 2>&1 ||
  fail "remote set: $(cat /run/remote)"
kiosk_import 6 0
is 6 readings "$kiosk" glucoport || fail "the kiosk has $(readings "$kiosk" glucoport) readings and not 6"
as glucoport glucoport status --store "$kiosk" --json | grep -q '"pending_readings":0,' || fail "the kiosk has not uploaded"
as glucoport glucoport verify --store "$kiosk" >/run/verify 2>&1 || fail "the server's logbook of the kiosk: $(cat /run/verify)"
is $count readings "$store" || fail "the store of who is not there has $(readings "$store") readings and not $count"
pull
ok "a kiosk, with nobody there"

dpkg -P glucoport >/run/dpkg 2>&1 || fail "dpkg: $(cat /run/dpkg)"
is inactive systemctl show -P ActiveState glucoport-server.service || fail "the server runs after the package is gone"
for file in "$store" "$kiosk"; do [ -e "$file" ] || fail "the package took $file with it"; done
plug contour 7
! systemctl --failed --quiet | grep glucoport || fail "a unit failed: $(systemctl --failed)"
pull
ok "the package is gone, the data is there"

journalctl -b --no-pager -o cat -t glucoport >/run/journal
! grep 'Failed to set thread priority' /run/journal >/run/noise || fail "$(wc -l </run/noise) lines of the runtime in the journal"
ok "the journal has $(wc -l </run/journal) lines of glucoport"
