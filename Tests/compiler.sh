# shellcheck shell=bash disable=SC2034 # who sources it uses it
# SPDX-License-Identifier: Apache-2.0
# How everything is compiled for a check: a module at a time on both processors, without debug information, without an index
# of the system's modules, and with the description of a module as a by-product instead of a compilation before the others.
# From a clean clone this takes little more than half of what the defaults do.
compiler=(
  -debug-info-format none -Xswiftc -disable-batch-mode -Xswiftc -whole-module-optimization
  -Xswiftc -num-threads -Xswiftc 2 -Xswiftc -index-ignore-system-modules -Xswiftc -no-emit-module-separately-wmo
)
# Most of what a file of BoringSSL takes is reading the headers of C++, and there are hundreds of such files: these headers are
# compiled once. Another compiler, or another byte in one of them, makes another file. Without a compiler that can do it, all
# goes on without. The options are those of SwiftPM's debug builds; the compiler refuses the file under others.
precompile() {
  local clang options text files
  clang=${CC:-$(swiftc -print-target-info | sed -n 's#.*"runtimeResourcePath": *"\(.*\)".*#\1/../../bin/clang#p')}
  options=(-O0 -g0 -fPIC -fblocks -fno-omit-frame-pointer -DSWIFT_PACKAGE=1 -DDEBUG=1 -std=c++17 -x c++-header)
  text=$(printf '#include <%s>\n' algorithm array atomic bitset iterator limits memory optional string string_view \
    utility variant assert.h limits.h stdlib.h string.h sys/socket.h sys/time.h)
  files=$("$clang" "${options[@]}" -M - <<<"$text" | tr ' \\' '\n\n' | grep '^/' | sort -u) || return
  headers=$({ "$clang" --version && xargs cat <<<"$files"; } | sha256sum) || return
  headers=$PWD/.build/checks/headers-${headers:0:16}
  if [ ! -e "$headers.h" ] || [ ! -e "$headers.pch" ]; then
    mkdir -p .build/checks && echo "$text" >"$headers.h" || return
    "$clang" "${options[@]}" -fpch-instantiate-templates -fpch-validate-input-files-content "$headers.h" -o "$headers.pch"
  fi
}
if precompile 2>/dev/null; then compiler+=(-Xcxx -include-pch -Xcxx "$headers.pch"); fi
# Package.swift then optimises what tests run through most.
export GLUCOPORT_CHECK=1
