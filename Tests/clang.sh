#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The C compiler of a check, for Tests/compiler.sh. It is clang with headers of BoringSSL that are compiled
# in advance. Two packages contain a copy of BoringSSL, each with hundreds of C++ files, and compiling one of
# them mostly means reading the same headers. If clang refuses a file with these headers, for example after
# an update of a header, the file is compiled without them.
#   GLUCOPORT_CLANG=CLANG Tests/clang.sh OPTION…
set -euo pipefail
clang=${GLUCOPORT_CLANG:?the C compiler}
source=''
for option; do
  case $option in */Sources/CNIOBoringSSL/*.cc | */Sources/CCryptoBoringSSL/*.cc) source=$option ;; esac
done
[ -n "$source" ] || exec "$clang" "$@"

# Compiled headers are valid only for equal options, except for those that name the files of this call.
how=() before=''
for option; do
  case " $before $option" in
    ' -c '* | ' -o '* | ' -MT '* | ' -MF '* | *' '-c | *' '-o | *' '-MT | *' '-MF | *' '-MD) ;;
    *) how+=("$option") ;;
  esac
  before=$option
done
# A changed header of the system makes compiled headers invalid, too.
how+=(-Xclang -fmodules-validate-system-headers)
library=${source%BoringSSL/*}BoringSSL
headers=${0%/*}/../.build/checks/headers-${library##*/}
hash=$(cksum <<<"$clang ${how[*]}")
read_headers=$headers-${hash%% *}

# precompile: compiles the headers once, in the first process that gets the lock. Other processes do not wait
# for the lock.
precompile() {
  local header lock
  exec {lock}>"$headers.lock" && flock -n "$lock" || return
  [ ! -e "$read_headers.h" ] || return
  rm -f "$headers"-*
  for header in "include/${library##*/}.h" crypto/internal.h crypto/x509/internal.h ssl/internal.h; do
    [ ! -e "$library/$header" ] || echo "#include \"$library/$header\""
  done >"$read_headers.h"
  "$clang" "${how[@]}" -x c++-header -fpch-instantiate-templates "$read_headers.h" -o "$read_headers.part" &&
    mv "$read_headers.part" "$read_headers.pch"
}
if { [ -e "$read_headers.pch" ] || precompile; } 2>/dev/null; then
  ! "$clang" -include-pch "$read_headers.pch" "$@" -Xclang -fmodules-validate-system-headers 2>/dev/null || exit 0
  # clang refused the headers. Headers older than ten minutes may be outdated, so they are removed and compiled
  # again. Newer ones are refused for another reason.
  find "$read_headers".* -mmin +10 -delete 2>/dev/null || true
fi
exec "$clang" "$@"
