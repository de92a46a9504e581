#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the packages twice, each from a copy of the repository's files in a separate folder, and compares
# them byte by byte. This takes two release builds. With a program, only packs this program twice. The
# packages are copied to FOLDER if it is given.
#   Tests/reproducible.sh [PROGRAM [FOLDER]]
set -euo pipefail
program=${1:+$(realpath "$1")} kept=${2:+$(realpath -m "$2")}
cd "$(dirname "$0")/.."
work=$(mktemp -d "${TMPDIR:-/tmp}/glucoport-reproducible.XXXXXX")
trap 'rm -rf "$work"' EXIT
fail() { echo "reproducible: $*" >&2; exit 1; }

export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
if [ -n "$program" ]; then export GLUCOPORT_PROGRAM=$program; fi

# The names of the folders differ in length, since a path may also change the size of a file. Language, zone
# and umask differ as well, and must have no effect.
for copy in one another/place; do
  mkdir -p "$work/$copy"
  git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$work/$copy"
  # Both builds use the same versions of other packages if this folder has fixed them.
  if [ -e Package.resolved ]; then cp Package.resolved "$work/$copy"; fi
done
pack_one() { (cd "$work/one" && Samples/packaging/build.sh "$work/packages/one"); }
pack_another() {
  (cd "$work/another/place" && umask 077 && LANG=de_DE.UTF-8 TZ=Asia/Tokyo Samples/packaging/build.sh "$work/packages/another")
}
if [ -n "$program" ]; then
  # Packing uses only one processor, so both copies are packed at the same time.
  pack_another & other=$!
  pack_one
  wait "$other"
else
  pack_one
  # If this folder has not fixed the versions, the second build uses those of the first. Otherwise a release
  # between the two builds would make a difference.
  cp -n "$work/one/Package.resolved" "$work/another/place/"
  pack_another
fi

count=0
for file in "$work"/packages/one/*; do
  cmp "$file" "$work/packages/another/${file##*/}" || fail "${file##*/} depends on where it is built"
  count=$((count + 1))
done
[ "$count" -ge 2 ] || fail "no packages were built"
(cd "$work/packages/one" && sha256sum -- *)
for file in "$work"/packages/one/*.deb; do
  if dpkg-deb --fsys-tarfile "$file" | grep -aqF "$work/"; then fail "${file##*/} names the folder that it was built in"; fi
done
if [ -n "$kept" ]; then mkdir -p "$kept" && cp "$work"/packages/one/* "$kept"; fi
echo "reproducible: $count packages are the same, built in two folders"
