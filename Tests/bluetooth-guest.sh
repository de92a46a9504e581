#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs in the guest of Tests/bluetooth.sh as a system service. As a user without any group, pairs and reads
# meters on virtual radios through the real bluetoothd, and lets the systemd units do the same. Then fetches
# from a source on a timer. Ends the guest.
#   bluetooth-guest.sh
set -euo pipefail
# shellcheck source=Tests/guest-steps.sh
source /opt/trial/guest-steps.sh
guide=D4:3E:00:12:34:56 contour=E2:10:00:65:43:21

# order WORDS: sends an order to Tests/bluetooth-meter.py, and waits until the order is done.
mkfifo /run/orders
: >/run/meters
given=0
has_obeyed() { [ "$(grep -c '^done' /run/meters)" -ge "$given" ]; }
order() {
  echo "$*" >&8
  given=$((given + 1))
  await "the radio to $* ($(tail -2 /run/meters.err))" has_obeyed
}
start_radios() {
  exec 8<>/run/orders
  PYTHONPATH=$trial/bumble PYTHONDONTWRITEBYTECODE=1 \
    python3 "$trial/bluetooth-meter.py" <&8 >>/run/meters 2>/run/meters.err 8>&- &
}
# run STATUS COMMAND...: runs a command as anna, and writes its output to /run/said. The command must end
# with this status.
run() {
  local status=0
  anna "${@:2}" >/run/said 2>&1 || status=$?
  [ "$status" = "$1" ] || fail "$(printf '%s ' "${@:2}") ended with $status and not $1: $(tr '\r' '\n' </run/said | tail -3)"
}
# said WORDS: fails unless the output of the last command contains these words.
said() { grep -qF -- "$1" /run/said || fail "'$1' is expected: $(tr '\r' '\n' </run/said | tail -5)"; }
# import STATUS ARGUMENT...: imports a Bluetooth meter. The import must end with this status.
import() { run "$1" glucoport import --meter --driver bluetooth-glucose --timezone UTC "${@:2}"; }
# object ADAPTER ADDRESS: prints whether bluetoothd has a pairing with a meter.
object() { busctl --system get-property org.bluez "/org/bluez/$1/dev_${2//:/_}" org.bluez.Device1 Paired; }

