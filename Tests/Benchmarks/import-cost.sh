#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the processor time of imports with that of an older program. The programs take turns. Ends with status 1 if an
# input takes over 3 % more. Wall time hides such a difference, because the second thread and other programs of the
# machine change it by more.
#   Tests/Benchmarks/import-cost.sh [REFERENCE [ROWS [TURNS]]]
# REFERENCE is a program, a package of Samples/packaging/build.sh, or a commit. A commit is built once in
# .build/reference. The default is the commit that last changed import-cost.txt. Builds the release program first.
# GLUCOPORT_PROGRAM names another program, for example that of a package if the reference is a package.
set -euo pipefail
# A fixed time zone, so that the time zone of this machine has no effect.
export GLUCOPORT_TIMEZONE=UTC
cd "$(dirname "$0")/../.."
options=(-c release --static-swift-stdlib --product glucoport)
reference=${1:-$(git log -1 --format=%H -- Tests/Benchmarks/import-cost.txt)}
rows=${2:-1000000} turns=${3:-7}
[ -n "$reference" ] || { echo "import-cost.sh: no commit has import-cost.txt yet; name a reference" >&2; exit 64; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# built COMMIT: builds the program of a commit and prints its path.
built() {
  local commit kept
  commit=$(git rev-parse --verify --quiet "$1^{commit}") || {
    echo "import-cost.sh: $1 is no program, no package and no commit" >&2
    exit 66
  }
  kept=$PWD/.build/reference/$commit
  if [ ! -x "$kept/glucoport" ]; then
    rm -rf "$kept"
    mkdir -p "$kept/tree"
    git archive "$commit" | tar -x -C "$kept/tree"
    (cd "$kept/tree" && swift build "${options[@]}" >&2 && cp "$(swift build "${options[@]}" --show-bin-path)/glucoport" ..)
    rm -rf "$kept/tree"
  fi
  echo "$kept/glucoport"
}

case $reference in
  *.deb) dpkg-deb --extract "$reference" "$folder/package" ;;
  *.tar.gz) mkdir "$folder/package" && tar -xf "$reference" -C "$folder/package" ;;
esac
if [ -d "$folder/package" ]; then
  older=$(find "$folder/package" -type f -name glucoport -perm -u+x -print -quit)
  [ -n "$older" ] || { echo "import-cost.sh: there is no program in $reference" >&2; exit 65; }
elif [ -x "$reference" ] && [ -f "$reference" ]; then
  older=$(realpath "$reference")
else
  older=$(built "$reference")
fi

program=${GLUCOPORT_PROGRAM:-}
if [ -z "$program" ]; then
  swift build "${options[@]}" >&2
  program=$(swift build "${options[@]}" --show-bin-path)/glucoport
fi

python3 Tests/Benchmarks/generate.py "$folder" "$rows"
python3 Tests/Benchmarks/import-cost.py "$program" "$older" "$turns" \
  "$folder"/{generic.csv,libreview.csv,clarity.csv,nightscout.json,generic.ndjson,shuffled.csv}
