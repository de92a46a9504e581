#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pairs and reads Bluetooth meters with the package, in a Debian with the real bluetoothd. It is a QEMU guest
# with Debian's kernel, whose module hci_vhci has virtual radios. The library bumble simulates the meters on
# these radios (Tests/bluetooth-meter.py). Then fetches from a source on a timer. Tests/bluetooth-guest.sh has
# the steps in the guest. Needs what Tests/guest-system.sh states, and bumble, which is downloaded once from
# PyPI.
#   Tests/bluetooth.sh [FOLDER]     the package in FOLDER, by default .build/packages
set -euo pipefail
cd "$(dirname "$0")/.."
source Tests/guest-kernel.sh
source Tests/guest-system.sh

prepare bluetooth "${1:-.build/packages}" bluez python3 python3-dbus python3-gi

# Installs bumble and its dependencies for the guest's Python.
python=$(inside python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
bumble=$work/bumble-$python
if [ ! -e "$bumble/done" ]; then
  rm -rf "$bumble"
  python3 -m pip --version >/dev/null 2>&1 || Tests/install-packages.sh python3-pip
  python3 -m pip install --quiet --root-user-action=ignore --target "$bumble" --python-version "$python" \
    --only-binary=:all: --no-deps bumble==0.0.236 cryptography==50.0.2 cffi==2.1.1 pycparser==3.12 pyee==13.0.1 \
    typing_extensions==4.16.0
  touch "$bumble/done"
fi
cp -a "$bumble" "$trial/bumble"
cp Tests/bluetooth-guest.sh Tests/bluetooth-meter.py Tests/bluetooth-facts.py "$trial"

# The order of the modules matters: when the kernel's Bluetooth starts, it tests its cryptography, which needs
# drbg, and drbg needs ctr.
radio=(ctr sha512_generic hmac drbg cmac ccm ecb ecdh_generic af_alg algif_hash algif_skcipher bluetooth uhid hci_vhci)
printf '%s\n' "${radio[@]}" >"$root/etc/modules-load.d/bluetooth.conf"
add_modules "${radio[@]}"
boot 1800 bluetooth-guest.sh
