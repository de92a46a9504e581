#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Reads every simulated meter with the built binary through a real kernel's USB stack: in a QEMU guest with Debian's
# kernel, whose vhci_hcd has the simulated meters at its plugs. Needs amd64 and, once, 75 MB of packages; no KVM. Not
# part of Tests/run.sh, but of Tests/long.sh. With a usable KVM: QEMU_ACCEL="-enable-kvm -cpu host"
#   Tests/usb-guest.sh [DRIVER]...     all meters, or those of some drivers
set -euo pipefail
cd "$(dirname "$0")/.."
source Tests/compiler.sh

Tests/install-packages.sh qemu-system-x86 cpio xz-utils libusb-1.0-0-dev
work=.build/usb-guest
mkdir -p "$work"

# The kernel is unpacked here and installed nowhere.
if [ ! -e "$work/unpacked/done" ]; then
  rm -rf "$work/unpacked" && mkdir -p "$work/unpacked"
  kernel=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -1)
  (cd "$work" && apt-get download "$kernel" busybox-static)
  for package in "$work"/*.deb; do dpkg -x "$package" "$work/unpacked" && rm "$package"; done
  touch "$work/unpacked/done"
fi

swift build "${compiler[@]}" --product glucoport
swift build "${compiler[@]}" --product usb-guest
products=$(swift build "${compiler[@]}" --show-bin-path)

root=$work/root
rm -rf "$root"
mkdir -p "$root"/{bin,dev,proc,sys,tmp,modules}
cp "$work/unpacked/bin/busybox" "$root/bin/busybox"
for program in glucoport usb-guest; do strip -o "$root/bin/$program" "$products/$program"; done
ldd "$products/glucoport" "$products/usb-guest" | grep -o '/[^ ]*' | grep -v ':$' | sort -u | while read -r library; do
  mkdir -p "$root$(dirname "$library")" && cp -L "$library" "$root$library"
done

# find_module NAME: its file; a name stands with - or _ for either.
find_module() { find "$work/unpacked/lib/modules" -name "${1//[-_]/[-_]}.ko" | head -1; }
# add_module NAME: puts a module behind those that it needs, and each once.
order=0
add_module() {
  local file name=${1//-/_}
  if [ -n "$(find "$root/modules" -name "*=$name.ko")" ]; then return; fi
  file=$(find_module "$1")
  if [ -z "$file" ]; then return; fi # It is part of the kernel.
  for needed in $(tr '\0' '\n' <"$file" | sed -n 's/^depends=//p' | tr ',' ' '); do add_module "$needed"; done
  order=$((order + 1))
  cp "$file" "$root/modules/$(printf %02d $order)=$name.ko"
}
for module in vhci-hcd usbhid hid-generic cdc-acm usb-storage sd_mod cp210x; do add_module $module; done

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
chmod +x "$root/init"
(cd "$root" && find . | cpio --quiet -o -H newc) >"$work/root.cpio"

start=$(date +%s)
# A busy host lets the kernel's check of its timer fail, which is then a panic.
# shellcheck disable=SC2086 # the options are several words
timeout 1800 qemu-system-x86_64 ${QEMU_ACCEL:--accel tcg,thread=multi -cpu max} -smp 2 -m 2048 -nographic -no-reboot \
  -kernel "$work"/unpacked/boot/vmlinuz-* -initrd "$work/root.cpio" -append "console=ttyS0 quiet panic=-1 no_timer_check" \
  </dev/null 2>&1 | sed -u 's|\r||g' | tee "$work/guest.log" | grep -aE --line-buffered '^(ok|FAILED|no chip|failures|guest)' || true
echo "$(($(date +%s) - start)) s with the start of the guest; all it said is in $work/guest.log"
grep -q '^guest: exit status 0$' "$work/guest.log"