begin
python3 "$trial/bluetooth-facts.py" >/var/tmp/facts 2>&1 &
await "the watch of the bus" grep -q ready /var/tmp/facts
systemctl start bluetooth
run 69 glucoport meter pair --seconds 1
said "no Bluetooth adapter"
start_radios
order adapter
await "bluetoothd" busctl --system get-property org.bluez /org/bluez/hci0 org.bluez.Adapter1 Powered
# block 0|1: unblocks or blocks the adapters, as a switch at the computer does.
block() { for switch in /sys/class/rfkill/*/soft; do echo "$1" >"$switch"; done; }
block 1
run 69 glucoport meter pair --seconds 1
said "rfkill unblock bluetooth"
block 0
ok "no adapter, and a blocked one, have their sentences"
serve
ok "$(bluetoothd --version 2>/dev/null || /usr/libexec/bluetooth/bluetoothd --version) is bluetoothd's version"
for name in passkey wrong; do anna bash -c "echo $([ $name = wrong ] && echo 111111 || echo 123456) >$home/$name"; done

# `meter pair` switches on an adapter that is off.
busctl --system set-property org.bluez /org/bluez/hci0 org.bluez.Adapter1 Powered b false
run 69 glucoport meter pair --passkey-file "$home/passkey" --seconds 3
said "no meter in pairing mode was found"
order guide advertise 600
run 77 glucoport meter pair --passkey-file "$home/wrong"
said "refused the passkey"
run 0 glucoport meter list
! grep -q Guide /run/said || fail "a meter that refused the passkey is listed"
order guide advertise 600
run 0 glucoport meter pair --passkey-file "$home/passkey"
said "Roche Accu-Chek Guide 00123456: paired, address $guide"
is "b true" object hci0 $guide || fail "bluetoothd has no pairing"
run 0 glucoport meter list
said "Accu-Chek Guide"
ok "a wrong passkey is refused, the right one pairs"

# The meter is read completely, and the store gets its values.
order guide advertise 600
import 0
anna glucoport list --format csv | tr -d '\r' | cut -d, -f2,4,7,8,9,11,15 >/run/list
cat >/run/expected <<'LIST'
kind,device_time,value,unit,range,marks,serial
smbg,2020-08-02T13:06:16,258,mg/dL,,before-meal,00123456
smbg,2020-08-23T13:18:24,293,mg/dL,,,00123456
smbg,2020-08-24T04:28:00,112,mg/dL,,,00123456
smbg,2020-08-24T04:58:00,,mg/dL,high,,00123456
LIST
diff /run/expected /run/list >/run/difference || fail "the readings are others: $(cat /run/difference)"
connect
brought 4
ok "four readings, as the meter has them"

# A pairing is kept if bluetoothd is restarted.
systemctl restart bluetooth
order guide advertise 600
import 0
said "new 0"
ok "the pairing is kept over a restart of bluetoothd"

# Two meters are read. The second one pairs without a passkey.
order contour advertise 600
run 0 glucoport meter pair
said "Contour Next One 4567890: paired, address $contour"
order contour advertise 600
order guide advertise 600
import 0
import 0
has 6
anna glucoport list --format csv | tr -d '\r' | cut -d, -f2,4,7,8,9,11,15 | sed -n 2,3p >/run/list
cat >/run/expected <<'LIST'
smbg,2018-09-19T22:27:00,111,mg/dL,,after-meal,4567890
smbg,2018-09-21T05:00:00,5.5,mmol/L,,,4567890
LIST
diff /run/expected /run/list >/run/difference || fail "the readings are others: $(cat /run/difference)"
ok "two meters at once are read one after the other"

# If a transfer does not reach its end, nothing of it is stored.
order guide add
order guide leave-after 3
order guide advertise 600
import 69 --bluetooth $guide
said "the connection to the meter was lost"
order guide leave-after 1
order guide advertise 600
import 75 --bluetooth $guide --if-present --quiet
has 6
order guide be-silent
order guide advertise 600
import 76 --bluetooth $guide
has 6
order guide advertise 600
import 0 --bluetooth $guide
has 7
ok "a meter that leaves or falls silent in the transfer leaves nothing, and all of it later"

# The main purpose of the units: they read each meter that comes into range. A real meter can be found for
# half a minute. The simulated meter can be found for a whole minute, since a program needs seconds to start
# in the guest.
anna glucoport upload --quiet
brought 3
unit=glucoport-meter-bluetooth.service
units --quiet enable --now "${unit%.service}.timer"
await "bluetoothd to know the profile" grep -qx 'answer GattManager1.RegisterApplication' /var/tmp/facts
sleep 5
# waking: prints how many commands the radio has received and how many events it has sent, and how often
# bluetoothd and the program have run.
waking() {
  local pid
  hciconfig hci0 | grep -oE '(events|commands):[0-9]+'
  for pid in "$(units show -P ControlPID "$unit")" "$(systemctl show -P MainPID bluetooth)"; do
    awk '/ctxt_switches/ { count += $2 } END { print "runs:" count }' "/proc/$pid/task/"*/status
  done
}
waking >/run/before
sleep 60
waking >/run/after
diff <(grep -v runs /run/before) <(grep -v runs /run/after) >/run/difference || fail "the radio worked: $(cat /run/difference)"
runs() { sed -n "s/runs://p" "/run/$1" | sed -n "$2p"; }
program=$(($(runs after 1) - $(runs before 1))) daemon=$(($(runs after 2) - $(runs before 2)))
# The program checks for a signal every five seconds, and the Swift runtime checks its threads every second.
[ "$program" -le 120 ] && [ "$daemon" -le 30 ] || fail "in a minute of waiting glucoport ran $program times, bluetoothd $daemon times"
has 7
ok "in a minute of waiting the radio got no command, and glucoport ran $program times, bluetoothd $daemon times"
order guide add
shown=${EPOCHREALTIME%.*}
order guide advertise 60
await "the reading in the store" is 8 readings "$store"
uploaded() { anna glucoport status --json | grep -q '"pending_readings":0,'; }
await "the reading on the server" uploaded
took=$((${EPOCHREALTIME%.*} - shown))
brought 1
[ "$took" -le 90 ] || fail "the reading was on the server only after $took s"
units --quiet disable --now "${unit%.service}.timer"
units stop "$unit"
ok "a meter came near, and $took s later its reading was on the server, without a key pressed"

