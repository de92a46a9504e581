#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds glucoport_VERSION_ARCH.deb and glucoport_VERSION_ARCH.tar.gz: program, manual pages, completions, units, rules of
# udev, licences. Installs what is missing as root; without, it says what to install.
#   Samples/packaging/build.sh [FOLDER]
# The packages are written to FOLDER, by default to .build/packages. With GLUCOPORT_PROGRAM, that program is packed and none
# is built; with GLUCOPORT_COMPRESSION=none the .deb is not compressed, and the .tar.gz little. Both are for tests.
set -euo pipefail
cd "$(dirname "$0")/../.."
from=Samples/packaging
target=$(realpath -m "${1:-.build/packages}")
umask 022

program=${GLUCOPORT_PROGRAM:-}
if [ -z "$program" ]; then
  Tests/install-packages.sh libsqlite3-dev zlib1g-dev liblzma-dev libbz2-dev libzstd-dev libexpat1-dev libusb-1.0-0-dev dpkg-dev binutils
  command -v swift >/dev/null || { echo "Please install Swift 6.2 or newer from swift.org" >&2; exit 69; }
  swift build -c release --static-swift-stdlib --product glucoport -Xlinker -z -Xlinker now
  program=$(swift build -c release --static-swift-stdlib --show-bin-path)/glucoport
fi
version=$("$program" --version)
architecture=$(dpkg --print-architecture)
name=glucoport_${version}_$architecture
# The time of the last commit, so that a package says nothing about when it was built.
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH=$epoch

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
usr=$root/usr

put() { install -D -m "$1" "$2" "$3"; }

put 755 "$program" "$usr/bin/glucoport"
strip --strip-unneeded "$usr/bin/glucoport"

for page in man/*.[1-9]; do
  put 644 "$page" "$usr/share/man/man${page##*.}/${page##*/}"
  gzip -9n "$usr/share/man/man${page##*.}/${page##*/}"
done

complete() { mkdir -p "$(dirname "$2")" && "$program" --generate-completion-script "$1" >"$2"; }
complete bash "$usr/share/bash-completion/completions/glucoport"
complete zsh "$usr/share/zsh/vendor-completions/_glucoport"
complete fish "$usr/share/fish/vendor_completions.d/glucoport.fish"

for unit in "$from"/user/*; do put 644 "$unit" "$usr/lib/systemd/user/${unit##*/}"; done
for unit in "$from"/system/*; do put 644 "$unit" "$usr/lib/systemd/system/${unit##*/}"; done
put 644 "$from/70-glucoport.rules" "$usr/lib/udev/rules.d/70-glucoport.rules"
put 644 "$from/glucoport.sysusers" "$usr/lib/sysusers.d/glucoport.conf"

documents=$usr/share/doc/glucoport
put 644 "$from/copyright" "$documents/copyright"
put 644 LICENSE "$documents/licences/glucoport/LICENSE"
put 644 CHANGELOG.md "$documents/changelog"
gzip -9n "$documents/changelog"
put 644 README.md "$documents/README.md"

# The licences of all packages that are linked, of the C libraries inside them, and of the runtime of Swift.
checkouts=.build/checkouts
if [ -d "$checkouts" ]; then
  (cd "$checkouts" && find . -type f \( -iname 'LICENSE*' -o -iname 'NOTICE*' \) -not -path '*/.git/*' -not -path '*/Tests/*') |
    while read -r file; do put 644 "$checkouts/$file" "$documents/licences/${file#./}"; done
fi
swift=$(command -v swift || true)
runtime=${swift:+$(dirname "$(readlink -f "$swift")")/../share/swift/LICENSE.txt}
if [ -n "$runtime" ] && [ -e "$runtime" ]; then put 644 "$runtime" "$documents/licences/swift/LICENSE.txt"; fi

# dpkg-shlibdeps finds the packages of the libraries; where it is not there, these are Debian's names of them.
libraries="libc6 (>= 2.36), libsqlite3-0 (>= 3.38), libusb-1.0-0, libbz2-1.0, libexpat1, liblzma5, libzstd1, zlib1g"
if command -v dpkg-shlibdeps >/dev/null; then
  mkdir -p "$work/debian"
  printf 'Source: glucoport\n\nPackage: glucoport\nArchitecture: any\n' >"$work/debian/control"
  found=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info root/usr/bin/glucoport 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
  # The program refuses an older SQLite, which no symbol shows.
  if [ -n "$found" ]; then libraries=$(sed 's/libsqlite3-0 ([^)]*)/libsqlite3-0 (>= 3.38)/' <<<"$found"); fi
fi

mkdir -p "$root/DEBIAN" "$target"
sed -e "s/@VERSION@/$version/; s/@ARCH@/$architecture/; s/@SIZE@/$(du -sk --apparent-size "$usr" | cut -f 1)/" \
  -e "s/@DEPENDS@/$libraries/" "$from/control.in" >"$root/DEBIAN/control"
for script in postinst prerm postrm; do put 755 "$from/$script" "$root/DEBIAN/$script"; done
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -exec touch -h -d "@$epoch" {} +
dpkg-deb --root-owner-group ${GLUCOPORT_COMPRESSION:+-Z"$GLUCOPORT_COMPRESSION"} --build "$root" "$target/$name.deb" >/dev/null

# The same files below one folder, from which 'setup' installs them under any prefix.
mv "$usr" "$work/$name"
level=${GLUCOPORT_COMPRESSION:+1}
tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner -C "$work" -c "$name" | gzip "-${level:-9}n" >"$target/$name.tar.gz"
printf '%s\n' "$target/$name.deb" "$target/$name.tar.gz"
