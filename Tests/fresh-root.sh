#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the package in a new Debian root, uses it as a person does, upgrades, removes and purges it. Then
# does the same with the archive and setup. Only the person's data may remain. lintian checks the package
# first. Needs root and Debian's mirror. The root is kept in .build/fresh-root and copied for each run.
#   Tests/fresh-root.sh [FOLDER]     packages in FOLDER, by default .build/packages
# If GLUCOPORT_METER_PLUG names the program meter-plug, a simulated meter is read. GLUCOPORT_SUITE names
# another Debian than bookworm.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=$(realpath "${1:-.build/packages}")
plug=${GLUCOPORT_METER_PLUG:-}
suite=${GLUCOPORT_SUITE:-bookworm}
[ "$(id -u)" = 0 ] || { echo "fresh-root: run this as root" >&2; exit 69; }
Tests/install-packages.sh debootstrap lintian ${plug:+umockdev}

fail() { echo "fresh-root: $*" >&2; exit 1; }
package=$(find "$packages" -name 'glucoport_*.deb') archive=$(find "$packages" -name 'glucoport_*.tar.gz')
[ -f "$package" ] && [ -f "$archive" ] || fail "$packages needs one package and one archive"

lintian --allow-root --fail-on error,warning "$package" || fail "lintian found faults"

base=$PWD/.build/fresh-root/$suite
if [ ! -e "$base/etc/debian_version" ]; then
  rm -rf "$base"
  mkdir -p "$base"
  debootstrap --variant=minbase --include=ca-certificates "$suite" "$base" http://deb.debian.org/debian
fi
work=$(mktemp -d)
root=$work/root
finish() {
  umount "$root/proc" 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap finish EXIT
cp -a "$base" "$root"
mkdir -p "$root/shared"
mount -t proc proc "$root/proc"
cp -r Samples/clarity "$root/opt/samples"
cp "$package" "$archive" "$root/opt"

inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
# anna WORDS: runs a command as a person.
anna() { inside setpriv --reuid=1500 --regid=1500 --clear-groups env HOME=/home/anna "$@"; }
# files: lists every file of the root except caches, logs, and the lists of dpkg and apt.
files() {
  (cd "$root" && find . -xdev \( -path ./proc -o -path ./opt -o -path ./shared -o -path ./var/cache -o -path ./var/log \
    -o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./tmp -o -path ./home/anna \) -prune -o -print | sort)
}
# expect WHAT TEXT COMMAND...: fails unless the command succeeds and prints the text.
expect() {
  local what=$1 text=$2 printed
  shift 2
  printed=$("$@" 2>&1) || fail "$what ended with $?: $printed"
  grep -qF -- "$text" <<<"$printed" || fail "$what does not print '$text': $printed"
}
# doctor PROGRAM: runs doctor, which may only report what a chroot without devices and services lacks.
doctor() {
  local status=0 printed
  printed=$(anna "$1" doctor 2>&1) || status=$?
  printf '%s\n' "$printed" >"$work/doctor"
  [ "$status" = 0 ] || fail "doctor ended with $status: $printed"
}
# read_meter PROGRAM: lets the program in the root read a simulated meter on this machine's bus.
read_meter() {
  if [ -z "$plug" ]; then return 0; fi
  "$plug" contour 20 "$PWD/Tests/fresh-root-meter.sh" "$root" "$1" >"$work/meter" 2>&1 || fail "the meter: $(cat "$work/meter")"
  grep -q 'new 20' "$work/meter" || fail "the meter was not read: $(cat "$work/meter")"
}

inside groupadd --gid 1500 anna
inside useradd --uid 1500 --gid 1500 --create-home anna
inside apt-get update -q >/dev/null
# A purge leaves the packages that the package depends on. So they are installed before the files are listed.
needed=$(dpkg-deb -f "$package" Depends | sed -E 's/\([^)]*\)//g; s/[|][^,]*//g; s/,/ /g')
# shellcheck disable=SC2086
inside apt-get install -y -q --no-install-recommends $needed >"$work/apt" 2>&1 || fail "$(tail "$work/apt")"
files >"$work/before"

install_package() { inside apt-get install -y -q --no-install-recommends "$@" >"$work/apt" 2>&1 || fail "$(tail "$work/apt")"; }
install_package "/opt/${package##*/}"
expect "the installed program" "$(dpkg-deb -f "$package" Version)" anna glucoport --version
doctor glucoport
store=/home/anna/.local/share/glucoport/logbook.db
expect "an import" "new 5" anna glucoport import --timezone Europe/Madrid /opt/samples/clarity-mgdl-en.csv
read_meter glucoport
expect "a list" "cbg" anna glucoport list
expect "a report" "<html" anna glucoport report --output -
doctor glucoport
digest=$(sha256sum "$root$store")

# The upgrade installs the same package with a later version.
dpkg-deb -R "$package" "$work/later"
sed -i 's/^Version: .*/&+later/' "$work/later/DEBIAN/control"
dpkg-deb --root-owner-group -Znone -b "$work/later" "$root/opt/glucoport_later.deb" >/dev/null
install_package /opt/glucoport_later.deb
expect "the upgraded program" "cbg" anna glucoport list
inside apt-get remove -y -q glucoport >"$work/apt" 2>&1 || fail "$(tail "$work/apt")"
install_package "/opt/${package##*/}"
inside apt-get purge -y -q glucoport >"$work/apt" 2>&1 || fail "$(tail "$work/apt")"
files >"$work/after"
diff "$work/before" "$work/after" || fail "a purge leaves files, or takes away others"
[ "$(sha256sum "$root$store")" = "$digest" ] || fail "the store is not what it was"
echo "fresh-root: the package installs, works, upgrades, and leaves the data only"

tar -xzf "$archive" -C "$root/opt"
unpacked=/opt/$(basename "$archive" .tar.gz)/bin/glucoport
inside "$unpacked" setup system --dry-run >/dev/null
files | diff "$work/before" - || fail "setup --dry-run writes files"
inside "$unpacked" setup system >/dev/null
doctor /usr/local/bin/glucoport
expect "the program of the archive" "known 5" \
  anna /usr/local/bin/glucoport import --timezone Europe/Madrid /opt/samples/clarity-mgdl-en.csv
inside /usr/local/bin/glucoport setup remove system >/dev/null
files | diff "$work/before" - || fail "setup remove leaves files, or takes away others"
echo "fresh-root: the archive and setup install, work, and leave the data only"
