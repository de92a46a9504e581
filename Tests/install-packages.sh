#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the named Debian packages that are missing. Without root, prints the command that installs them.
set -euo pipefail

missing=()
for package in "$@"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi
if [ "$(id -u)" -ne 0 ]; then
  echo "Please install: ${missing[*]}" >&2
  echo "  sudo apt-get install ${missing[*]}" >&2
  exit 69
fi
for attempt in 1 2 3; do
  apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" && break
  [ "$attempt" -lt 3 ] || { echo "the packages could not be installed" >&2; exit 69; }
  sleep $((attempt * 5))
done
