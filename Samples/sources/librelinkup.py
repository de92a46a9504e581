#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Print the graph or the logbook of LibreLinkUp, for a source of 'glucoport fetch'. NOT TRIED WITH THE SERVICE.

Needs the package pylibrelinkup (pip install pylibrelinkup). Takes the path of a file with mode 0600 and the lines

    email = follower@example.org
    password = ...
    region = EU
    patient = 00000000-0000-0000-0000-000000000000

Use an account of LibreLinkUp that only follows. Without 'patient' the ids of the followed persons are printed on standard
error. Then:

    glucoport source set libre --type command --interval 1h --patient ID -- python3 librelinkup.py FILE
    glucoport source set events --type command --interval 24h --patient ID -- python3 librelinkup.py FILE logbook
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
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: librelinkup.py FILE [logbook]")
    from pylibrelinkup import APIUrl, PyLibreLinkUp
    from pylibrelinkup.exceptions import RedirectError

    chosen = settings(sys.argv[1])
    region = APIUrl.from_string(chosen.get("region", "US"))
    client = PyLibreLinkUp(email=chosen["email"], password=chosen["password"], api_url=region)
    try:
        client.authenticate()
    except RedirectError:
        sys.exit("this account is in another region: correct the line 'region'")
    if "patient" not in chosen:
        for person in client.get_patients():
            print(person.first_name, person.patient_id, file=sys.stderr)
        sys.exit("add a line 'patient' with one of these ids")
    # The answer as the service sent it. The package has no public name for it.
    if sys.argv[2:] == ["logbook"]:
        answer = client._get_logbook_json(chosen["patient"])
    else:
        answer = client._get_graph_data_json(chosen["patient"])
    # A fresh login is part of it.
    answer.pop("ticket", None)
    json.dump(answer, sys.stdout)


main()
