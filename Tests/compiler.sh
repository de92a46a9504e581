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
# Only builds of the checks have these variables, so that Package.swift optimises what tests run through most, and C++ is
# compiled as Tests/clang.sh does unless somebody has chosen a compiler. All commands of SwiftPM get the same ones: when one
# is new, it reads the descriptions of all packages again.
for_checks=(env GLUCOPORT_CHECK=1)
clang=$(swiftc -print-target-info 2>/dev/null | sed -n 's#.*"runtimeResourcePath": *"\(.*\)".*#\1/../../bin/clang#p') || true
if [ -z "${CC:-}" ] && [ -x "$clang" ]; then for_checks+=(GLUCOPORT_CLANG="$clang" CC="$PWD/Tests/clang.sh"); fi

# compile OPTION…: 'swift build' in that way.
compile() { "${for_checks[@]}" swift build "${compiler[@]}" "$@"; }

# built PRODUCT: the path of a program that is built.
built() {
  local folder
  folder=$(compile --show-bin-path) && echo "$folder/$1"
}
