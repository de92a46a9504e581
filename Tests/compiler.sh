# shellcheck shell=bash disable=SC2034 # who sources it uses it
# SPDX-License-Identifier: Apache-2.0
# How everything is compiled for a check, in a folder of its own: a module at a time on both processors, without debug
# information, without an index of the system's modules, and with the description of a module as a by-product instead of a
# compilation before the others. From a clean clone this takes little more than half of what the defaults do.
#
# It is the release configuration without its optimisations: in a debug one, swift-argument-parser examines the options of a
# command again and again, which is half of the time of each start, and the tests start the program thousands of times.
build_folder=.build/checks
compiler=(
  --scratch-path "$build_folder" -c release -Xswiftc -Onone -Xcc -O0 -Xswiftc -enable-testing
  -debug-info-format none -Xswiftc -disable-batch-mode -Xswiftc -whole-module-optimization
  -Xswiftc -num-threads -Xswiftc 2 -Xswiftc -index-ignore-system-modules -Xswiftc -no-emit-module-separately-wmo
)
# Most of what a file of BoringSSL takes is reading the headers of C++, and there are hundreds of such files: these headers are
# compiled once. Another compiler, or another byte in one of them, makes another file. Without a compiler that can do it, all
# goes on without. The options are those of the build; the compiler refuses the file under others.
precompile() {
  local clang options text files
  clang=${CC:-$(swiftc -print-target-info | sed -n 's#.*"runtimeResourcePath": *"\(.*\)".*#\1/../../bin/clang#p')}
  options=(-O0 -g0 -fPIC -fblocks -fno-omit-frame-pointer -DSWIFT_PACKAGE=1 -std=c++17 -x c++-header)
  text=$(printf '#include <%s>\n' algorithm array atomic bitset iterator limits memory optional string string_view \
    utility variant assert.h limits.h stdlib.h string.h sys/socket.h sys/time.h)
  files=$("$clang" "${options[@]}" -M - <<<"$text" | tr ' \\' '\n\n' | grep '^/' | sort -u) || return
  headers=$({ "$clang" --version && xargs cat <<<"$files"; } | sha256sum) || return
  headers=$PWD/$build_folder/headers-${headers:0:16}
  if [ ! -e "$headers.h" ] || [ ! -e "$headers.pch" ]; then
    mkdir -p "$build_folder" && echo "$text" >"$headers.h" || return
    "$clang" "${options[@]}" -fpch-instantiate-templates -fpch-validate-input-files-content "$headers.h" -o "$headers.pch"
  fi
}
if precompile 2>/dev/null; then compiler+=(-Xcxx -include-pch -Xcxx "$headers.pch"); fi

# compile OPTION…: 'swift build' in that way, in which Package.swift optimises what tests run through most. The variable is
# for these builds alone: those of packages must not have it.
compile() { GLUCOPORT_CHECK=1 swift build "${compiler[@]}" "$@"; }

# built PRODUCT: the path of a program that is built.
built() {
  local folder
  folder=$(compile --show-bin-path) && echo "$folder/$1"
}
