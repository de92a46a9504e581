#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plugs simulated meters into a Debian with systemd and udev, in which the package is installed, and looks whether their
# readings come into the store and to the server without a key pressed: in a QEMU guest with Debian's kernel, whose vhci_hcd
# has the meters at its plug. What happens there is in Tests/plug-in-guest.sh. Needs root, Debian's mirror, and what
# Tests/guest-kernel.sh says. Debian's root is kept in .build/plug-in and copied for each run.
#   Tests/plug-in.sh [FOLDER]     the package in FOLDER, by default .build/packages
# With GLUCOPORT_USB_GUEST, the program usb-guest, none is built. GLUCOPORT_SUITE: another Debian than bookworm.
set -euo pipefail
cd "$(dirname "$0")/.."
source Tests/compiler.sh
source Tests/guest-kernel.sh
suite=${GLUCOPORT_SUITE:-bookworm}
fail() { echo "plug-in: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "plug-in: run this as root" >&2; exit 69; }
package=$(find "$(realpath "${1:-.build/packages}")" -name 'glucoport_*.deb')
[ -f "$package" ] || fail "${1:-.build/packages} needs one package"

Tests/install-packages.sh debootstrap e2fsprogs kmod
unpack_kernel
plug=${GLUCOPORT_USB_GUEST:-}
if [ -z "$plug" ]; then
  compile --product usb-guest
  plug=$(built usb-guest)
fi

work=$PWD/.build/plug-in
base=$work/$suite
if [ ! -e "$base/done" ]; then
  rm -rf "$base"
  mkdir -p "$base"
  debootstrap --variant=minbase --include=ca-certificates,dbus,libpam-systemd,systemd-sysv,udev \
    "$suite" "$base" http://deb.debian.org/debian >"$work/debootstrap.log" || fail "$(tail "$work/debootstrap.log")"
  touch "$base/done"
fi
root=$work/root disk=$work/disk
rm -rf --one-file-system "$root" "$disk" "$work/initramfs"
cp -a "$base" "$root"
rm "$root/done"

# What the package needs is installed here: the guest has no network. The package itself is installed there.
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
needed=$(dpkg-deb -f "$package" Depends | sed -E 's/\([^)]*\)//g; s/[|][^,]*//g; s/,/ /g')
# shellcheck disable=SC2086 # they are several words
{ inside apt-get update -q && inside apt-get install -y -q --no-install-recommends $needed && inside apt-get clean; } \
  >"$work/apt.log" 2>&1 || fail "$(tail "$work/apt.log")"
inside groupadd --gid 1500 anna
inside useradd --uid 1500 --gid 1500 --create-home --shell /bin/bash anna
echo vhci-hcd >"$root/etc/modules-load.d/vhci-hcd.conf"
inside systemctl --quiet mask serial-getty@ttyS0.service apt-daily.timer apt-daily-upgrade.timer

trial=$root/opt/plug-in
mkdir -p "$trial"
cp "$package" "$trial/glucoport.deb"
# The program that plugs meters in brings its own libraries, so that those of the root stay Debian's.
add_programs "$trial/programs" "$plug"
cp Tests/plug-in-guest.sh "$trial"
# The rule of a kiosk is the one that the manual shows.
sed -n '/71-glucoport-kiosk.rules/,/^[.]Ed/{/^ACTION/p}' man/glucoport-operation.7 >"$trial/71-glucoport-kiosk.rules"
[ -s "$trial/71-glucoport-kiosk.rules" ] || fail "glucoport-operation(7) shows no rule of a kiosk"
for module in $(modules vhci-hcd usbhid hid-generic cdc-acm usb-storage sd_mod cp210x); do
  install -D -m 644 "$module" "$root/usr/${module#"$unpacked"/}"
done
for file in "$unpacked"/lib/modules/*/modules.{order,builtin,builtin.modinfo}; do cp "$file" "$root/usr/${file#"$unpacked"/}"; done
for version in "$root"/usr/lib/modules/*; do depmod -b "$root" "${version##*/}"; done
cat >"$root/etc/systemd/system/plug-in.service" <<'UNIT'
[Unit]
Description=Plug meters in
After=dbus.service systemd-logind.service systemd-user-sessions.service

[Service]
Type=exec
ExecStart=/opt/plug-in/plug-in-guest.sh
StandardOutput=file:/dev/ttyS1
StandardError=inherit

[Install]
WantedBy=multi-user.target
UNIT
# On a busy host nothing starts in the minute and a half that systemd allows.
for manager in system user; do
  mkdir -p "$root/etc/systemd/$manager.conf.d"
  printf '[Manager]\nDefaultTimeoutStartSec=10min\n' >"$root/etc/systemd/$manager.conf.d/plug-in.conf"
done
inside systemctl --quiet enable plug-in.service
mkfs.ext4 -q -d "$root" "$disk" 3G >"$work/disk.log" 2>&1 || fail "$(cat "$work/disk.log")"
rm -rf --one-file-system "$root"

mkdir -p "$work/initramfs"
cat >"$work/initramfs/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t devtmpfs none /dev
for module in /modules/*; do insmod "$module" || echo "no module $module"; done
mount -t ext4 /dev/vda /root
exec switch_root /root /sbin/init
INIT
initramfs "$work/initramfs" "$work/initramfs.cpio" virtio_pci virtio_blk ext4 crc32c_generic

start=$(date +%s)
guest 1800 2048 "$work/initramfs.cpio" -drive "file=$disk,format=raw,if=virtio,cache=unsafe" \
  -serial "file:$work/console.log" -serial stdio | tee "$work/guest.log" | grep -aE --line-buffered '^(ok|FAILED|guest)' || true
rm "$disk"
echo "$(($(date +%s) - start)) s with the start of the guest; all it said is in $work/guest.log and console.log"
grep -q '^guest: exit status 0$' "$work/guest.log"
