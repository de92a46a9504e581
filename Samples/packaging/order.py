#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the functions that frequent commands call, in the order of their first calls: order.py PROGRAM >order.symbols

PROGRAM is the program of a release build with its symbols, for example .build/packaging/*/release/glucoport. The linker
places these functions next to each other, so that fewer pages of the program are in memory; see order.symbols in build.sh. A
name has no effect on a later build that does not have the function. Needs valgrind, binutils and some minutes.
"""
import datetime
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Longer names are specialised closures, which change most often.
MAX_NAME = 2000
COMMANDS = [
    ["--version"],
    ["import", "--quiet", "--timezone", "Europe/Madrid", "rows.csv"],
    ["status"],
    ["export", "--format", "csv"],
    ["export", "--format", "ndjson"],
    ["list", "--limit", "5"],
]
# The number of rows is enough for several batches, so that all threads of an import have work.
ROWS = 80_000
START = datetime.datetime(2010, 1, 1)


def called(profile, program):
    """The functions of the program in a file of callgrind. The file has each name once, and then only its number."""
    names, place = {"fn": {}, "ob": {}}, None
    for line in profile.read_text(errors="replace").splitlines():
        match = re.match(r"c?(fn|ob)=\((\d+)\)(?: (.*))?$", line)
        if not match:
            continue
        kind, number, name = match.groups()
        if name:
            names[kind][number] = name
        if line.startswith("ob="):
            place = names["ob"].get(number)
        elif line.startswith("fn=") and place == str(program):
            # Callgrind appends a number for each level of a recursion, which is removed.
            yield re.sub(r"'\d+$", "", names["fn"][number])


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        # Valgrind cannot read all debug information of Swift, so it is removed.
        stripped = folder / "glucoport"
        subprocess.run(["strip", "--strip-debug", "-o", stripped, program], check=True)
        # One row in twenty repeats an earlier row, so that the import must sort the rows.
        numbers = (n - 40 if n % 20 == 19 and n > 100 else n for n in range(ROWS))
        rows = (
            f"{(START + datetime.timedelta(minutes=5 * n)).isoformat()}+01:00,{90 + n % 97},mg/dL,S{n % 3},{n}" for n in numbers)
        (folder / "rows.csv").write_text("time,value,unit,device,sequence\n" + "\n".join(rows) + "\n")
        environment = os.environ | {"GLUCOPORT_STORE": str(folder / "store.db"), "GLUCOPORT_TIMEZONE": "UTC"}
        order = {}
        for command in COMMANDS:
            profile = folder / "profile"
            valgrind = ["valgrind", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={profile}"]
            subprocess.run([*valgrind, stripped, *command], cwd=folder, env=environment, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for name in called(profile, stripped):
                if len(name) <= MAX_NAME and not name.startswith("0x"):
                    order.setdefault(name)
    print("\n".join(order))


main(sys.argv[1])
