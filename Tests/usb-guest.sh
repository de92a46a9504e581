#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Reads every simulated meter with the built binary through the USB stack of a real kernel. The kernel is
# Debian's in a QEMU guest, and its vhci_hcd has ports for simulated meters. Tests/long.sh runs this script,
# and Tests/run.sh does not. Needs what Tests/guest-kernel.sh states.
#   Tests/usb-guest.sh [DRIVER]...     all meters, or those of some drivers
set -euo pipefail
cd "$(dirname "$0")/.."
source Tests/compiler.sh
source Tests/guest-kernel.sh

unpack_kernel
work=.build/usb-guest
mkdir -p "$work"
compile --product glucoport
compile --product usb-guest

root=$work/root
rm -rf "$root"
add_programs "$root" "$(built glucoport)" "$(built usb-guest)"
cat >"$root/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox mkdir -p /usr/bin /usr/sbin /sbin
/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
export HOME=/tmp PATH=/bin
for module in /modules/*; do insmod "$module" || echo "no module $module"; done
cd /tmp
usb-guest /bin/glucoport DRIVERS
echo "guest: exit status $?"
poweroff -f
INIT
sed -i "s/ DRIVERS$/ $*/" "$root/init"
initramfs "$root" "$work/root.cpio" vhci-hcd usbhid hid-generic cdc-acm usb-storage sd_mod cp210x

start=$(date +%s)
guest 1800 2048 "$work/root.cpio" -serial stdio | tee "$work/guest.log" |
  grep -aE --line-buffered '^(ok|FAILED|no chip|failures|guest)' || true
echo "$(($(date +%s) - start)) s with the start of the guest; all it said is in $work/guest.log"
grep -q '^guest: exit status 0$' "$work/guest.log"
