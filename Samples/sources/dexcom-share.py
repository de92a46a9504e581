#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Print the last day of Dexcom Share, for a source of 'glucoport fetch'. NOT TRIED WITH THE SERVICE.

Needs the package pydexcom (pip install pydexcom). Takes the path of a file with mode 0600 and the lines

    username = +15551234567
    password = ...
    region = ous

The account is that of the person who wears the sensor, and the password opens the whole account. The region is us, ous (all
other countries) or jp; a wrong one looks like a wrong password. Then:

    glucoport source set share --type command --interval 1h -- python3 dexcom-share.py FILE
"""

import json
import os
import stat
import sys


def settings(path):
    with open(path, encoding="utf-8") as file:
        if os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            sys.exit(f"{path}: other users may read it; run: chmod 600 {path}")
        pairs = (line.split("=", 1) for line in file if "=" in line)
        return {name.strip(): value.strip() for name, value in pairs}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: dexcom-share.py FILE")
    from pydexcom import Dexcom, Region

    chosen = settings(sys.argv[1])
    client = Dexcom(
        username=chosen["username"], password=chosen["password"], region=Region(chosen.get("region", "us"))
    )
    readings = client.get_glucose_readings(minutes=1440, max_count=288)
    json.dump([reading.json for reading in readings], sys.stdout)


main()
