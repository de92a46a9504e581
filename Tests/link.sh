#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The linker of a check, for Tests/compiler.sh: lld, which takes half the processor time of gold. The tests start glucoport
# thousands of times, and loading Swift's libraries is a third of a short run. Like the one of the packages, this program
# has them inside, and moreover a fixed address. If lld refuses that, as without the libraries for it, glucoport is linked
# like all others.
#   GLUCOPORT_LINKER=LLD Tests/link.sh OPTION…
set -euo pipefail
linker=${GLUCOPORT_LINKER:?the linker}
options=$(mktemp)
trap 'rm -f "$options"' EXIT
# The options of clang are mostly too long for a command line, so they are in a file.
case $1 in @*) cat "${1#@}" ;; *) printf '"%s" ' "$@" ;; esac >"$options"
if grep -q '"-o" "[^"]*/glucoport"' "$options"; then
  sed -i 's# "-pie"##; s#/lib/swift/linux#/lib/swift_static/linux#g' "$options"
  # What Foundation's libraries need.
  inside=(-l_FoundationICU -l_FoundationCShims -l_FoundationCollections -lCoreFoundation -l_CFXMLInterface)
  inside+=(-lswiftSynchronization -lstdc++)
  ! "$linker" "@$options" "${inside[@]}" 2>/dev/null || exit 0
fi
"$linker" "$@"
