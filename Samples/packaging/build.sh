#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the packages glucoport_VERSION_ARCH.deb and glucoport_VERSION_ARCH.tar.gz. They have the program, manual pages,
# completions, units, rules of udev, licences and the bill of materials. Also builds glucoport-dbgsym_VERSION_ARCH.deb with
# the debug symbols. As root, it installs what is missing; otherwise it prints what to install. The same sources give the
# same bytes in every folder.
#   Samples/packaging/build.sh [FOLDER]
# The packages are written to FOLDER, by default to .build/packages. DEBFULLNAME and DEBEMAIL name who made them.
# For tests: with GLUCOPORT_PROGRAM, that program is packed and none is built. With GLUCOPORT_COMPRESSION=none, neither the
# .deb nor the .tar.gz is compressed, and no debug symbols are packed. The names of libraries are then those of Debian 12.
set -euo pipefail
# Enters the folder by its path without symbolic links, which the compiler uses. This path is removed from the
# program.
cd -P "$(dirname "$0")/../.."
from=Samples/packaging
target=$(realpath -m "${1:-.build/packages}")
umask 022
export LC_ALL=C.UTF-8

# Files get the time of the last commit, so that the packages do not depend on the time of the build.
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH=$epoch

# swift_folder: prints the folder of the Swift toolchain in use. 'swiftc' on the path can be a program that
# chooses a toolchain.
swift_folder() {
  local resources
  resources=$(swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": *"\(.*\)".*/\1/p')
  [ -d "$resources" ] || { echo "build.sh: swiftc does not name its folder" >&2; exit 69; }
  realpath "$resources/../.."
}

# late_libraries: prints the file and the package of each library that is loaded when it is first needed.
late_libraries() { sed -nE 's/^static const struct library .* = [{]"(.*)", "(.*)"[}];$/\1 \2/p' "$from/late-libraries.c"; }

program=${GLUCOPORT_PROGRAM:-}
if [ -z "$program" ]; then
  Tests/install-packages.sh libsqlite3-dev zlib1g-dev liblzma-dev libbz2-dev libzstd-dev libexpat1-dev libusb-1.0-0-dev dpkg-dev \
    binutils python3
  command -v swift >/dev/null || { echo "Please install Swift 6.2 or newer from swift.org" >&2; exit 69; }
  swift=$(swift_folder)
  made=$PWD/.build/packaging
  mkdir -p "$made"
  # In the link, the reduced data must come before the libraries of the runtime, and no option of the compiler
  # does that. The same is true for the static library of C++. The program then contains only the used parts
  # of it, and the loader need not relocate the whole library at each start. The loader searches libraries in
  # the order of the link. The C library is first, since it has nearly all symbols.
  "$from/unicode-data.py" "$swift/lib/swift_static/linux/lib_FoundationICU.a" "$made/unicode-data.o"
  standard=$("$swift/bin/clang" -print-file-name=libstdc++.a)
  [ -e "$standard" ] || { echo "Please install libstdc++.a: it is in Debian's libstdc++-12-dev" >&2; exit 69; }
  # Libraries for archives and meters are loaded when they are first needed, since mapping them takes a
  # seventh of the time of --version.
  "$swift/bin/clang" -O2 -fPIC -ffunction-sections -fdata-sections -I/usr/include/libusb-1.0 -c "$from/late-libraries.c" \
    -o "$made/late-libraries.o"
  printf '#!/bin/sh\nexec "%s/bin/ld.lld" "%s/unicode-data.o" "%s/late-libraries.o" --as-needed "%s" -lc -lm "$@"\n' "$swift" "$made" \
    "$made" "$standard" >"$made/link"
  chmod 755 "$made/link"
  # The compiler removes folders from the names of files. But where it checks closures, as in GRDB, the
  # program keeps the length of the full name (swift_isEscapingClosureAtFileLocation of Swift 6.3). So the
  # path of the build folder always has the same length.
  padding=$((150 - $(printf %s "$made" | wc -c)))
  if [ "$padding" -lt 1 ]; then echo "build.sh: in a folder with so long a name the packages get bytes of their own" >&2; fi
  scratch=$made/$(printf '%*s' $((padding > 0 ? padding : 1)) '' | tr ' ' _)
  # The options keep paths, and what depends on them, out of the program and its symbols. No folder that is
  # replaced is inside another one, since one compiler uses the first matching option and another uses the
  # last. Nothing is exported, since the linker would keep all exported symbols, and all public symbols of the
  # modules. With separate sections for functions and tables, the linker leaves out those that nothing uses.
  # These are a third of BoringSSL, and a fifth of a Swift package such as AsyncHTTPClient. Generic types are created by
  # functions and not by name. For a name, the runtime would search all conformances of the program at each
  # start. Functions that frequent commands call are next to each other, so that the pages with all others
  # stay out of memory.
  options=(
    --scratch-path "$scratch"
    -c release --static-swift-stdlib --product glucoport --disable-local-rpath -Xswiftc "-ld-path=$made/link"
    -Xswiftc -file-compilation-dir -Xswiftc . -Xcc -ffile-compilation-dir=.
    -Xswiftc -file-prefix-map -Xswiftc "$scratch=.build" -Xswiftc -file-prefix-map -Xswiftc "$PWD/Sources=Sources"
    -Xcc "-ffile-prefix-map=$scratch=.build" -Xcc "-ffile-prefix-map=$PWD/Sources=Sources"
    -Xswiftc -Xfrontend -Xswiftc -no-clang-module-breadcrumbs
    -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen
    -Xcc -ffunction-sections -Xcc -fdata-sections -Xswiftc -Xfrontend -Xswiftc -function-sections
    -Xswiftc -Xfrontend -Xswiftc -internalize-at-link
    -Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors
    -Xlinker --no-export-dynamic -Xlinker --build-id=sha1 -Xlinker -z -Xlinker now
    -Xlinker -z -Xlinker pack-relative-relocs
    -Xlinker "--symbol-ordering-file=$PWD/$from/order.symbols" -Xlinker --no-warn-symbol-ordering
    -Xlinker -T -Xlinker "$PWD/$from/unnamed.ld"
  )
  swift build "${options[@]}" >&2
  program=$(swift build "${options[@]}" --show-bin-path)/glucoport
  while read -r file _; do
    if readelf -d "$program" | grep -qF "[$file]"; then
      echo "build.sh: $file is loaded at each start; add the function that is new to $from/late-libraries.c" >&2
      exit 70
    fi
  done < <(late_libraries)
fi
program=$(realpath "$program")
version=$("$program" --version)
architecture=$(dpkg --print-architecture)
name=glucoport_${version}_$architecture
maintainer="${DEBFULLNAME:-The glucoport authors} <${DEBEMAIL:-maintainers@glucoport.invalid}>"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
usr=$root/usr

put() { install -D -m "$1" "$2" "$3"; }

put 755 "$program" "$usr/bin/glucoport"
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$usr/bin/glucoport"
build_id=$(readelf -n "$program" | sed -n 's/.*Build ID: //p')
symbols=''
if [ -z "${GLUCOPORT_COMPRESSION:-}" ] && [ -n "$build_id" ] && readelf -SW "$program" | grep -q '[.]debug_info'; then
  symbols=$work/symbols/usr/lib/debug/.build-id/${build_id:0:2}/${build_id:2}.debug
  mkdir -p "$(dirname "$symbols")"
  objcopy --only-keep-debug --compress-debug-sections "$program" "$symbols"
  chmod 644 "$symbols"
  objcopy --add-gnu-debuglink="$symbols" "$usr/bin/glucoport"
fi

for page in man/*.[1-9]; do
  put 644 "$page" "$usr/share/man/man${page##*.}/${page##*/}"
  gzip -9n "$usr/share/man/man${page##*.}/${page##*/}"
