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


# The exit statuses that 'glucoport fetch' understands: try again later, the service has changed, the login is
# rejected, the settings are wrong.
LATER, CHANGED, REJECTED, WRONG = 75, 76, 77, 78


def end(status, words):
    print(words, file=sys.stderr)
    sys.exit(status)


def settings(path, *needed):
    with open(path, encoding="utf-8") as file:
        if os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            end(WRONG, f"{path}: other users may read it; run: chmod 600 {path}")
        pairs = (line.split("=", 1) for line in file if "=" in line)
        found = {name.strip(): value.strip() for name, value in pairs}
    for name in needed:
        if name not in found:
            end(WRONG, f"{path}: the line '{name}' is missing")
    return found


def main():
    if len(sys.argv) != 2:
        end(WRONG, "usage: dexcom-share.py FILE")
    try:
        from pydexcom import Dexcom, Region
        from pydexcom.errors import AccountError, AccountErrorEnum, ArgumentError, ArgumentErrorEnum
    except ImportError as error:
        end(WRONG, f"the package pydexcom is missing or has changed: {error}")

    chosen = settings(sys.argv[1], "username", "password")
    try:
        region = Region(chosen.get("region", "us"))
    except ValueError:
        end(WRONG, "the line 'region' is us, ous or jp")
    try:
        client = Dexcom(username=chosen["username"], password=chosen["password"], region=region)
        readings = client.get_glucose_readings(minutes=1440, max_count=288)
    except AccountError as error:
        if error.enum is AccountErrorEnum.MAX_ATTEMPTS:
            # This is the answer of the service. With it, 'glucoport fetch' waits until the account is
            # unlocked.
            json.dump({"Code": "SSO_AuthenticateMaxAttemptsExceeded"}, sys.stdout)
            end(LATER, str(error))
        end(REJECTED, f"{error}; a wrong region looks the same")
    except ArgumentError as error:
        if error.enum is ArgumentErrorEnum.GLUCOSE_READING_INVALID:
            end(CHANGED, str(error))
        # This error also comes for a login that the service does not know.
        end(REJECTED, f"{error}: check user name, password and region")
    json.dump([reading.json for reading in readings], sys.stdout)


main()
