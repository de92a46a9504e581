# shellcheck shell=bash disable=SC2034 # the scripts that source this file use its variables
# SPDX-License-Identifier: Apache-2.0
# The options and commands with which everything is compiled for a check. The build has a separate folder. It
# compiles one module at a time on both processors, without debug information. The description of a module is
# written during its compilation, and not by a separate compilation before it. LLVM does not verify the output
# of the compiler. Neither the system's modules nor the tests are indexed. SwiftPM would look for tests of
# XCTest in the index of tests; see Tests/Start/XCTMain.swift. From a clean clone, this build takes half the
# time of one with the default options.
#
# It is the release configuration without optimisation. In a debug build, swift-argument-parser examines the
# options of a command repeatedly. That is half of the time of a start, and the tests start the program
# thousands of times.
build_folder=.build/checks
compiler=(
  --scratch-path "$build_folder" -c release -Xswiftc -Onone -Xcc -O0 -Xswiftc -enable-testing --disable-index-store
  -debug-info-format none -Xswiftc -disable-batch-mode -Xswiftc -whole-module-optimization
  -Xswiftc -num-threads -Xswiftc 2 -Xswiftc -no-emit-module-separately-wmo
  -Xswiftc -Xfrontend -Xswiftc -disable-llvm-verify
)
# Only builds of the checks have these variables. With them, Package.swift optimises the code that tests run most,
# Tests/clang.sh compiles C++ unless CC names another compiler, and Tests/link.sh links the programs. All commands
# of SwiftPM get the same variables, since it reads the descriptions of all packages again after a change of one.
for_checks=(env GLUCOPORT_CHECK=1)
tools=$(swiftc -print-target-info 2>/dev/null | sed -n 's#.*"runtimeResourcePath": *"\(.*\)".*#\1/../../bin#p') || true
if [ -z "${CC:-}" ] && [ -x "$tools/clang" ]; then
  for_checks+=(GLUCOPORT_CLANG="$tools/clang" CC="$PWD/Tests/clang.sh")
fi
if [ -x "$tools/ld.lld" ]; then
  for_checks+=(GLUCOPORT_LINKER="$tools/ld.lld")
  compiler+=(-Xswiftc "-ld-path=$PWD/Tests/link.sh")
fi

# compile OPTION…: runs 'swift build' with these options.
compile() { "${for_checks[@]}" swift build "${compiler[@]}" "$@"; }

# built PRODUCT: prints the path of a program that is built.
built() {
  local folder
  folder=$(compile --show-bin-path) && echo "$folder/$1"
}