done

# Units, rules and completions are those that 'setup' installs for a user who has only the program. So they
# have one source.
setup=$work/setup
"$program" setup system --prefix "$setup" >"$work/installed" 2>&1 || { cat "$work/installed" >&2; exit 1; }
for unit in "$setup"/lib/systemd/*/*; do
  sed -i "s#$setup/bin/#/usr/bin/#" "$unit"
  put 644 "$unit" "$usr/lib/systemd/${unit#"$setup/lib/systemd/"}"
done
put 644 "$setup/lib/udev/rules.d/70-glucoport.rules" "$usr/lib/udev/rules.d/70-glucoport.rules"
put 644 "$setup/lib/sysusers.d/glucoport.conf" "$usr/lib/sysusers.d/glucoport.conf"
# Bash reads its completions and does not run them, so the line that names an interpreter is removed.
sed -i '1{/^#!.*bash/d}' "$setup/share/bash-completion/completions/glucoport"
put 644 "$setup/share/bash-completion/completions/glucoport" "$usr/share/bash-completion/completions/glucoport"
put 644 "$setup/share/zsh/site-functions/_glucoport" "$usr/share/zsh/vendor-completions/_glucoport"
put 644 "$setup/share/fish/vendor_completions.d/glucoport.fish" "$usr/share/fish/vendor_completions.d/glucoport.fish"
rm -r "$setup"
put 644 "$from/lintian-overrides" "$usr/share/lintian/overrides/glucoport"

documents=$usr/share/doc/glucoport
put 644 "$from/copyright" "$documents/copyright"
# apt shows the changelog in Debian's form. It refers to CHANGELOG.md.gz, which has the changes.
printf 'glucoport (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.gz in this folder.\n\n -- %s  %s\n' "$version" \
  "$maintainer" "$(date -u -R -d "@$epoch")" >"$documents/changelog"
put 644 CHANGELOG.md "$documents/CHANGELOG.md"
gzip -9n "$documents/changelog" "$documents/CHANGELOG.md"
put 644 README.md "$documents/README.md"
for file in Samples/sources/*; do put 644 "$file" "$documents/sources/${file##*/}"; done

