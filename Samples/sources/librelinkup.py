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


def passing(error):
    """The answer of a lock-out or a maintenance, which looks like a rejected login: the package has it in the cause only."""
    parts = [item.get("input") for item in getattr(error.__context__, "errors", list)()]
    parts = [part for part in parts if isinstance(part, dict)]
    if any(part.get("status") == 911 for part in parts):
        return {"status": 911}
    if any(part.get("code") == 60 or part.get("status") == 429 for part in parts):
        return {"status": 429, "data": {"code": 60, "message": "locked"}}
    return None


def main():
    if len(sys.argv) not in (2, 3):
        end(WRONG, "usage: librelinkup.py FILE [logbook]")
    try:
        from pylibrelinkup import APIUrl, PyLibreLinkUp, exceptions
        from requests import HTTPError
    except ImportError as error:
        end(WRONG, f"the package pylibrelinkup is missing or has changed: {error}")

    chosen = settings(sys.argv[1], "email", "password")
    try:
        region = APIUrl.from_string(chosen.get("region", "US"))
    except ValueError as error:
        end(WRONG, f"the line 'region': {error}")
    client = PyLibreLinkUp(email=chosen["email"], password=chosen["password"], api_url=region)
    try:
        client.authenticate()
        if "patient" not in chosen:
            for person in client.get_patients():
                print(person.first_name, person.patient_id, file=sys.stderr)
            end(WRONG, "add a line 'patient' with one of these ids")
        # These methods return the answer as the service sent it. The package has no public methods for it.
        if sys.argv[2:] == ["logbook"]:
            answer = client._get_logbook_json(chosen["patient"])
        else:
            answer = client._get_graph_data_json(chosen["patient"])
    except exceptions.RedirectError as error:
        end(WRONG, f"this account is in the region {error.region.name}: correct the line 'region'")
    except exceptions.AuthenticationError as error:
        answer = passing(error)
        if answer is not None:
            # With the answer of the service, 'glucoport fetch' waits until the lock or the maintenance is
            # over.
            json.dump(answer, sys.stdout)
            end(LATER, "the account is locked, or the service is in maintenance")
        end(REJECTED, str(error))
    except (
        exceptions.TermsOfUseError,
        exceptions.PrivacyPolicyError,
        exceptions.EmailVerificationError,
    ) as error:
        end(REJECTED, f"{error} Open the LibreLinkUp app, log out and in")
    except exceptions.PatientNotFoundError as error:
        end(WRONG, str(error))
    except exceptions.LLUAPIRateLimitError as error:
        end(LATER, str(error))
    except HTTPError as error:
        status = error.response.status_code
        is_refused = 400 <= status < 500 and status not in (408, 429)
        if is_refused:
            # The answer may contain the cause, such as the version of the app that the service requires.
            sys.stdout.write(error.response.text)
        end(REJECTED if status == 401 else CHANGED if is_refused else LATER, f"it answers with status {status}")
    # The answer contains a fresh login token, which must not be printed.
    answer.pop("ticket", None)
    json.dump(answer, sys.stdout)


main()
