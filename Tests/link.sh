#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The linker of a check, for Tests/compiler.sh: lld, which takes half the processor time of gold. The tests
# start glucoport thousands of times, and loading Swift's libraries is a third of a short run. So glucoport
# contains these libraries, as in the packages, and has a fixed address. If lld refuses this, for example
# because the static libraries are missing, glucoport is linked like all other programs.
#   GLUCOPORT_LINKER=LLD Tests/link.sh OPTION…
set -euo pipefail
linker=${GLUCOPORT_LINKER:?the linker}
options=$(mktemp)
trap 'rm -f "$options"' EXIT
# The options from clang are often too long for a command line, so they are passed in a file.
case $1 in @*) cat "${1#@}" ;; *) printf '"%s" ' "$@" ;; esac >"$options"
if grep -q '"-o" "[^"]*/glucoport"' "$options"; then
  sed -i 's# "-pie"##; s#/lib/swift/linux#/lib/swift_static/linux#g' "$options"
  # Foundation's static libraries need these further libraries.
  inside=(-l_FoundationICU -l_FoundationCShims -l_FoundationCollections -lCoreFoundation -l_CFXMLInterface)
  inside+=(-lswiftSynchronization -lstdc++)
  ! "$linker" "@$options" "${inside[@]}" 2>/dev/null || exit 0
fi
"$linker" "$@"