# The bill of materials lists what is linked. Added are the licences of the Swift packages, of Swift's
# runtime, and of what is inside both. The licence of glucoport itself is in /usr/share/common-licenses, but
# the archive is not only for Debian.
licences=$documents/licences
put 644 LICENSE "$licences/glucoport/Apache-2.0.txt"
scratch=$(realpath -m "$(dirname "$program")/../..")
objects=$(dirname "$program")/glucoport.product/Objects.LinkFileList
if [ -d "$scratch/checkouts" ]; then
  "$from/sbom.py" "$usr/bin/glucoport" "$version" "$scratch" "$objects" >"$documents/glucoport.cdx.json"
  (cd "$scratch/checkouts" && find . -type f \( -iname 'LICENSE*' -o -iname 'NOTICE*' \) -not -path '*/.git/*' -not -path '*/Tests/*') |
    while read -r file; do put 644 "$scratch/checkouts/$file" "$licences/${file#./}"; done
  put 644 "$(swift_folder)/share/swift/LICENSE.txt" "$licences/swift/LICENSE.txt"
  for file in "$from"/licences/*; do put 644 "$file" "$licences/${file##*/}"; done
else
  echo "build.sh: $scratch is not the folder of a build: the package has no licences of others and no bill of materials" >&2
fi

