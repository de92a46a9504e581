#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Verifies the units with systemd-analyze, and the content of the packages that are made of a program. The
# same program must give the same bytes in two folders.
#   Tests/packaging.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")/.."
from=Samples/packaging
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "packaging: $*" >&2; exit 1; }

# The program installs the units, and writes its path into them.
"$program" setup system --prefix "$work/setup" >"$work/installed" 2>&1 || fail "$(cat "$work/installed")"
mkdir -p "$work/units/system" "$work/units/user" "$work/run"
chmod 700 "$work/run"
for unit in "$work"/setup/lib/systemd/*/*; do
  sed 's#/usr/bin/notify-send#/bin/true#' "$unit" >"${unit/#"$work/setup/lib/systemd"/"$work/units"}"
done
[ "$(find "$work/units" -type f | wc -l)" = 19 ] || fail "$(find "$work/units" -type f)"
(
  cd "$work/units/system"
  systemd-analyze verify --man=no ./glucoport-server.service ./glucoport-server.socket ./glucoport-import@1.service \
    ./glucoport-fetch.service ./glucoport-fetch.timer ./glucoport-meter-bluetooth.service ./glucoport-meter-bluetooth.timer
  cd ../user
  XDG_RUNTIME_DIR=$work/run systemd-analyze verify --user --man=no ./glucoport-meter.service ./glucoport-meter-bluetooth.service \
    ./glucoport-meter-bluetooth.timer ./glucoport-upload.timer \
    ./glucoport-check.timer ./glucoport-backup.timer ./glucoport-fetch.timer ./glucoport-notify@x.service
) >"$work/verified" 2>&1 || fail "$(cat "$work/verified")"
[ ! -s "$work/verified" ] || fail "$(cat "$work/verified")"

# exposed UNIT MAX: fails if the score of systemd-analyze security is above MAX. Scores are in tenths, and 0
# is the best one.
exposed() {
  local score
  score=$(systemd-analyze security --offline=true --no-pager "$1" | sed -n 's/.*exposure level for.*: \([0-9]*\)[.]\([0-9]\).*/\1\2/p')
  [ -n "$score" ] && [ "$score" -le "$2" ] || fail "$1: exposure of $score tenths, at most $2 are allowed"
}
exposed "$work/units/system/glucoport-server.service" 15
exposed "$work/units/system/glucoport-import@.service" 17
exposed "$work/units/system/glucoport-meter-bluetooth.service" 15

for script in build.sh postinst prerm postrm; do bash -n "$from/$script"; done
for script in "$from"/*.py; do python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$script"; done

# Some libraries are loaded only when one of their functions is called. late-libraries.c must have every such
# function that the program calls, and must load the library. If the library is missing, its package is named.
grep -oE '^LATE[(]\w+, [^(]*\b\w+, [(]' "$from/late-libraries.c" | sed -E 's/.*\b(\w+), [(]$/\1/' | sort >"$work/late"
sed -nE 's/^static const struct library .* = [{]"(.*)", .*/\1/p' "$from/late-libraries.c" >"$work/late-files"
while read -r file; do
  nm -D --defined-only "$(ldconfig -p | awk -v file="$file" '$1 == file { print $NF; exit }')"
done <"$work/late-files" | awk '{ sub("@.*", "", $3); print $3 }' | sort -u >"$work/defined"
nm -D --undefined-only "$program" | awk '{ sub("@.*", "", $2); print $2 }' | sort -u | comm -12 - "$work/defined" >"$work/called"
[ "$(wc -l <"$work/called")" -gt 60 ] || fail "the program calls too few functions of libraries: $(cat "$work/called")"
missing=$(comm -23 "$work/called" "$work/late")
[ -z "$missing" ] || fail "late-libraries.c lacks $missing"
cat >"$work/late-main.c" <<'MAIN'
#include <bzlib.h>
#include <expat.h>
#include <libusb.h>
#include <lzma.h>
#include <stdio.h>
#include <zlib.h>
#include <zstd.h>
int main(void) {
  lzma_stream stream = LZMA_STREAM_INIT;
  int reader = lzma_stream_decoder(&stream, 1 << 20, 0);
  lzma_end(&stream);
  XML_Parser parser = XML_ParserCreate(NULL);
  int is_parsed = XML_Parse(parser, "<a/>", 4, 1);
  XML_ParserFree(parser);
  printf("%d %d %d %lx %u %d\n", BZ2_bzDecompressEnd(NULL), is_parsed, reader, crc32(0, (const Bytef *)"123456789", 9),
         ZSTD_isError((size_t)-1), libusb_get_version()->major);
}
MAIN
late() {
  clang -Wall -Werror -O2 -I/usr/include/libusb-1.0 "$1" "$work/late-main.c" -o "$work/late-main"
  "$work/late-main" 2>&1
}
printed=$(late "$from/late-libraries.c") || fail "libraries that are loaded late: $printed"
[ "$printed" = "-2 1 0 cbf43926 1 1" ] || fail "libraries that are loaded late: $printed"
sed 's/libexpat.so.1/libexpat.so.none/' "$from/late-libraries.c" >"$work/none.c"
status=0
printed=$(late "$work/none.c") || status=$?
[ "$status" = 69 ] || fail "a missing library: $status $printed"
grep -q 'loading libexpat.so.none: .*; please install the package libexpat1$' <<<"$printed" || fail "a missing library: $printed"

