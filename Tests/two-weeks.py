#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets a job of the program fetch every five minutes for two weeks, with a clock of libfaketime.
Both of its sources keep values for half a day. One is a phone that states instants. The other is a file with shown times, in a
zone whose clocks are put back. The sources fail for minutes, for hours and for two days. A sensor ends and the
next one begins, and a password changes.

  two-weeks.py PROGRAM     prints what was seen; fails if a value is in the store twice, or neither in the store nor
                           reported as missing, or if a cause was mailed twice

The expected result is computed here from what the sources returned, and not from anything of the program.
"""

import base64
import bisect
import collections
import datetime
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import zoneinfo

ZONE = zoneinfo.ZoneInfo("Europe/Madrid")
MINUTE, HOUR, DAY = 60, 3600, 86400
WINDOW = 12 * HOUR
# The simulation begins after the date of any release, since the program distrusts a clock before its release.
# The clocks are put back in the sixth night.
START = int(datetime.datetime(2027, 10, 25, 6, 0, tzinfo=datetime.timezone.utc).timestamp())
END = START + 14 * DAY
OUTAGES = [(DAY, DAY + 25 * MINUTE), (3 * DAY, 3 * DAY + 5 * HOUR), (8 * DAY, 10 * DAY)]
SENSOR_CHANGE = (11 * DAY, 11 * DAY + 2 * HOUR)
PASSWORD_CHANGE, PASSWORD_CORRECTED = 12 * DAY, 12 * DAY + 7 * HOUR
FAKETIME = "/usr/lib/%s/faketime/libfaketime.so.1"


def within(instant, spans):
    return any(first <= instant - START < last for first, last in spans)


class Sources(http.server.BaseHTTPRequestHandler):
    now, password, shown = START, "first", {"phone": set(), "file": set()}
    requests, refused = 0, 0

    def do_GET(self):
        kind = type(self)
        kind.requests += 1
        name = "phone" if self.path == "/sgv.json" else "file"
        expected = "Basic " + base64.b64encode(("anna:" + kind.password).encode()).decode()
        if within(kind.now, OUTAGES):
            # The answer of a proxy for a computer that is off.
            return self.answer(502, b"<html>502 Bad Gateway</html>")
        if self.headers["Authorization"] != expected:
            kind.refused += 1
            return self.answer(401, b"", ("WWW-Authenticate", 'Basic realm="readings"'))
        times = [each for each in range(max(START, kind.now - WINDOW), kind.now + 1) if has_value(each, name)]
        kind.shown[name].update(times)
        self.answer(200, (phone if name == "phone" else file)(times))

    def answer(self, status, body, *headers):
        self.send_response(status)
        for header in headers:
            self.send_header(*header)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


def has_value(instant, name):
    """Whether a sensor measures at an instant. Each measures every five minutes, but never at the same moment as the other."""
    return (instant - START) % 300 == (17 if name == "phone" else 120) and not within(instant, [SENSOR_CHANGE])


def value(instant):
    return 80 + (instant // 300 * 7919) % 120


def phone(instants):
    """The values as xDrip+ returns them, the newest first."""
    return json.dumps([
        {"_id": "%024x" % each, "type": "sgv", "device": "xDrip-DexcomG6", "date": each * 1000, "sgv": value(each), "direction": "Flat"}
        for each in reversed(instants)]).encode()


def file(instants):
    """The values as a table with the times that a person sees, in their order."""
    lines = ["time;sensor glucose (mg/dL)"]
    for each in instants:
        lines.append("%s;%d" % (datetime.datetime.fromtimestamp(each, ZONE).strftime("%Y-%m-%d %H:%M"), value(each)))
    return ("\n".join(lines) + "\n").encode()


class Person:
    """The owner of the store, who reads the mails of the job."""

    def __init__(self, program, folder):
        self.program, self.folder, self.mails = program, folder, []
        library = FAKETIME % (os.uname().machine + "-linux-gnu")
        self.environment = {
            "HOME": folder, "LC_ALL": "C.UTF-8", "TZ": "Europe/Madrid", "PATH": "/usr/bin:/bin",
            "LD_PRELOAD": library, "DONT_FAKE_MONOTONIC": "1"}

    def run(self, *arguments):
        environment = dict(self.environment, FAKETIME="%+d" % (Sources.now - int(time.time())))
        return subprocess.run([self.program, *arguments], env=environment, capture_output=True, text=True, timeout=120)

    def must(self, *arguments):
        ended = self.run(*arguments)
        if ended.returncode != 0:
            sys.exit("%s ended with %d: %s" % (" ".join(arguments), ended.returncode, ended.stderr))
        return ended.stdout

    def write_password(self, text):
        with open(self.folder + "/password", "w") as stream:
            stream.write(text + "\n")
        os.chmod(self.folder + "/password", 0o600)

    def set_sources(self, port):
        for name, path, options in (
                ("phone", "sgv.json", []), ("file", "list.csv", ["--timezone", "Europe/Madrid", "--device", "Reader"])):
            self.must("source", "set", name, "http://127.0.0.1:%d/%s" % (port, path), "--type", "http", "--yes", "--user", "anna",
                      "--token-file", self.folder + "/password", *options)

    def job(self):
        ended = self.run("fetch", "--unattended", "--quiet", "--max-time", "1m")
        if ended.stdout or ended.stderr:
            self.mails.append((Sources.now, ended.returncode, ended.stdout + ended.stderr))


def is_covered(instant):
    """Whether any source had a value shortly before and after an instant, so that no sensor values are missing there."""
    everything = sorted(Sources.shown["phone"] | Sources.shown["file"])
    place = bisect.bisect(everything, instant)
    return 0 < place < len(everything) and everything[place] - everything[place - 1] <= 20 * MINUTE


def judge(person):
    """Checks the content of the store and the mails."""
    stored = {"phone": collections.Counter(), "file": collections.Counter()}
    for reading in map(json.loads, person.must("list", "--format", "ndjson", "--kind", "cbg").splitlines()):
        name = "phone" if "xDrip" in reading["model"] else "file"
        time = reading["time"] if name == "phone" else reading["device_time"]
        stored[name][time.rstrip("Z"), reading["value"]] += 1
    sources = {source["source"]: source for source in map(json.loads, person.must("source", "show", "--json").splitlines())}
    for name, readings in stored.items():
        shown = Sources.shown[name]
        expected = collections.Counter(
            (datetime.datetime.fromtimestamp(each, datetime.timezone.utc if name == "phone" else ZONE).strftime(
                "%Y-%m-%dT%H:%M:%S"), value(each)) for each in shown)
        assert readings == expected, "%s: too many: %s; too few: %s" % (name, readings - expected, expected - readings)
        holes = [[int(datetime.datetime.fromisoformat(hole[end]).timestamp()) for end in ("from", "until")]
                 for hole in sources[name]["holes"]]
        lost = [each for each in range(min(shown), max(shown)) if has_value(each, name) and each not in shown]
        assert lost, "%s: nothing was lost, so that this shows nothing" % name
        unsaid = [each for each in lost if not any(first < each < last for first, last in holes) and not is_covered(each)]
        assert not unsaid, "%s: lost, and not said: %s" % (name, unsaid[:5])
        assert len(holes) == 1, "%s: holes without a loss: %s" % (name, holes)
        assert max(shown) > END - 15 * MINUTE, "%s: the last values are missing" % name
        print("%s: %d values, each once; %d lost, all of them said in 1 hole" % (name, len(shown), len(lost)))
    for when, status, text in person.mails:
        print("mail at %s, status %d: %s" % (datetime.datetime.fromtimestamp(when, ZONE), status, text.strip()))
    causes = ["rejects the login", "is missing and no longer at the source"]
    said = collections.Counter(
        (line.split(": ")[1], next((cause for cause in causes if cause in line), line))
        for _, _, text in person.mails for line in text.splitlines())
    assert said == {(name, cause): 1 for name in stored for cause in causes}, "mailed: %s" % said
    # An export of the sensor has the missing values of both sources.
    with open(person.folder + "/export.json", "wb") as stream:
        stream.write(phone([each for each in range(START, END) if has_value(each, "phone")]))
    person.must("import", person.folder + "/export.json", "--quiet")
    rest = [json.loads(line)["holes"] for line in person.must("source", "show", "--json").splitlines()]
    assert rest == [[], []], "holes that were filled are still said: %s" % rest
    assert Sources.refused <= 2 * 2, "%d requests with a rejected password" % Sources.refused
    print("%d requests, %d of them with a rejected password" % (Sources.requests, Sources.refused))


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sources)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        person = Person(sys.argv[1], folder)
        person.write_password("first")
        Sources.now = START + 10 * MINUTE
        person.set_sources(server.server_port)
        for now in range(START + 10 * MINUTE, END, 5 * MINUTE):
            Sources.now = now
            if now - START >= PASSWORD_CHANGE:
                Sources.password = "second"
            if now - START == PASSWORD_CORRECTED:
                person.write_password("second")
                person.set_sources(server.server_port)
            person.job()
        judge(person)


main()
