#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures a server with 1,000 logbooks, most of them of the size of a million readings. The measurements are an
upload of 100 readings that opens the logbook, a second upload, and the memory of the server. Fails if large logbooks take over twice as long as the small ones
between them, or if the server takes over 256 MiB.
    Tests/Benchmarks/scale-server.py PROGRAM [LOGBOOKS]
The size is simulated: each logbook has a few hundred readings and its schema. The file of a large logbook is extended
by a hole to the length for a million readings. Its header states this number of pages. So a thousand logbooks do
not take 50 GB."""

import http.client
import json
import pathlib
import sqlite3
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import uuid

MILLION_BYTES = 50 << 20
MAX_MEMORY = 256
MAX_RATIO = 2
# One in this number of logbooks stays small.
SMALL_EVERY = 10

program = pathlib.Path(sys.argv[1]).resolve()
logbooks = int(sys.argv[2]) if len(sys.argv) > 2 else 1000


def body(first):
    """A hundred readings of one sensor."""
    seconds = [1_700_000_000 + 300 * (first + number) for number in range(100)]
    rows = [[second, 0, 0, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second)), "+00:00", "zone", 100, "mg/dL"]
            for second in seconds]
    device = {"vendor": "Abbott", "model": "Libre 3", "serial": "MH01", "format": "libreview"}
    return json.dumps({"series": [{"device": device, "kind": "cbg", "position_kind": "time", "readings": rows}]})


def grow(file):
    """Changes the length and the number of pages of a database to those of a large one, without writing them."""
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = database.execute("PRAGMA page_size").fetchone()[0]
    database.close()
    with open(file, "r+b") as data:
        data.truncate(MILLION_BYTES // size * size)
        data.seek(28)
        data.write(struct.pack(">I", MILLION_BYTES // size))


class Server:
    """A running server. Requests go over one connection, one after the other."""

    def __init__(self, data):
        self.process = subprocess.Popen([program, "serve", "--quiet", "--listen", "127.0.0.1:0", "--data", data],
                                        stdout=subprocess.PIPE, text=True)
        port = int(self.process.stdout.readline().rsplit(":", 1)[1])
        self.connection = http.client.HTTPConnection("127.0.0.1", port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.process.terminate()
        self.process.wait()

    def send(self, tokens, turn):
        """Sends a hundred readings to each logbook, different ones in each turn. Returns the times in milliseconds."""
        text = body(100 * turn)
        times = []
        for token, client, _ in tokens:
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json",
                       "Glucoport-Node": client, "Glucoport-Run": f"1 {client}"}
            began = time.perf_counter()
            self.connection.request("POST", "/v1/readings", text, headers)
            answer = self.connection.getresponse()
            said = answer.read()
            times.append((time.perf_counter() - began) * 1000)
            if answer.status != 200:
                sys.exit(f"status {answer.status}: {said}")
        return times

    def memory(self):
        """The memory of the server and its peak, in MiB."""
        lines = pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return tuple(next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name)) for name in ("VmRSS", "VmHWM"))


def main():
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "data"
        tokens = []
        for number in range(logbooks):
            added = subprocess.run([program, "serve", "token", "add", f"bench-{number}", "--role", "write", "--logbook",
                                    f"bench-{number}", "--data", data], capture_output=True, text=True, check=True)
            tokens.append((added.stdout.strip().splitlines()[-1], str(uuid.uuid4()), number % SMALL_EVERY > 0))
        with Server(data) as server:
            for number, token in enumerate(tokens):
                known = set((data / "logbooks").glob("*.db"))
                server.send([token], 0)
                made = set((data / "logbooks").glob("*.db")) - known
                if len(made) != 1:
                    sys.exit(f"the upload to logbook {number} made {len(made)} files")
                tokens[number] += tuple(made)
        for *_, is_large, file in tokens:
            if is_large:
                grow(file)
        with Server(data) as server:
            turns = [server.send([token[:3] for token in tokens], turn) for turn in (1, 2)]
            now, peak = server.memory()
        size = sum(file.stat().st_size for *_, file in tokens)
    is_slow = False
    for name, times in zip(("first upload", "second upload"), turns):
        large = statistics.median(time for time, token in zip(times, tokens) if token[2])
        small = statistics.median(time for time, token in zip(times, tokens) if not token[2])
        print(f"{name}: median {large:.1f} ms in a large logbook, {small:.1f} ms in a small one, longest {max(times):.1f} ms")
        is_slow = is_slow or large > MAX_RATIO * small
    print(f"{logbooks} logbooks, {size / (1 << 30):.1f} GiB with holes: memory of the server {now:.1f} MiB, peak {peak:.1f} MiB")
    sys.exit(is_slow or peak > MAX_MEMORY)


main()
