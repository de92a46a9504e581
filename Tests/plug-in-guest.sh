#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs in the guest of Tests/plug-in.sh as a system service. Installs the package, sets up a server and a
# person's store as glucoport-operation(7) describes, plugs meters in, and checks what the units did. Ends the
# guest.
#   plug-in-guest.sh
set -euo pipefail
# shellcheck source=Tests/guest-steps.sh
source /opt/trial/guest-steps.sh
kiosk=/var/lib/glucoport-import/logbook.db

# plug DRIVER COUNT: plugs in a meter with this number of readings, until `pull` removes it.
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

# plug_for USER UNIT DRIVER COUNT: plugs a meter in, and waits until this has started the unit and the unit
# has ended.
plug_for() {
  local before
  before=$(manager "$1" show -P InvocationID "$2")
  plug "$3" "$4"
  await "$2 to be started and to end" has_ended "$1" "$2" "${before:-none}"
}
# kiosk_import COUNT STATUS: plugs a meter in, and waits until the kiosk's import has ended. The import must
# end with this status. The unit's name contains the port of the meter.
kiosk_import() {
  plug_for '' glucoport-import@1-1.service contour "$1"
  result '' glucoport-import@1-1.service "$2"
}
# at_the_seat USER: whether the session of this user is the active one on the screen.
at_the_seat() { loginctl show-session "$(loginctl show-seat -P ActiveSession seat0)" -P Name | grep -qx "$1"; }
# is_skipped UNIT: whether anna's service manager did not start a unit because a condition of it was not met.
is_skipped() {
  [ "$(units show -P ConditionTimestampMonotonic "$1")" != 0 ] && is no units show -P ConditionResult "$1"
}
meter=glucoport-meter.service

systemctl --quiet is-active systemd-udevd systemd-logind || fail "udev or logind does not run"
[ -e /sys/devices/platform/vhci_hcd.0 ] || fail "there is no plug"
begin
serve

# Nothing is imported for a user without a store. The user's first import by hand creates the store.
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
connect
brought 3
ok "the first import by hand"

# The service manager keeps the groups that it started with. So the import has no permission until the manager
# is started again. The person gets a notification without values.
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
has 3
pull
ok "an import that fails leads to a notification: $(paste -sd' ' "$home/notified")"
rm "$home/notified"
systemctl restart user@1500.service

# The main purpose of the units: the readings of a plugged meter reach the store and the server without a key
# pressed.
plugged=$(seconds)
plug_for anna $meter contour 5
result anna $meter 0
ended=$(seconds)
has 5
brought 2
ok "plugged in at $plugged, the readings were in the store and on the server at $ended, without a key pressed"
pull

plug_for anna $meter contour 5
result anna $meter 0
has 5
brought 0
pull
ok "the same meter again starts the unit again and brings nothing new"

# Meters with other links: a disk, a terminal of the kernel, a bulk pipe, and a modem.
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

# A person who sits at the computer needs no group.
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

# Sets up a kiosk with the udev rule from the manual.
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
has $count
pull
ok "a kiosk, with nobody there"

dpkg -P glucoport >/run/dpkg 2>&1 || fail "dpkg: $(cat /run/dpkg)"
is inactive systemctl show -P ActiveState glucoport-server.service || fail "the server runs after the package is gone"
for file in "$store" "$kiosk"; do [ -e "$file" ] || fail "the package took $file with it"; done
plug contour 7
! systemctl --failed --quiet | grep glucoport || fail "a unit failed: $(systemctl --failed)"
pull
ok "the package is gone, the data is there"

quiet_journal
