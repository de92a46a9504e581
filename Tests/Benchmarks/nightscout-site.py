#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves the parts of a Nightscout site that an upload of readings needs, with a real database: nightscout-site.py FOLDER.

Prints the port on which it listens on this machine. Keeps the bodies of all bulk posts in FOLDER, in order."""

import datetime
import http.server
import json
import pathlib
import sqlite3
import sys
import time
import urllib.parse

BULK = "/api/v1/entries.json"


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body of a response are two packets. With Nagle's algorithm, the second would wait until the
    # first is acknowledged.
    disable_nagle_algorithm = True
    posts = 0

    def log_message(self, *_):
        pass

    def answer(self, value, status=200):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        asked = dict(urllib.parse.parse_qsl(query))
        if path.startswith("/api/v2/authorization/request/"):
            now = int(time.time())
            rights = [["*"]]
            return self.answer({"token": "jwt", "iat": now, "exp": now + 28800, "permissionGroups": rights})
        if path == "/api/v3/entries":
            rows = database.execute(
                "SELECT body FROM entry WHERE type = ? AND date >= ? AND date < ? ORDER BY date LIMIT ?",
                (asked.get("type$eq"), int(asked.get("date$gte", 0)), int(asked.get("date$lt", 1 << 62)),
                 int(asked["limit"])))
            return self.answer({"status": 200, "result": [json.loads(body) for (body,) in rows]})
        if path == "/api/v3/treatments":
            return self.answer({"status": 200, "result": []})
        if path == "/api/v3/lastModified":
            return self.answer({"status": 200, "result": {"collections": {}}})
        return self.answer({"status": 404}, 404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path != BULK:
            return self.answer({"status": 404}, 404)
        if folder:
            (folder / f"post-{Site.posts:04}.json").write_bytes(body)
            Site.posts += 1
        stored = []
        for entry in json.loads(body):
            moment = datetime.datetime.fromtimestamp(entry["date"] / 1000, datetime.timezone.utc)
            # One entry at a time, as the site does: it first searches for an entry with the same time and type.
            key = (moment.isoformat(), entry["type"])
            if not database.execute("SELECT 1 FROM entry WHERE moment = ? AND type = ?", key).fetchone():
                text = json.dumps(entry)
                row = database.execute("INSERT INTO entry VALUES (?, ?, ?, ?)", key + (entry["date"], text))
                entry["_id"] = f"{row.lastrowid:024x}"
            stored.append(entry)
        database.commit()
        return self.answer(stored)


folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None
database = sqlite3.connect(":memory:")
database.execute("CREATE TABLE entry (moment, type, date, body, PRIMARY KEY (moment, type))")
database.execute("CREATE INDEX entry_by_date ON entry (type, date)")
server = http.server.HTTPServer(("127.0.0.1", 0), Site)
print(server.server_port, flush=True)
server.serve_forever()
