#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The linker of a check, for Tests/compiler.sh: lld, which takes half the processor time of gold. The tests start glucoport
# thousands of times, and loading Swift's libraries is a third of a short run. Like the one of the packages, this program
# has them inside, and moreover a fixed address. If lld refuses that, as without the libraries for it, glucoport is linked
# like all others.
#   GLUCOPORT_LINKER=LLD Tests/link.sh OPTION…
set -euo pipefail
linker=${GLUCOPORT_LINKER:?the linker}
# What clang has to say is too long for a command line, and so in a file.
options=${1#@}
if [ "$options" != "$1" ] && grep -q '"-o" "[^"]*/glucoport"' "$options"; then
  inside=$(mktemp)
  trap 'rm -f "$inside"' EXIT
  sed 's# "-pie"##; s#/lib/swift/linux#/lib/swift_static/linux#g' "$options" >"$inside"
  inside_too=(-l_FoundationICU -l_FoundationCShims -l_FoundationCollections -lCoreFoundation -l_CFXMLInterface)
  ! "$linker" "@$inside" "${inside_too[@]}" 2>/dev/null || exit 0
fi
"$linker" "$@"
