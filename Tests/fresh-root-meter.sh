#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# For Tests/fresh-root.sh, started by meter-plug: imports from the simulated meter as anna, with a program
# inside a Debian root.
#   Tests/fresh-root-meter.sh ROOT PROGRAM
set -eu
# Only the program inside the root must use the simulated bus. The folder of the bus is mounted there at the
# same path.
preload=$LD_PRELOAD
unset LD_PRELOAD
mkdir -p "$1$UMOCKDEV_DIR"
mount --bind "$UMOCKDEV_DIR" "$1$UMOCKDEV_DIR"
trap 'umount "$1$UMOCKDEV_DIR"; rmdir "$1$UMOCKDEV_DIR"' EXIT
library=$(ldconfig -p | sed -n "s/.*$preload.* => //p" | head -1)
cp "$library" "$1/shared/preload.so"
chroot "$1" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/home/anna LC_ALL=C.UTF-8 UMOCKDEV_DIR="$UMOCKDEV_DIR" \
  setpriv --reuid=1500 --regid=1500 --clear-groups env LD_PRELOAD=/shared/preload.so "$2" import --meter
