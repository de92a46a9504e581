# SPDX-License-Identifier: Apache-2.0
"""Imports inputs with two programs in turns, and compares the lowest processor times.

  import-cost.py PROGRAM OLDER TURNS INPUT...

Other work of the machine only adds time, so the lowest of several times is the best estimate. Ends with status 1 if
PROGRAM takes over 3 % more than OLDER for an input.
"""
import os
import shutil
import subprocess
import sys
import tempfile

MAX_RATIO = 1.03


def seconds(program, source, folder):
    """The processor time of one import into a new store, in user and kernel mode."""
    shutil.rmtree(folder, ignore_errors=True)
    arguments = [program, "import", "--quiet", "--timezone", "Europe/Madrid", "--store", f"{folder}/logbook.db", source]
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"import-cost.py: {program} ended with {process.returncode} for {source}")
    return usage.ru_utime + usage.ru_stime


def main(program, older, turns, *sources):
    dearer = []
    print(f"{'input':18} {'now s':>8} {'older s':>8} {'now/older':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            times = [[], []]
            for turn in range(int(turns)):
                for place in (0, 1) if turn % 2 == 0 else (1, 0):
                    times[place].append(seconds((program, older)[place], source, f"{folder}/store"))
            now, then = min(times[0]), min(times[1])
            name = os.path.basename(source)
            print(f"{name:18} {now:8.3f} {then:8.3f} {now / then:10.3f}", flush=True)
            if now > then * MAX_RATIO:
                dearer.append(name)
    if dearer:
        sys.exit(f"import-cost.py: over {MAX_RATIO - 1:.0%} more processor time for {', '.join(dearer)}; make it cheaper, or "
                 "give the reason in Tests/Benchmarks/import-cost.txt")


main(*sys.argv[1:])
