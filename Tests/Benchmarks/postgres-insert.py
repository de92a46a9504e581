#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two ways to store a batch of readings in PostgreSQL, through libpq and in binary. The first way is one
statement with an array for each column (unnest). The second one is COPY into a temporary table, from which a statement
inserts, and which is dropped with the transaction. Each way stores new readings, and then the same readings again. The ways alternate in each run, so that other work
slows both. A third way looks up known readings instead of inserting them, as a server does with large batches that
are known.
    Tests/Benchmarks/postgres-insert.py ADDRESS [RUNS]
ADDRESS is that of a database that 'glucoport serve database prepare' prepared, for a superuser."""

import ctypes
import statistics
import struct
import sys
import time

address, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
pq = ctypes.CDLL("libpq.so.5")
for name in ("PQconnectdb", "PQexec", "PQexecParams", "PQgetResult", "PQerrorMessage", "PQresultErrorMessage"):
    getattr(pq, name).restype = ctypes.c_void_p
pq.PQresultErrorMessage.restype = ctypes.c_char_p
connection = ctypes.c_void_p(pq.PQconnectdb(address.encode()))
COLUMNS = [("series", 20), ("position", 20), ("bucket", 20), ("occurrence", 20), ("time", 20), ("utc_offset", 20),
           ("source", 20), ("value", 701), ("unit", 20), ("flag", 20), ("threshold", 701), ("marks", 20)]
NAMES = ", ".join(name for name, _ in COLUMNS)
TARGET = """INSERT INTO glucoport.reading (logbook, seq, series, position, value_bucket, occurrence, device_time, utc_offset,
  offset_source, value, unit, range_flag, threshold, marks, node)"""
CONFLICT = "ORDER BY ord ON CONFLICT (logbook, series, position, value_bucket, occurrence) DO NOTHING RETURNING seq"


def check(result, wanted):
    status = pq.PQresultStatus(ctypes.c_void_p(result))
    if status not in wanted:
        sys.exit(pq.PQresultErrorMessage(ctypes.c_void_p(result)).decode())
    return ctypes.c_void_p(result)


def run(sql):
    pq.PQclear(check(pq.PQexec(connection, sql.encode()), (1, 2)))


def rows_of(sql, types=(), values=()):
    """Runs a statement with binary parameters, and returns the number of its rows."""
    count = len(types)
    result = check(pq.PQexecParams(
        connection, sql.encode(), count, (ctypes.c_uint32 * count)(*types), (ctypes.c_char_p * count)(*values),
        (ctypes.c_int * count)(*map(len, values)), (ctypes.c_int * count)(*[1] * count), 1), (1, 2))
    found = pq.PQntuples(result)
    pq.PQclear(result)
    return found


def readings(first, count):
    """Rows of one sensor, one for each minute from `first` on."""
    return [(1, 60 * (first + i), 100 + i % 50, 0, 60 * (first + i), 7200, 2, 100.5 + i % 50, 0, 0, None, 0)
            for i in range(count)]


def packed(value, kind):
    if value is None:
        return struct.pack(">i", -1)
    return struct.pack(">id" if kind == 701 else ">iq", 8, value)


def arrays(rows):
    texts = []
    for index, (_, kind) in enumerate(COLUMNS):
        values = b"".join(packed(row[index], kind) for row in rows)
        texts.append(struct.pack(">iiIii", 1, 1 if kind == 701 else 0, kind, len(rows), 1) + values)
    return texts


def copied(rows):
    out = [b"PGCOPY\n\xff\r\n\x00" + struct.pack(">ii", 0, 0)]
    for ord, row in enumerate(rows, 1):
        out.append(struct.pack(">h", len(COLUMNS) + 1) + packed(ord, 20))
        out += [packed(value, kind) for value, (_, kind) in zip(row, COLUMNS)]
    return b"".join(out) + struct.pack(">h", -1)


def unnest(logbook, last, data):
    numbers = [struct.pack(">q", value) for value in (logbook, last, 1)]
    types = [1022 if kind == 701 else 1016 for _, kind in COLUMNS]
    places = ", ".join(f"${i + 4}::{'float8' if kind == 701 else 'int8'}[]" for i, (_, kind) in enumerate(COLUMNS))
    return rows_of(f"{TARGET} SELECT $1, $2 + ord, {NAMES}, $3 FROM unnest({places}) WITH ORDINALITY AS i({NAMES}, ord)"
                   f" {CONFLICT}", [20, 20, 20] + types, numbers + data)


def look_up(logbook, last, data):
    found = rows_of(
        "SELECT i.ord, r.value, r.unit, r.range_flag, r.threshold FROM unnest($2::int8[], $3::int8[], $4::int8[], $5::int8[])"
        " WITH ORDINALITY AS i(series, position, bucket, occurrence, ord) CROSS JOIN LATERAL ("
        " SELECT value, unit, range_flag, threshold FROM glucoport.reading r WHERE r.logbook = $1"
        " AND r.series = i.series AND r.position >= i.position AND r.position <= i.position AND r.value_bucket = i.bucket"
        " AND r.occurrence = i.occurrence ORDER BY r.position LIMIT 1) r", [20] + [1016] * 4, [struct.pack(">q", logbook)] + data[:4])
    return 0 if found else unnest(logbook, last, data)


def copy(logbook, last, data):
    columns = ", ".join(f"{name} {'float8' if kind == 701 else 'int8'}" for name, kind in COLUMNS)
    run(f"CREATE TEMP TABLE incoming (ord int8, {columns}) ON COMMIT DROP")
    pq.PQclear(check(pq.PQexec(connection, b"COPY incoming FROM STDIN (FORMAT binary)"), (4,)))
    pq.PQputCopyData(connection, data, len(data))
    pq.PQputCopyEnd(connection, None)
    while result := pq.PQgetResult(connection):
        pq.PQclear(check(result, (1,)))
    return rows_of(f"{TARGET} SELECT {logbook}, {last} + ord, {NAMES}, 1 FROM incoming {CONFLICT}")


def transaction(way, logbook, last, data):
    start = time.perf_counter()
    run(f"BEGIN; SET LOCAL glucoport.logbook = '{logbook}'; SET LOCAL lock_timeout = 5000;"
        " SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off; SET LOCAL jit = off;"
        f" SELECT 1 FROM glucoport.counter WHERE logbook = {logbook} FOR UPDATE")
    stored = way(logbook, last, data)
    if stored:
        run(f"UPDATE glucoport.counter SET last_seq = {last + stored} WHERE logbook = {logbook}")
    run("COMMIT")
    return time.perf_counter() - start, stored


def series(way, pack, logbook, size, batches):
    run(f"INSERT INTO glucoport.counter (logbook) VALUES ({logbook})")
    data = [pack(readings(i * size, size)) for i in range(batches)]
    new = [transaction(way, logbook, i * size, data[i]) for i in range(batches)]
    known = [transaction(way, logbook, batches * size, data[i]) for i in range(batches)]
    assert all(stored == size for _, stored in new) and not any(stored for _, stored in known)
    return [size * batches / sum(took for took, _ in part) for part in (new, known)]


logbook = 1_000_000 + time.time_ns() % 1_000_000_000 * 1000
for size, batches in ((1000, 30), (10000, 5)):
    found = {"unnest": [], "copy": [], "look-up": []}
    for _ in range(runs):
        for name, way, pack in (("unnest", unnest, arrays), ("copy", copy, copied), ("look-up", look_up, arrays)):
            logbook += 1
            found[name].append(series(way, pack, logbook, size, batches))
    for index, act in enumerate(("new", "known")):
        one = [pair[index] for pair in found["unnest"]]
        text = f"{size:6} a batch, {act:5}: unnest {statistics.median(one):8.0f}/s"
        for name in ("copy", "look-up"):
            other = [pair[index] for pair in found[name]]
            ratios = sorted(b / a for a, b in zip(one, other))
            text += (f", {name} {statistics.median(other):8.0f}/s, {statistics.median(ratios):.2f} times"
                     f" ({ratios[0]:.2f} to {ratios[-1]:.2f})")
        print(text, flush=True)
