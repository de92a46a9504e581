# shellcheck shell=bash disable=SC2034 # who sources it uses it
# SPDX-License-Identifier: Apache-2.0
# How everything is compiled for a check, in a separate folder: one module at a time on both processors,
# without debug information, and without an index of the system's modules. The description of a module is
# written during its compilation, and not by another one before. From a clean clone, this takes little more
# than half the time of the defaults.
#
# It is the release configuration without optimisation. In a debug build, swift-argument-parser examines the
# options of a command repeatedly. That is half of the time of a start, and the tests start the program
# thousands of times.
build_folder=.build/checks
compiler=(
  --scratch-path "$build_folder" -c release -Xswiftc -Onone -Xcc -O0 -Xswiftc -enable-testing
  -debug-info-format none -Xswiftc -disable-batch-mode -Xswiftc -whole-module-optimization
  -Xswiftc -num-threads -Xswiftc 2 -Xswiftc -index-ignore-system-modules -Xswiftc -no-emit-module-separately-wmo
)
# Only builds of the checks set these variables. Package.swift then optimises the code that tests run most,
# and Tests/clang.sh compiles C++ unless CC names a compiler. All commands of SwiftPM get the same variables,
# since it reads the descriptions of all packages again if one has changed.
for_checks=(env GLUCOPORT_CHECK=1)
clang=$(swiftc -print-target-info 2>/dev/null | sed -n 's#.*"runtimeResourcePath": *"\(.*\)".*#\1/../../bin/clang#p') || true
if [ -z "${CC:-}" ] && [ -x "$clang" ]; then for_checks+=(GLUCOPORT_CLANG="$clang" CC="$PWD/Tests/clang.sh"); fi

# compile OPTION…: runs 'swift build' with these options.
compile() { "${for_checks[@]}" swift build "${compiler[@]}" "$@"; }

# built PRODUCT: prints the path of a program that is built.
built() {
  local folder
  folder=$(compile --show-bin-path) && echo "$folder/$1"
}
