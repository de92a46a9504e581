# shellcheck shell=bash disable=SC2034 # the scripts that source this file use its variables
# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts that boot a guest in QEMU. The guest has Debian's kernel, and busybox in an
# initramfs. Both packages are unpacked and not installed. Needs amd64 and 75 MB of packages, which are
# downloaded once. Needs no KVM. With a usable KVM, set QEMU_ACCEL="-enable-kvm -cpu host".
unpacked=.build/guest-kernel

# unpack_kernel: downloads and unpacks kernel and busybox, unless they are unpacked already.
unpack_kernel() {
  Tests/install-packages.sh qemu-system-x86 cpio xz-utils libusb-1.0-0-dev
  if [ -e "$unpacked/done" ]; then return 0; fi
  rm -rf "$unpacked" && mkdir -p "$unpacked/packages"
  local kernel package
  kernel=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -1)
  (cd "$unpacked/packages" && apt-get download "$kernel" busybox-static)
  for package in "$unpacked"/packages/*.deb; do dpkg -x "$package" "$unpacked"; done
  rm -r "$unpacked/packages"
  touch "$unpacked/done"
}

# modules NAME...: prints the files of these modules and of those that they need, in the order of loading,
# each once. In a name, - and _ mean the same.
modules() {
  local name file needed
  for name in "$@"; do
    file=$(find "$unpacked/lib/modules" -name "${name//[-_]/[-_]}.ko")
    if [ -z "$file" ]; then continue; fi # It is part of the kernel.
    needed=$(tr '\0' '\n' <"$file" | sed -n 's/^depends=//p' | tr ',' ' ')
    # shellcheck disable=SC2086 # the value consists of several words
    modules $needed
    echo "$file"
  done | awk '!seen[$0]++'
}

# add_programs FOLDER PROGRAM...: copies stripped programs into FOLDER, and their libraries to the same paths
# below it.
add_programs() {
  local folder=$1 program library
  shift
  mkdir -p "$folder/bin"
  for program in "$@"; do strip -o "$folder/bin/${program##*/}" "$program"; done
  ldd "$@" | grep -o '/[^ ]*' | grep -v ':$' | sort -u | while read -r library; do
    mkdir -p "$folder$(dirname "$library")" && cp -L "$library" "$folder$library"
  done
}

# initramfs FOLDER FILE MODULE...: packs FOLDER with busybox and modules. Its /init loads the modules in
# /modules in the order of their names.
initramfs() {
  local folder=$1 file=$2 order=10 module
  shift 2
  mkdir -p "$folder"/{bin,dev,proc,sys,tmp,modules}
  cp "$unpacked/bin/busybox" "$folder/bin/busybox"
  for module in $(modules "$@"); do
    order=$((order + 1))
    cp "$module" "$folder/modules/$order=${module##*/}"
  done
  chmod +x "$folder/init"
  (cd "$folder" && find . | cpio --quiet -o -H newc) >"$file"
}

# guest SECONDS MEMORY INITRAMFS ARGUMENT...: runs a guest with further arguments for QEMU. Its first serial
# line, with the kernel's messages, is written to standard output.
guest() {
  local limit=$1 memory=$2 initramfs=$3
  shift 3
  # On a busy host, the kernel's check of its timer can fail, and the kernel would then panic.
  # shellcheck disable=SC2086 # the options are several words
  timeout "$limit" qemu-system-x86_64 ${QEMU_ACCEL:--accel tcg,thread=multi -cpu max} -smp 2 -m "$memory" -nic none \
    -display none -no-reboot -kernel "$unpacked"/boot/vmlinuz-* -initrd "$initramfs" \
    -append "console=ttyS0 quiet panic=-1 no_timer_check" "$@" </dev/null 2>&1 | sed -u 's|\r||g'
}
