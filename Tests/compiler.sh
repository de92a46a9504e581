# shellcheck shell=bash disable=SC2034 # who sources it uses it
# SPDX-License-Identifier: Apache-2.0
# How everything is compiled for a check: a module at a time on both processors, without debug information and without an
# index of the system's modules. From a clean clone this takes little more than half of what the defaults do.
compiler=(
  -debug-info-format none -Xswiftc -disable-batch-mode -Xswiftc -whole-module-optimization
  -Xswiftc -num-threads -Xswiftc 2 -Xswiftc -index-ignore-system-modules
)
