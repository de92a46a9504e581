#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets many logbooks send at the same time to a server, each over one connection, and compares how long each of
them takes. After status 503, a client waits as long as the server asks. Prints the median and the longest time of
a logbook, and of one request.
    Tests/Benchmarks/postgres-many.py PROGRAM OPTION PLACE [LOGBOOKS [REQUESTS [READINGS [SERVERS]]]]
OPTION and PLACE are --database and a prepared database, or --data and a folder."""

import concurrent.futures
import http.client
import json
import statistics
import subprocess
import sys
import threading
import time
import uuid

program, option, place = sys.argv[1:4]
logbooks, requests, readings, servers = (int(text) for text in (sys.argv[4:] + ["200", "20", "100", "1"][max(0, len(sys.argv) - 4):]))
run_name = uuid.uuid4().hex[:8]


def token(number):
    name = f"{run_name}-{number}"
    out = subprocess.run([program, "serve", "token", "add", name, "--role", "write", "--logbook", name, option, place],
                         capture_output=True, text=True, check=True)
    return out.stdout.strip().splitlines()[-1]


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    tokens = list(pool.map(token, range(logbooks)))
processes, ports = [], []
for _ in range(servers):
    process = subprocess.Popen([program, "serve", "--quiet", "--listen", "127.0.0.1:0", option, place],
                               stdout=subprocess.PIPE, text=True)
    ports.append(int(process.stdout.readline().rsplit(":", 1)[1]))
    processes.append(process)

start = threading.Barrier(logbooks)
times, request_times, busy = [0.0] * logbooks, [], [0] * logbooks


def body(first):
    rows = [[1_700_000_000 + 300 * (first + i), 0, 0,
             time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(1_700_000_000 + 300 * (first + i))), "+00:00", "zone", 100, "mg/dL"]
            for i in range(readings)]
    device = {"vendor": "Abbott", "model": "Libre 3", "serial": "MH01", "format": "libreview"}
    return json.dumps({"series": [{"device": device, "kind": "cbg", "position_kind": "time", "readings": rows}]})


bodies = [body(number * readings) for number in range(requests)]


def client(number):
    headers = {"Authorization": f"Bearer {tokens[number]}", "Content-Type": "application/json",
               "Glucoport-Node": str(uuid.uuid4()), "Glucoport-Run": f"1 {uuid.uuid4()}"}
    connection = http.client.HTTPConnection("127.0.0.1", ports[number % servers], source_address=(f"127.0.0.{2 + number % 8}", 0))
    connection.connect()
    start.wait()
    began = time.perf_counter()
    for sent in bodies:
        asked = time.perf_counter()
        while True:
            connection.request("POST", "/v1/readings", sent, headers)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status == 200:
                break
            if answer.status != 503:
                raise SystemExit(f"status {answer.status}: {text}")
            busy[number] += 1
            time.sleep(float(answer.headers.get("Retry-After", "1")))
        request_times.append(time.perf_counter() - asked)
    times[number] = time.perf_counter() - began


try:
    began = time.perf_counter()
    threads = [threading.Thread(target=client, args=(number,)) for number in range(logbooks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wall = time.perf_counter() - began
finally:
    for process in processes:
        process.terminate()
        process.wait()
if not all(times):
    sys.exit("a client did not finish")
median, longest = statistics.median(times), max(times)
one, slowest = statistics.median(request_times), max(request_times)
print(f"{logbooks} logbooks, {servers} servers, {requests} requests of {readings} readings: {logbooks * requests / wall:.0f} requests/s,"
      f" {logbooks * requests * readings / wall:.0f} readings/s, {sum(busy)} answers with 503")
print(f"  a logbook: median {median:.2f} s, longest {longest:.2f} s, ratio {longest / median:.2f}")
print(f"  a request: median {one:.3f} s, longest {slowest:.3f} s, ratio {slowest / one:.1f}")