# dpkg-shlibdeps finds the packages of the libraries. If it is missing, Debian's names of them are used. A
# test does not use it: for a program that is not linked statically, it would read all of Swift's libraries
# for seconds.
libraries="libc6 (>= 2.36), libsqlite3-0 (>= 3.38), libusb-1.0-0, libbz2-1.0, libexpat1, liblzma5, libzstd1, zlib1g"
if [ -z "${GLUCOPORT_COMPRESSION:-}" ] && command -v dpkg-shlibdeps >/dev/null; then
  mkdir -p "$work/debian"
  printf 'Source: glucoport\n\nPackage: glucoport\nArchitecture: any\n' >"$work/debian/control"
  found=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info root/usr/bin/glucoport 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
  # The program refuses an older SQLite, which dpkg-shlibdeps cannot find out from symbols.
  if [ -n "$found" ]; then libraries=$(sed -E 's/(libsqlite3-0[^ ,]*) \([^)]*\)/\1 (>= 3.38)/' <<<"$found"); fi
  # dpkg-shlibdeps does not find the libraries that are loaded late, either. Each Debian with the C library
  # that is required below has versions of them that suffice.
  while read -r _ needed; do
    case ", $libraries, " in *", $needed, "* | *", $needed ("*) ;; *) libraries+=", $needed" ;; esac
  done < <(late_libraries)
  # Packed relocations need a loader that reads them, which no symbol shows, either.
  libc=$(sed -nE 's/.*libc6 \(>= ([^)]*)\).*/\1/p' <<<"$libraries")
  if dpkg --compare-versions "$libc" lt 2.36; then libraries=${libraries/"libc6 (>= $libc)"/"libc6 (>= 2.36)"}; fi
fi

# pack FOLDER FILE COMPRESSION: makes the .deb FILE of FOLDER, which contains the control file.
pack() {
  find "$1" -exec touch -h -d "@$epoch" {} +
  dpkg-deb --root-owner-group "-Z$3" --build "$1" "$2" >/dev/null
}
# filled SIZE_OF TEMPLATE: prints the control file made from TEMPLATE, with the size of the folder SIZE_OF.
filled() {
  sed -e "s/@VERSION@/$version/; s/@ARCH@/$architecture/; s/@SIZE@/$(du -sk --apparent-size "$1" | cut -f 1)/" \
    -e "s/@MAINTAINER@/$maintainer/; s/@DEPENDS@/$libraries/; s/@BUILD_ID@/$build_id/" "$2"
}

mkdir -p "$root/DEBIAN" "$target"
filled "$usr" "$from/control.in" >"$root/DEBIAN/control"
for script in postinst prerm postrm; do put 755 "$from/$script" "$root/DEBIAN/$script"; done
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
pack "$root" "$target/$name.deb" "${GLUCOPORT_COMPRESSION:-xz}"

# The archive has the same files below one folder, from which 'setup' installs them under any prefix.
mv "$usr" "$work/$name"
rm -r "$work/$name/share/lintian"
zip=(gzip -9n)
# gzip cannot store without compressing, which takes seconds. A test only lists the files, so Python stores
# them.
stored='import gzip, shutil, sys; shutil.copyfileobj(sys.stdin.buffer, gzip.GzipFile("", "wb", 0, sys.stdout.buffer, 0), 1 << 20)'
if [ -n "${GLUCOPORT_COMPRESSION:-}" ]; then zip=(python3 -c "$stored"); fi
tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner -C "$work" -c "$name" | "${zip[@]}" >"$target/$name.tar.gz"
printf '%s\n' "$target/$name.deb" "$target/$name.tar.gz"

if [ -n "$symbols" ]; then
  folder=$work/symbols
  mkdir -p "$folder/DEBIAN" "$folder/usr/share/doc"
  ln -s glucoport "$folder/usr/share/doc/glucoport-dbgsym"
  filled "$folder/usr" "$from/dbgsym.control.in" >"$folder/DEBIAN/control"
  (cd "$folder" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$folder/DEBIAN/md5sums"
  # The debug symbols are compressed already.
  pack "$folder" "$target/glucoport-dbgsym_${version}_$architecture.deb" none
  printf '%s\n' "$target/glucoport-dbgsym_${version}_$architecture.deb"
fi