# The packages are made twice, in two folders, and must have equal bytes.
export GLUCOPORT_COMPRESSION=none SOURCE_DATE_EPOCH=1795219200
Tests/reproducible.sh "$program" "$work/packages" >"$work/packed" 2>&1 || fail "$(cat "$work/packed")"
[ "$(ls "$work/packages" | wc -l)" = 2 ] || fail "$(cat "$work/packed")"
package=$(ls "$work"/packages/*.deb) archive=$(ls "$work"/packages/*.tar.gz)
dpkg-deb -c "$package" >"$work/listed"
tar -tzf "$archive" >"$work/archived"
for file in bin/glucoport lib/udev/rules.d/70-glucoport.rules lib/sysusers.d/glucoport.conf share/man/man1/glucoport.1.gz \
  share/man/man7/glucoport-operation.7.gz share/bash-completion/completions/glucoport share/zsh/vendor-completions/_glucoport \
  share/fish/vendor_completions.d/glucoport.fish share/doc/glucoport/copyright share/doc/glucoport/licences/glucoport/Apache-2.0.txt \
  share/doc/glucoport/CHANGELOG.md.gz share/doc/glucoport/glucoport.cdx.json share/doc/glucoport/licences/swift/LICENSE.txt \
  share/doc/glucoport/licences/swift-nio/LICENSE.txt share/doc/glucoport/licences/ICU share/doc/glucoport/licences/DejaVu \
  lib/systemd/system/glucoport-server.service lib/systemd/system/glucoport-server.socket \
  lib/systemd/user/glucoport-upload.timer; do
  grep -q " ./usr/$file\$" "$work/listed" || fail "$file is not in the package"
  grep -q "^[^/]*/$file\$" "$work/archived" || fail "$file is not in the archive"
done
# The files of the package must be those of 'setup', except for the path of the program.
dpkg-deb --fsys-tarfile "$package" >"$work/files"
member() { tar -xOf "$work/files" "./usr/$1"; }
for file in lib/udev/rules.d/70-glucoport.rules lib/sysusers.d/glucoport.conf share/fish/vendor_completions.d/glucoport.fish; do
  member "$file" | cmp - "$work/setup/$file" || fail "$file is not that of 'setup'"
done
for unit in "$work"/setup/lib/systemd/*/*; do
  name=${unit#"$work/setup/"}
  sed "s#$work/setup/bin/#/usr/bin/#" "$unit" | cmp - <(member "$name") || fail "$name is not that of 'setup'"
done
grep -q '^ExecStart=/usr/bin/glucoport serve ' <(member lib/systemd/system/glucoport-server.service) || fail "the server's unit"
pages=$(ls man/*.[1-9] | wc -l)
[ "$(grep -c 'share/man/.*[.]gz$' "$work/listed")" = "$pages" ] || fail "the package does not hold $pages manual pages"
grep -v 'root/root' "$work/listed" && fail "files of others than root are in the package"
grep -E ' [.]/(home|root|var|etc|run)/' "$work/listed" && fail "the package holds files outside of /usr"
dpkg-deb -f "$package" Depends | grep -q 'libsqlite3-0 (>= 3.38)' || fail "the package does not depend on SQLite"
sed -nE 's/^static const struct library .*, "(.*)"[}];$/\1/p' "$from/late-libraries.c" | while read -r needed; do
  dpkg-deb -f "$package" Depends | grep -qE "(^|, )$needed( |,|\$)" || fail "the package does not depend on $needed"
done
dpkg-deb -I "$package" postrm | grep -qE 'rm |userdel' && fail "the package removes data"

# The bill of materials lists everything that is linked, with version and licence. It does not list what only
# the tests link.
member share/doc/glucoport/glucoport.cdx.json >"$work/bill"
python3 - "$work/bill" <<'CHECK' || fail "the bill of materials is not as it should be"
import json, sys
bill = json.load(open(sys.argv[1]))
assert bill["bomFormat"] == "CycloneDX" and bill["serialNumber"].startswith("urn:uuid:")
listed = {component["name"]: component for component in bill["components"]}
missing = {"GRDB.swift", "swift-nio", "swift-crypto", "swift", "libsqlite3-0", "libusb-1.0-0"} - set(listed)
assert not missing, missing
assert not {"swift-docc-plugin", "swift-nio-transport-services"} & set(listed), listed.keys()
assert all(component["version"] and component["licenses"] for component in bill["components"])
CHECK
echo "packaging: units and packages are as they should be"