# A second adapter receives the same meters. The adapter with the pairing is used. `meter forget` makes both
# adapters forget the meter.
order adapter
await "the second adapter" busctl --system get-property org.bluez /org/bluez/hci1 org.bluez.Adapter1 Powered
order guide advertise 600
import 0 --bluetooth $guide
said "new 0"
run 0 glucoport meter forget $guide
for adapter in hci0 hci1; do
  ! object $adapter $guide >/run/object 2>&1 || fail "$adapter still knows the meter: $(cat /run/object)"
done
order guide advertise 600
run 0 glucoport meter pair --passkey-file "$home/passkey"
order guide advertise 600
import 0 --bluetooth $guide
said "new 0"
ok "with a second adapter a meter is read, forgotten and paired again"

# A source is fetched on a timer. Its values are uploaded on another timer.
mkdir -p /srv/source
# entries MINUTES...: prints a sensor value for each argument. Its time is that number of minutes before the
# script reached this line.
minute=$(($(date +%s) / 60))
entries() {
  local minutes separator='' time
  for minutes in "$@"; do
    time=$(((minute - minutes) * 60))
    printf '%s{"_id":"%024x","device":"xDrip-DexcomG6","dateString":"%s","date":%d000,"sgv":%d,"direction":"Flat","type":"sgv"}' \
      "${separator:-[}" "$time" "$(date -u -d "@$time" +%Y-%m-%dT%H:%M:%S.000Z)" "$time" $((100 + minutes))
    separator=,
  done
  echo ']'
}
entries 20 15 10 >/srv/source/sgv.json
systemd-run --quiet --unit source python3 -m http.server --bind 127.0.0.1 --directory /srv/source 17580
await "the source" python3 -c 'import socket; socket.create_connection(("127.0.0.1", 17580))'
run 0 glucoport source set phone --type http --insecure-http --interval 1m --timezone UTC --yes http://127.0.0.1:17580/sgv.json
has 8
# The package's timers run every five and fifteen minutes, which is too rarely for a test.
for name in fetch upload; do
  anna mkdir -p "$home/.config/systemd/user/glucoport-$name.timer.d"
  anna bash -c "printf '[Timer]\nOnCalendar=\nOnCalendar=*:*:0/20\nRandomizedDelaySec=0\nAccuracySec=1s\n' \
    >$home/.config/systemd/user/glucoport-$name.timer.d/often.conf"
done
units daemon-reload
units --quiet enable --now glucoport-fetch.timer glucoport-upload.timer
await "the values of the source in the store" is 11 readings "$store"
await "the values of the source on the server" uploaded
brought 3
units --quiet disable --now glucoport-fetch.timer glucoport-upload.timer
ok "a source was fetched on a timer, uploaded, and pulled by another store, without a key pressed"

! grep -E ' request 0?2| foreign ' /run/meters || fail "a meter was asked for what may not be asked"
quiet_journal

# The meter has lost the pairing, but this computer still has it, so the connection is aborted. In this case,
# Debian's Linux 6.1.192 sometimes reads freed memory in hci_chan_del, which ends bluetoothd and damages the
# state of the adapters. The script then stops here.
order guide forget
order guide advertise 600
import 69 --bluetooth $guide
said "the meter has lost the pairing: run 'glucoport meter forget $guide'"
if journalctl -b -k --no-pager | grep -q hci_chan_del; then
  ok "a pairing that the meter lost is named; the kernel failed, so that it is not made again here"
else
  order guide advertise 600
  run 0 glucoport meter forget $guide
  run 0 glucoport meter pair --passkey-file "$home/passkey"
  order guide advertise 600
  import 0 --bluetooth $guide
  said "new 0"
  ok "a pairing that the meter lost is named, and made again"
fi
