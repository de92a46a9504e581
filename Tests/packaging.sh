#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Verifies the units with systemd-analyze, and the packages that are made of a program: what they hold, and that the same
# program gives the same bytes.
#   Tests/packaging.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")/.."
from=Samples/packaging
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "packaging: $*" >&2; exit 1; }

# The units, with a program that is there.
mkdir -p "$work/units" "$work/run"
chmod 700 "$work/run"
for unit in "$from"/user/* "$from"/system/*; do
  sed "s#/usr/bin/glucoport#$program#; s#/usr/bin/notify-send#/bin/true#" "$unit" >"$work/units/${unit##*/}"
done
(
  cd "$work/units"
  systemd-analyze verify --man=no ./glucoport-server.service ./glucoport-server.socket ./glucoport-import@1.service
  XDG_RUNTIME_DIR=$work/run systemd-analyze verify --user --man=no ./glucoport-meter.service ./glucoport-upload.timer \
    ./glucoport-check.timer ./glucoport-notify@x.service
) >"$work/verified" 2>&1 || fail "$(cat "$work/verified")"
[ ! -s "$work/verified" ] || fail "$(cat "$work/verified")"

# exposed UNIT MAX: the score of systemd-analyze security in tenths; 0 is best.
exposed() {
  local score
  score=$(systemd-analyze security --offline=true --no-pager "$1" | sed -n 's/.*exposure level for.*: \([0-9]*\)[.]\([0-9]\).*/\1\2/p')
  [ -n "$score" ] && [ "$score" -le "$2" ] || fail "$1: exposure of $score tenths, at most $2 are allowed"
}
exposed "$from/system/glucoport-server.service" 15
exposed "$from/system/glucoport-import@.service" 17

for script in build.sh postinst prerm postrm; do bash -n "$from/$script"; done

export GLUCOPORT_PROGRAM=$program GLUCOPORT_COMPRESSION=none SOURCE_DATE_EPOCH=1795219200
"$from/build.sh" "$work/one" >"$work/names"
[ "$(wc -l <"$work/names")" = 2 ] || fail "$(cat "$work/names")"
package=$(sed -n 1p "$work/names") archive=$(sed -n 2p "$work/names")
dpkg-deb -c "$package" >"$work/listed"
tar -tzf "$archive" >"$work/archived"
for file in bin/glucoport lib/udev/rules.d/70-glucoport.rules lib/sysusers.d/glucoport.conf share/man/man1/glucoport.1.gz \
  share/man/man7/glucoport-operation.7.gz share/bash-completion/completions/glucoport share/zsh/vendor-completions/_glucoport \
  share/fish/vendor_completions.d/glucoport.fish share/doc/glucoport/copyright share/doc/glucoport/licences/glucoport/LICENSE \
  lib/systemd/system/glucoport-server.service lib/systemd/system/glucoport-server.socket lib/systemd/user/glucoport-upload.timer; do
  grep -q " ./usr/$file\$" "$work/listed" || fail "$file is not in the package"
  grep -q "^[^/]*/$file\$" "$work/archived" || fail "$file is not in the archive"
done
pages=$(ls man/*.[1-9] | wc -l)
[ "$(grep -c 'share/man/.*[.]gz$' "$work/listed")" = "$pages" ] || fail "the package does not hold $pages manual pages"
grep -v 'root/root' "$work/listed" && fail "files of others than root are in the package"
grep -E ' [.]/(home|root|var|etc|run)/' "$work/listed" && fail "the package holds files outside of /usr"
dpkg-deb -f "$package" Depends | grep -q 'libsqlite3-0 (>= 3.38)' || fail "the package does not depend on SQLite"
dpkg-deb -I "$package" postrm | grep -qE 'rm |userdel' && fail "the package removes data"

"$from/build.sh" "$work/two" >/dev/null
for file in "$work"/one/*; do cmp "$file" "$work/two/${file##*/}" || fail "two packages of one program differ"; done
echo "packaging: units and packages are as they should be"
