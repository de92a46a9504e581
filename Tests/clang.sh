#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The C compiler of a check, for Tests/compiler.sh: clang, which here reads the headers of BoringSSL once. Two packages bring
# a copy of it, each with hundreds of files in C++, and nearly all that compiling one takes is reading the same headers. A
# file that clang refuses with these, as after an update of a header, is compiled without.
#   GLUCOPORT_CLANG=CLANG Tests/clang.sh OPTION…
set -euo pipefail
clang=${GLUCOPORT_CLANG:?the C compiler}
source=''
for option; do
  case $option in */Sources/CNIOBoringSSL/*.cc | */Sources/CCryptoBoringSSL/*.cc) source=$option ;; esac
done
[ -n "$source" ] || exec "$clang" "$@"

# Headers hold for the options under which they were read: all but those that name the files of this call.
how=() before=''
for option; do
  case " $before $option" in
    ' -c '* | ' -o '* | ' -MT '* | ' -MF '* | *' '-c | *' '-o | *' '-MT | *' '-MF | *' '-MD) ;;
    *) how+=("$option") ;;
  esac
  before=$option
done
# A header of the system counts, too.
how+=(-Xclang -fmodules-validate-system-headers)
library=${source%BoringSSL/*}BoringSSL
headers=${0%/*}/../.build/checks/headers-${library##*/}
hash=$(cksum <<<"$clang ${how[*]}")
read_headers=$headers-${hash%% *}

# precompile: in the first process that comes here, once; the others do not wait for it.
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
  # Refused: what is new here is refused for another reason, and would be again.
  find "$read_headers".* -mmin +10 -delete 2>/dev/null || true
fi
exec "$clang" "$@"
