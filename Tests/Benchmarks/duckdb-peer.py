#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Imports generic CSV with DuckDB into a new SQLite file, with the same unique key: duckdb-peer.py INPUT STORE.

With --check instead of arguments, the exit status only shows whether DuckDB and its SQLite extension are installed.
"""

import pathlib
import sys

try:
    import duckdb
    import duckdb_extension_sqlite_scanner

    extension = next(
        pathlib.Path(duckdb_extension_sqlite_scanner.__file__).parent.rglob("*.duckdb_extension")
    )
    database = duckdb.connect()
    database.execute(f"LOAD '{extension}'")
except Exception as reason:
    sys.exit(f"duckdb-peer: {reason}")

if sys.argv[1] != "--check":
    store = pathlib.Path(sys.argv[2])
    store.unlink(missing_ok=True)
    database.execute("SET threads = 2")
    database.execute(f"ATTACH '{store}' AS store (TYPE sqlite)")
    database.execute(
        "CREATE TABLE store.reading (device TEXT, time BIGINT, value_bucket BIGINT, device_time TEXT, value DOUBLE, "
        "unit TEXT, PRIMARY KEY (device, time, value_bucket))"
    )
    database.execute(
        "INSERT INTO store.reading SELECT DISTINCT ON (device, time, value_bucket) * FROM (SELECT device, "
        "CAST(epoch(CAST(time AS TIMESTAMPTZ)) AS BIGINT) AS time, CAST(round(value / 1.801559) AS BIGINT) AS value_bucket, "
        f"CAST(time AS TEXT), CAST(value AS DOUBLE), unit FROM read_csv('{sys.argv[1]}', all_varchar = false))"
    )
