# shellcheck shell=bash disable=SC2034,SC2154 # the scripts that source this file use its variables, and it uses those of Tests/guest-kernel.sh
# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts that install the package in a Debian with systemd in a QEMU guest, and run a script
# there as a service. Debian's root is kept in a folder of .build and copied for each run. Needs root and
# Debian's mirror. GLUCOPORT_SUITE names another Debian than bookworm.

# prepare NAME FOLDER PACKAGE...: copies Debian's root, and installs these packages and those that glucoport's
# package in FOLDER needs. Adds the user anna. Sets work, root, trial and package.
prepare() {
  local folder=$2 suite=${GLUCOPORT_SUITE:-bookworm} base needed
  trial_name=$1
  shift 2
  [ "$(id -u)" = 0 ] || { echo "$trial_name: run this as root" >&2; exit 69; }
  package=$(find "$(realpath "$folder")" -name 'glucoport_*.deb')
  [ -f "$package" ] || fail "$folder needs one package"
  Tests/install-packages.sh debootstrap e2fsprogs kmod
  unpack_kernel
  work=$PWD/.build/$trial_name
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

  # The packages that glucoport needs are installed here, since the guest has no network. glucoport itself is
  # installed in the guest.
  needed=$(dpkg-deb -f "$package" Depends | sed -E 's/\([^)]*\)//g; s/[|][^,]*//g; s/,/ /g')
  # shellcheck disable=SC2086 # the value consists of several words
  { inside apt-get update -q && inside apt-get install -y -q --no-install-recommends $needed "$@" && inside apt-get clean; } \
    >"$work/apt.log" 2>&1 || fail "$(tail "$work/apt.log")"
  inside groupadd --gid 1500 anna
  inside useradd --uid 1500 --gid 1500 --create-home --shell /bin/bash anna
  inside systemctl --quiet mask serial-getty@ttyS0.service apt-daily.timer apt-daily-upgrade.timer
  trial=$root/opt/trial
  mkdir -p "$trial"
  cp "$package" "$trial/glucoport.deb"
  cp Tests/guest-steps.sh "$trial"

  # A program that is not linked statically needs the Swift libraries of this machine, so they are copied.
  rm -rf "$work/program"
  dpkg-deb -x "$package" "$work/program"
  ldd "$work/program/usr/bin/glucoport" | grep -o '/[^ ]*' | sort -u | while read -r library; do
    if ! inside test -e "$library"; then install -D "$library" "$root$library"; fi
  done
  rm -r "$work/program"
}
fail() { echo "$trial_name: $*" >&2; exit 1; }
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }

# add_modules NAME...: copies these modules of the kernel, and those that they need, into the root.
add_modules() {
  local module file version
  for module in $(modules "$@"); do install -D -m 644 "$module" "$root/usr/${module#"$unpacked"/}"; done
  for file in "$unpacked"/lib/modules/*/modules.{order,builtin,builtin.modinfo}; do cp "$file" "$root/usr/${file#"$unpacked"/}"; done
  for version in "$root"/usr/lib/modules/*; do depmod -b "$root" "${version##*/}"; done
}

# boot SECONDS SCRIPT: runs the guest until SCRIPT, in the folder of the trial, has ended it. Shows the lines
# of its steps, and fails if a step failed.
boot() {
  local limit=$1 script=$2 manager start
  cat >"$root/etc/systemd/system/trial.service" <<UNIT
[Unit]
Description=A trial of glucoport
After=dbus.service systemd-logind.service systemd-user-sessions.service

[Service]
Type=exec
ExecStart=/opt/trial/$script
StandardOutput=file:/dev/ttyS1
StandardError=inherit

[Install]
WantedBy=multi-user.target
UNIT
  # On a busy host, no service starts within the 90 seconds that systemd allows by default.
  for manager in system user; do
    mkdir -p "$root/etc/systemd/$manager.conf.d"
    printf '[Manager]\nDefaultTimeoutStartSec=10min\n' >"$root/etc/systemd/$manager.conf.d/trial.conf"
  done
  inside systemctl --quiet enable trial.service
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
  guest "$limit" 2048 "$work/initramfs.cpio" -drive "file=$disk,format=raw,if=virtio,cache=unsafe" \
    -serial "file:$work/console.log" -serial stdio | tee "$work/guest.log" |
    grep -aE --line-buffered '^(ok|FAILED|guest)' || true
  echo "$(($(date +%s) - start)) s with the start of the guest; all it said is in $work/guest.log and console.log"
  if [ -n "${GLUCOPORT_KEEP_DISK:-}" ]; then echo "its disk is $disk"; else rm "$disk"; fi
  grep -q '^guest: exit status 0$' "$work/guest.log"
}
