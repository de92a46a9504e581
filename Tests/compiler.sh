# shellcheck shell=bash disable=SC2034 # who sources it uses it
# SPDX-License-Identifier: Apache-2.0
# How everything is compiled for a check: a module at a time on both processors, without debug information, without an index
# of the system's modules, and with the description of a module as a by-product instead of a compilation before the others.
# From a clean clone this takes little more than half of what the defaults do.
compiler=(
  -debug-info-format none -Xswiftc -disable-batch-mode -Xswiftc -whole-module-optimization
  -Xswiftc -num-threads -Xswiftc 2 -Xswiftc -index-ignore-system-modules -Xswiftc -no-emit-module-separately-wmo
)
# Package.swift then optimises what tests run through most.
export GLUCOPORT_CHECK=1
