#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plugs simulated meters into a Debian with systemd and udev, in which the package is installed. Checks that
# their readings reach the store and the server without a key pressed. This Debian is a QEMU guest with
# Debian's kernel, whose vhci_hcd has ports for simulated meters. Tests/plug-in-guest.sh has the steps in the
# guest. Needs what Tests/guest-kernel.sh and Tests/guest-system.sh state.
#   Tests/plug-in.sh [FOLDER]     the package in FOLDER, by default .build/packages
# If GLUCOPORT_USB_GUEST names the program usb-guest, it is not built.
set -euo pipefail
cd "$(dirname "$0")/.."
source Tests/compiler.sh
source Tests/guest-kernel.sh
source Tests/guest-system.sh

plug=${GLUCOPORT_USB_GUEST:-}
if [ -z "$plug" ]; then
  compile --product usb-guest
  plug=$(built usb-guest)
fi

prepare plug-in "${1:-.build/packages}"
echo vhci-hcd >"$root/etc/modules-load.d/vhci-hcd.conf"
# The program that plugs meters in gets its own libraries, so that those of Debian's root do not change.
add_programs "$trial/programs" "$plug"
cp Tests/plug-in-guest.sh "$trial"
# The udev rule of a kiosk is taken from the manual.
sed -n '/71-glucoport-kiosk.rules/,/^[.]Ed/{/^ACTION/p}' man/glucoport-operation.7 >"$trial/71-glucoport-kiosk.rules"
[ -s "$trial/71-glucoport-kiosk.rules" ] || fail "glucoport-operation(7) shows no rule of a kiosk"
add_modules vhci-hcd usbhid hid-generic cdc-acm usb-storage sd_mod cp210x
boot 1800 plug-in-guest.sh
