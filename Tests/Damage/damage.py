#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damages what the built program reads, and checks that it ends as documented: damage.py PROGRAM KIND SECONDS [SEED].

Kinds:
  inputs    samples whose bytes are changed, removed, repeated or truncated are imported
  bits      single bits of a store are changed, then commands read it
  requests  requests with damaged bytes are sent to a server that also keeps another logbook
  answers   a proxy damages the answers of a server while a store is uploaded; then the same without the proxy
  schemas   stores and databases of apps with hostile views, triggers, indexes and tables are imported, merged, restored and used
  pages     as disk, by a file system whose requests fail, also for mapped pages, once or permanently; needs /dev/fuse
  lines     lines that a person or a program could type, and damaged ones, are given to 'add -' and to 'add'
  disk      strace(1) lets one call of the system fail, or all from one on, while a command reads or writes a store

Each trial has a seed, which is printed with what was found. A trial fails if a program ends by a signal, or with a status
that no manual page has. It also fails after more than 20 seconds (120 with a server), or 2 GiB of memory. After damaged requests the
server still answers for the other logbook. After damaged answers an undamaged upload makes both sides equal. Nothing of a
hostile schema comes into a store. Each line has one answer, what it names is in the store, and all strict lines are stored or
none. After a failing call the store is sound, and a command that ended with 0 did and printed all of it."""
import errno
import http.client
import json
import os
import random
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

# Prevents Python from writing a folder of compiled files next to the scripts.
sys.dont_write_bytecode = True
from failing_disk import OPERATIONS, FailingDisk, enter_mounts

STATUSES = {0, 1, 3, 4, 64, 65, 66, 69, 73, 74, 75, 76, 77, 78}
MOST_SECONDS = 20
# A client waits half a minute for a silent server and then tries again, so these commands may take longer.
MOST_UPLOAD_SECONDS = 120
MOST_BYTES = 2 << 30
LARGEST_SAMPLE = 256 * 1024
READING_COMMANDS = [
    ["status"], ["status", "--json"], ["list", "--format", "ndjson"], ["list", "--left-out"], ["stats"], ["day"], ["log"],
    ["doctor", "--json"], ["export", "--format", "csv"], ["export", "--format", "ndjson"], ["report", "-o", "-"],
    ["config"], ["count", "list"], ["conflict", "list"], ["queue", "list"], ["undo", "--dry-run"],
]


class Found(Exception):
    """Raised for a result that a trial must not have."""


class Machine:
    """Runs the program in a folder, with an environment without personal settings."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": folder, "LANG": "C.UTF-8", "TZ": "UTC", "NO_COLOR": "1",
            "XDG_DATA_HOME": os.path.join(folder, "data"), "XDG_CONFIG_HOME": os.path.join(folder, "config"),
            "XDG_STATE_HOME": os.path.join(folder, "state"), "SWIFT_BACKTRACE": "enable=no",
        }

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def run(self, *arguments, input=None, under=(), output=None):
        """Runs one command, under the program `under` if one is given. Returns its status, and adds its output to `output`.
        Raises Found if the command does not end as documented."""
        shown = " ".join(arguments)
        seconds = MOST_UPLOAD_SECONDS if arguments[0] in ("upload", "verify", "remote") else MOST_SECONDS
        try:
            ended = subprocess.run(
                [*under, self.program, *arguments], input=input, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=self.environment, cwd=self.folder, timeout=seconds, preexec_fn=limit_memory)
        except subprocess.TimeoutExpired:
            raise Found(f"'{shown}' ran for more than {seconds} s")
        if ended.returncode not in STATUSES:
            lines = ended.stderr.decode("utf-8", "replace").strip().splitlines()[-3:]
            raise Found(f"'{shown}' ended with {ended.returncode}: {' | '.join(lines)}")
        if output is not None:
            output.append(ended.stdout)
        return ended.returncode

    def output(self, *arguments):
        return subprocess.run(
            [self.program, *arguments], stdout=subprocess.PIPE, check=True, env=self.environment, cwd=self.folder,
            stdin=subprocess.DEVNULL).stdout.decode()


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))


def samples(root):
    """The paths of all small samples."""
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(set(folders) - {"embedding", "packaging", "report"})
        found += [os.path.join(folder, name) for name in sorted(files)
                  if not name.endswith((".expected.ndjson", ".options"))
                  and 0 < os.path.getsize(os.path.join(folder, name)) <= LARGEST_SAMPLE]
    return found


def damaged(data, chance):
    """Returns the bytes with one to eight changes."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        if not data:
            break
        at = chance.randrange(len(data))
        length = min(chance.choice([1, 1, 2, 8, 64, 1024]), len(data) - at)
        change = chance.randrange(7)
        if change == 0:
            data[at] ^= 1 << chance.randrange(8)
        elif change == 1:
            data[at:at + length] = chance.randbytes(length)
        elif change == 2:
            del data[at:at + length]
        elif change == 3:
            data[at:at] = data[at:at + length] * chance.randint(1, 4)
        elif change == 4:
            del data[at:]
        elif change == 5:
            data[at:at + length] = chance.choice(
                [b"-1", b"9223372036854775807", b"-9223372036854775808", b"1e308", b"NaN", b"null", b"\0", b"[[[[", b"\xff\xfe",
                 b"18446744073709551616", b"2026-02-30T25:61:00", b"''", b'""', b"\xf0\x9f\x92\x89"])
        else:
            other = chance.randrange(len(data))
            data[at:at + length], data[other:other + length] = data[other:other + length], data[at:at + length]
    return bytes(data)


class Inputs:
    """Damaged files and pipes are imported into one store after another."""

    def __init__(self, machine):
        self.machine = machine
        self.samples = samples(os.path.join(os.path.dirname(__file__), "..", "..", "Samples"))

    def trial(self, chance):
        source = chance.choice(self.samples)
        with open(source, "rb") as file:
            data = damaged(file.read(), chance)
        name = self.machine.path("damaged" + os.path.splitext(source)[1])
        with open(name, "wb") as file:
            file.write(data)
        store = self.machine.path("inputs.db")
        options = ["--store", store, "--timezone", "Europe/Berlin"]
        try:
            if ".transcript" in source:
                self.machine.run("import", *options, "--meter", "--transcript", name)
            elif chance.random() < 0.5:
                self.machine.run("import", *options, name)
            else:
                self.machine.run("import", *options, "-", input=data)
        except Found as found:
            raise Found(f"{os.path.relpath(source)}: {found}")
        if chance.random() < 0.02:
            self.machine.run("doctor", "--deep", "--store", store)
            remove_store(store)

    def end(self):
        pass


def remove_store(path):
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.remove(path + suffix)


def fill(machine, store):
    """Makes a store with readings, records of each kind, an undone import and hidden readings."""
    root = os.path.join(os.path.dirname(__file__), "..", "..", "Samples")
    for sample in ["clarity/clarity-mgdl-en.csv", "mysugr"]:
        path = os.path.join(root, sample)
        names = [path] if os.path.isfile(path) else [
            os.path.join(path, name) for name in sorted(os.listdir(path)) if name.endswith(".csv")]
        for name in names:
            machine.run("import", "--store", store, "--timezone", "Europe/Berlin", name)
    for typed in (["insulin", "4.5"], ["food", "45"], ["note", "soup"]):
        machine.run("record", "add", "--store", store, *typed)
    machine.run("undo", "--store", store)


class Bits:
    """Bits of a store's file are changed, then each command reads a copy of it."""

    def __init__(self, machine):
        self.machine = machine
        self.whole = machine.path("whole.db")
        fill(machine, self.whole)
        if os.path.exists(self.whole + "-wal") and os.path.getsize(self.whole + "-wal"):
            machine.run("doctor", "--deep", "--store", self.whole)

    def trial(self, chance):
        store = self.machine.path("flipped.db")
        remove_store(store)
        shutil.copy(self.whole, store)
        with open(store, "r+b") as file:
            for _ in range(chance.choice([1, 1, 1, 4, 32])):
                # The first pages contain the schema, which every command reads.
                size = os.path.getsize(store)
                at = chance.randrange(size if chance.random() < 0.8 else min(size, 8192))
                file.seek(at)
                byte = file.read(1)[0]
                file.seek(at)
                file.write(bytes([byte ^ 1 << chance.randrange(8)]))
        for command in chance.sample(READING_COMMANDS, 4):
            self.machine.run(*command, "--store", store)

    def end(self):
        pass


class Server:
    """A server of the program with two logbooks."""

    def __init__(self, machine):
        self.machine = machine
        self.data = machine.path("server")
        self.tokens = []
        for name in ("anna", "bert"):
            token = machine.output("serve", "token", "add", name, "--role", "write", "--logbook", name, "--data", self.data)
            self.tokens.append(token.strip().splitlines()[-1])
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.log = open(machine.path("server.log"), "wb")
        self.process = subprocess.Popen(
            [machine.program, "serve", "--data", self.data, "--listen", f"127.0.0.1:{self.port}"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=machine.environment, preexec_fn=limit_memory)
        limit = time.monotonic() + MOST_SECONDS
        while True:
            try:
                self.check()
                return
            except OSError:
                if time.monotonic() > limit:
                    raise Found("the server did not start")
                time.sleep(0.05)

    def check(self):
        """Checks that the undamaged logbook is still served."""
        if self.process.poll() is not None:
            raise Found(f"the server ended with {self.process.returncode}")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=MOST_SECONDS)
        connection.request("GET", "/v1/logbook", headers={"Authorization": "Bearer " + self.tokens[1]})
        status = connection.getresponse().status
        connection.close()
        if status != 200:
            raise Found(f"the other logbook is answered by {status}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(MOST_SECONDS) != 0:
            raise Found(f"the server ended with {self.process.returncode}")


def token_file(machine, token):
    path = machine.path("token")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(token + "\n")
    return path


class Requests:
    """Requests of a client are recorded once. Damaged copies are sent to the server."""

    def __init__(self, machine):
        self.machine = machine
        self.server = Server(machine)
        self.recorded = []
        proxy = Proxy(self.server.port)
        proxy.observe = self.recorded.append
        store = machine.path("client.db")
        fill(machine, store)
        machine.run(
            "remote", "set", "--store", store, f"http://127.0.0.1:{proxy.port}", "--token-file",
            token_file(machine, self.server.tokens[0]))
        machine.run("upload", "--store", store)
        machine.run("verify", "--store", store)
        proxy.stop()
        if len(self.recorded) < 5:
            raise Found("too few requests were recorded")

    def trial(self, chance):
        request = damaged(chance.choice(self.recorded), chance)
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=MOST_SECONDS) as connection:
            connection.settimeout(1)
            try:
                connection.sendall(request)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass
            except OSError:
                # The server refused the request, or it still waits for the other half. Both reactions are
                # correct.
                pass
        self.server.check()

    def end(self):
        self.server.stop()


class Proxy:
    """Forwards bytes between clients and a server, and records or damages them."""

    def __init__(self, port):
        self.target = port
        self.observe = None
        self.damage = None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            server = socket.create_connection(("127.0.0.1", self.target))
        except OSError:
            client.close()
            return
        threading.Thread(target=self.copy, args=(client, server, self.observe), daemon=True).start()
        self.copy(server, client, None, self.damage)

    @staticmethod
    def copy(source, target, observe=None, damage=None):
        try:
            while data := source.recv(1 << 20):
                if observe:
                    observe(data)
                target.sendall(damage(data) if damage else data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def stop(self):
        self.listener.close()


class Answers:
    """Two stores sync with a server through a proxy that damages some answers."""

    def __init__(self, machine):
        self.machine = machine
        self.server = Server(machine)
        self.proxy = Proxy(self.server.port)
        self.token = token_file(machine, self.server.tokens[0])
        self.stores = [machine.path(name) for name in ("a.db", "b.db")]
        fill(machine, self.stores[0])
        for store in self.stores:
            if self.set_remote(store, self.proxy.port) != 0 or self.machine.run("upload", "--store", store) != 0:
                raise Found("an undamaged upload failed")

    def set_remote(self, store, port):
        return self.machine.run(
            "remote", "set", "--store", store, f"http://127.0.0.1:{port}", "--token-file", self.token)

    def trial(self, chance):
        rate = chance.choice([0.1, 0.3, 1])
        store = chance.choice(self.stores)
        value = round(chance.uniform(1, 20), 1)
        self.machine.run("record", "add", "--store", store, "insulin", str(value))
        self.proxy.damage = lambda data: damaged(data, chance) if chance.random() < rate else data
        self.machine.run("upload", "--store", store, "--now")
        if chance.random() < 0.3:
            self.machine.run("verify", "--store", store)
        self.proxy.damage = None
        for store in [*self.stores, *self.stores]:
            status = self.machine.run("upload", "--store", store, "--now")
            if status not in (0, 4):
                raise Found(f"an undamaged upload after damaged answers ended with {status}")
        contents = [self.items(store) for store in self.stores]
        if contents[0] != contents[1]:
            raise Found("two stores of one logbook differ after undamaged uploads")

    def items(self, store):
        lines = self.machine.output("list", "--format", "ndjson", "--store", store).splitlines()
        return sorted(
            json.dumps({key: value for key, value in json.loads(line).items()
                        if key in ("guid", "identity", "kind", "value", "unit", "fields", "device_time", "deleted")},
                       sort_keys=True) for line in lines)

    def end(self):
        self.server.stop()


ENDLESS = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n)"
LONG = "length(replace(hex(zeroblob(100000)), '0', hex(zeroblob(1000))))"


class Schemas:
    """One table of a store or of an app's database gets a hostile schema. Then the file is imported, and used as a store."""

    WRITING_COMMANDS = [
        ["add", "45g"], ["undo", "--yes"], ["redo", "--yes"], ["config", "timezone", "Asia/Tokyo"], ["record", "add", "note", "x"],
        ["import", "--dry-run", "rows.csv"], ["import", "rows.csv"], ["upload"], ["backup", "copies"],
    ]

    def __init__(self, machine):
        self.machine = machine
        self.whole, self.own = machine.path("whole.db"), machine.path("own.db")
        fill(machine, self.whole)
        machine.run("record", "add", "--store", self.own, "note", "own")
        with open(machine.path("rows.csv"), "w") as file:
            file.write("time,glucose (mg/dL)\n2026-05-01T08:00:00,100\n")
        self.app = os.path.join(os.path.dirname(__file__), "..", "..", "Samples", "xdrip", "backup.sqlite")

    @staticmethod
    def hostile(chance, table, columns):
        """Statements that make the schema of a table hostile, some of them in ways that no program uses."""
        column = chance.choice(columns)
        event = chance.choice(["INSERT", "UPDATE", "DELETE"])
        views = ", ".join(f'{ENDLESS} AS "{name}"' for name in columns).replace("'", "''")

        def schema(change):
            return f"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET {change} WHERE name = '{table}'"

        return chance.choice([
            f'CREATE TRIGGER hostile AFTER {event} ON "{table}" BEGIN SELECT {ENDLESS}; END',
            f'CREATE TRIGGER hostile AFTER {event} ON "{table}" BEGIN DELETE FROM "{table}"; END',
            f'CREATE TRIGGER hostile BEFORE {event} ON "{table}" BEGIN SELECT hex(randomblob(900000000)); END',
            f'CREATE INDEX hostile ON "{table}" ({LONG})',
            f'CREATE UNIQUE INDEX hostile ON "{table}" ("{column}") WHERE length("{column}") > 1000',
            f'ALTER TABLE "{table}" RENAME TO "other"; CREATE VIEW "{table}" AS SELECT * FROM "other", "other" AS more',
            schema(f"type = 'view', rootpage = 0, sql = 'CREATE VIEW \"{table}\" AS SELECT {views}'"),
            schema(f"sql = replace(sql, ')', ', hostile ANY CHECK ({LONG.replace(chr(39), chr(39) * 2)} > 0))')"),
            schema("rootpage = 1"), schema("rootpage = 2147483647"), schema("rootpage = rootpage + 1"),
            schema("sql = sql || ' WITHOUT ROWID'"), schema("name = name || char(0) || 'x'"),
            schema(f"sql = replace(sql, '{column}', '{column} COLLATE hostile')"),
            schema(f"sql = replace(sql, '{column}', '{'x' * 100000}')"),
            f'DROP TABLE "{table}"',
            f"PRAGMA ignore_check_constraints = ON; UPDATE \"{table}\" SET \"{column}\" = zeroblob(100000000)",
            f"PRAGMA ignore_check_constraints = ON; UPDATE \"{table}\" SET \"{column}\" = 9e999",
        ])

    def trial(self, chance):
        isStore = chance.random() < 0.7
        path, mine = self.machine.path("hostile.db"), self.machine.path("mine.db")
        for file in (path, mine):
            remove_store(file)
        shutil.copy(self.whole if isStore else self.app, path)
        database = sqlite3.connect(path, isolation_level=None)
        tables = [row[0] for row in database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name")]
        table = chance.choice(tables)
        columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
        script = self.hostile(chance, table, columns)
        try:
            database.executescript(script)
        except sqlite3.Error:
            # A rule of the schema forbids the script, so nothing hostile is in the file.
            pass
        finally:
            database.close()
        shutil.copy(self.own, mine)
        commands = [["import", "--yes", path], ["restore", "--yes", "--other-person", path]] if isStore else [["import", path]]
        try:
            for command in commands:
                self.machine.run(*command, "--store", mine)
                self.machine.run("add", "45g", "--store", mine)
                require_sound(mine)
            if isStore:
                for command in chance.sample([*READING_COMMANDS, *self.WRITING_COMMANDS], 4):
                    self.machine.run(*command, "--store", path)
        except Found as found:
            raise Found(f"{script[:200]}: {found}")

    def end(self):
        pass


def require_sound(path):
    """Raises Found for a damaged store, and for one with a part of a hostile schema."""
    database = sqlite3.connect(path)
    try:
        damage = database.execute("PRAGMA integrity_check").fetchone()[0]
        foreign = database.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'hostile'").fetchone()[0]
    except sqlite3.Error as error:
        damage, foreign = str(error), 0
    finally:
        database.close()
    if damage != "ok" or foreign:
        raise Found(f"the store is damaged ({damage}) or has a hostile part")


class Lines:
    """Lines for `add -`, most of them with small faults, are added to a store."""

    AMOUNTS = [
        "6.1", "110", "6,1", "45g", "4.5U", "4,5 IU", "0.5U/h", "30 min", "2 h", "1,000 steps", "8 000 steps", "1.2 ketones", "LO",
        "HI mg/dL", "6.1mmol/L", "110mg/dL", "3 servings", "-4U", "1e3g", "0x10g", "٤g", "４U", "NaN", "inf U", "9" * 400 + "g",
        "0." + "0" * 300 + "1U", "+5U", "5UU", "5 U U", "1/2 servings", "½ servings", "110–120", "6.1.2", "00110", "4U4U", "4U,5g",
        "20g", "2h", "90min", "1.000kcal", "12U", "110 2h",
    ]
    WORDS = [
        "soup", "rapid", "basal", "mix", "long", "ketones", "pulse", "insulin", "mmol", "g", "U", "-", "--", "---", "'", '"', '"a b"', "\\",
        "\x00", "\x1b[2J", "\u202e", "e\u0301" * 50, "👩‍👩‍👧", "\ufeff", "\u2028", "\x85", "a" * 70_000, "$(id)", "`id`", "%s%n", "#",
        "protein", "Eiweiß", "fat", "fibre", "after lunch", "vor", "hace", "yesterday", "this morning", "à midi", "Lantus", "Humulin N",
        "walk", "blood pressure", "İ", "ß", "ﬁbre",
    ]
    OPTIONS = [
        "--at {time}", "--at={time}", "--at", "--note 'a b'", "--note=", "--note", "--mark fasting", "--mark x", "--kind scan",
        "--kind ketone", "--kind cbg", "--subtype basal", "--force", "--edit LAST", "--edit {id}", "--edit", "--json", "--strict",
        "--help", "--version", "--store x.db", "--push", "--ask", "--at {time} --at {time}", "--no-such",
    ]
    TIMES = [
        "2026-05-06T08:00", "2026-05-06 08:00", "18:30", "yesterday 7:05", "2026-10-25T02:30", "2026-03-29T02:30", "2026-02-30T08:00",
        "1989-01-01T00:00", "9999-12-31T23:59:59Z", "-0001-01-01T00:00", "2026-05-06T08:00:00+14:00", "2026-05-06T08:00:00.5Z", "now",
        "", "99999999999-01-01T00:00", "2026-05-06T24:00", "2026-05-06T08:60",
    ]
    OBJECTS = [
        '{"kind":"smbg","value":5.5,"unit":"mmol/L","time":"2026-05-06T08:00:00Z"}',
        '{"kind":"food","fields":{"carbs":45},"device_time":"2026-05-06T08:00:00","utc_offset":"+02:00"}',
        '{"kind":"insulin","fields":{"units":4,"subtype":"bolus"}}', '{"kind":"note","fields":{"text":"x"},"guid":"x"}',
        '{"kind":"cbg","value":1e999,"unit":"mg/dL"}', '{"kind":"smbg","value":"5","unit":"mmol/L"}', "{" * 5000, '{"kind":"smbg"',
        '{"kind":"smbg","value":5,"value":6,"unit":"mmol/L"}', '{"kind":"annotation","fields":{}}', '{"kind":"attachment","fields":{}}',
    ]

    def __init__(self, machine):
        self.machine, self.store = machine, machine.path("lines.db")
        self.ids = ["LAST"]

    def line(self, chance):
        if chance.random() < 0.25:
            return chance.choice(self.OBJECTS)
        words = [chance.choice(self.AMOUNTS) for _ in range(chance.choice([0, 1, 1, 1, 2, 3]))]
        words += [chance.choice(self.WORDS) for _ in range(chance.choice([0, 0, 1, 2]))]
        if chance.random() < 0.3:
            chance.shuffle(words)
        words += [chance.choice(self.OPTIONS) for _ in range(chance.choice([0, 0, 1, 2]))]
        if chance.random() < 0.6:
            words.append("--at {time}")
        text = " ".join(words)
        return text.replace("{time}", chance.choice(self.TIMES)).replace("{id}", chance.choice(self.ids))

    def count(self):
        if not os.path.exists(self.store):
            return [0, 0]
        database = sqlite3.connect(self.store)
        counts = [database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("reading", "record")]
        database.close()
        return counts

    def trial(self, chance):
        if chance.random() < 0.1:
            remove_store(self.store)
        lines = [self.line(chance) for _ in range(chance.choice([1, 1, 3, 20]))]
        data = chance.choice(["\n", "\n", "\r\n"]).join(lines).encode("utf-8", "surrogatepass") + chance.choice([b"", b"\n"])
        if chance.random() < 0.3:
            data = damaged(data, chance)
        options = chance.choice([[], [], ["--strict"]])
        try:
            self.feed(data, options)
        except Found as found:
            raise Found(f"{data[:300]!r}: {found}")
        words = [word for word in lines[0].replace("\0", "").split(" ") if word not in ("--push", "-", "--store")]
        if words and sum(map(len, words)) < 100_000:
            self.machine.run("add", *words, "--store", self.store)

    def feed(self, data, options):
        before, printed = self.count(), []
        status = self.machine.run("add", "-", "--json", *options, "--store", self.store, input=data, output=printed)
        answers = [json.loads(line) for line in printed[0].splitlines()]
        numbers = [answer["line"] for answer in answers]
        if numbers != sorted(set(numbers)) or (numbers and not 1 <= numbers[0] <= numbers[-1] <= data.count(b"\n") + 1):
            raise Found(f"lines have no answer of their own: {numbers}")
        refused = [answer for answer in answers if answer["outcome"] == "refused"]
        if status not in ((0,) if not refused else (65,) if options else (3,)):
            raise Found(f"{len(refused)} refused lines, and status {status}")
        if options and refused and self.count() != before:
            raise Found("a refused list of lines changed the store")
        if not os.path.exists(self.store):
            return
        require_sound(self.store)
        if options and refused:
            return
        for answer in answers:
            self.ids = (self.ids + answer["ids"])[-20:]
        for answer in answers[-2:]:
            for key in answer["ids"]:
                if self.machine.run("show", key, "--store", self.store) != 0:
                    raise Found(f"there is no item {key} of the line {answer}")

    def end(self):
        self.machine.run("doctor", "--deep", "--store", self.store)


class Disk:
    """System calls fail while a command uses a store."""

    CALLS = ["pread64", "pwrite64", "fsync", "fdatasync", "ftruncate", "openat", "read", "write", "unlink", "rename"]
    COMMANDS = [
        ["add", "45g"], ["import", "rows.csv"], ["undo", "--yes"], ["config", "timezone", "Asia/Tokyo"],
        ["import", "--yes", "other.db"], ["restore", "--yes", "--other-person", "backup.db"], ["backup", "copy.db"],
        ["list"], ["export", "--format", "ndjson"], ["status"], ["stats"],
    ]

    def __init__(self, machine):
        if not shutil.which("strace"):
            sys.exit("damage.py: strace is missing")
        self.machine = machine
        self.whole, self.store = machine.path("whole.db"), machine.path("used.db")
        fill(machine, self.whole)
        machine.run("record", "add", "--store", machine.path("other.db"), "note", "other")
        machine.run("backup", "--store", machine.path("other.db"), machine.path("backup.db"))
        with open(machine.path("rows.csv"), "w") as file:
            file.write("time,glucose (mg/dL)\n" + "".join(
                f"2026-05-{1 + row // 24:02}T{row % 24:02}:00:00,{100 + row}\n" for row in range(600)))

    def perform(self, command, under=()):
        """Runs a command on a copy of the store. Returns its status, its output, and the numbers of items in the store."""
        for file in (self.store, self.machine.path("copy.db")):
            remove_store(file)
        shutil.copy(self.whole, self.store)
        printed = []
        status = self.machine.run(*command, "--store", self.store, under=under, output=printed)
        require_sound(self.store)
        return status, printed[0] if command[0] in ("list", "export", "stats") else b"", self.counts(self.store)

    @staticmethod
    def counts(store):
        database = sqlite3.connect(store)
        numbers = [
            database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("reading", "record", "withdrawn")]
        database.close()
        return numbers

    def trial(self, chance):
        command = chance.choice(self.COMMANDS)
        error, call = chance.choice(["EIO", "ENOSPC"]), chance.choice(self.CALLS)
        first = chance.choice([1, 2, 3, chance.randint(1, 20), chance.randint(1, 200)])
        under = ["strace", "-f", "-qq", "-o", "/dev/null"]
        for suffix in ("", "-wal", "-shm", "-journal"):
            under += ["-P", self.store + suffix]
        under += ["-e", f"inject={call}:error={error}:when={first}{chance.choice(['', '+'])}"]
        self.compare(command, under, under[-1])

    def compare(self, command, disturbance, name):
        """Checks that a command that ends with 0 despite a disturbance did the same as without it."""
        whole = self.perform(command)
        try:
            disturbed = self.perform(command, disturbance)
        except Found as found:
            raise Found(f"{name}: {found}")
        if disturbed[0] == 0 and disturbed != whole:
            raise Found(f"{name}: '{' '.join(command)}' ended with 0 and did something else")

    def end(self):
        pass


class Pages(Disk):
    """The store, its log and a folder of backups are on a disk that fails."""

    COMMANDS = [*Disk.COMMANDS, ["backup", "disk/copies"], ["report", "-o", "disk/page.html"], ["doctor", "--deep"]]

    def __init__(self, machine):
        self.machine, self.folder = machine, machine.path("folder")
        for name in (self.folder, machine.path("disk")):
            os.mkdir(name)
        super().__init__(machine)
        self.disk = FailingDisk(self.folder, machine.path("disk"))

    def perform(self, command, plan=None):
        # The files are removed through the failing disk, so that the kernel forgets their cached pages.
        disk = self.machine.path("disk")
        for name in os.listdir(disk):
            path = os.path.join(disk, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        remove_store(self.machine.path("copy.db"))
        shutil.copy(self.whole, os.path.join(disk, "used.db"))
        printed = []
        if plan:
            self.disk.fail(*plan)
        try:
            status = self.machine.run(*command, "--store", self.machine.path("disk", "used.db"), output=printed)
        finally:
            self.disk.heal()
        # A copy of the store is checked, since this process must not keep files of the failing disk open.
        checked = self.machine.path("checked.db")
        remove_store(checked)
        for suffix in ("", "-wal"):
            if os.path.exists(os.path.join(self.folder, "used.db" + suffix)):
                shutil.copy(os.path.join(self.folder, "used.db" + suffix), checked + suffix)
        require_sound(checked)
        return status, printed[0] if command[0] in ("list", "export", "stats") else b"", self.counts(checked)

    def trial(self, chance):
        command = chance.choice(self.COMMANDS)
        error = chance.choice([
            errno.EIO, errno.EIO, errno.ENOSPC, errno.EROFS, errno.ESTALE, errno.ENOTCONN, errno.EDQUOT, errno.ENOMEM])
        after = chance.choice([0, 0, 1, 2, chance.randint(0, 20), chance.randint(0, 200)])
        plan = (chance.choice(list(OPERATIONS)), after, chance.random() < 0.6, error)
        name = f"{plan[0]} fails with {errno.errorcode[error]} after {plan[1]}{' and for good' if plan[2] else ''}"
        self.compare(command, plan, name)


KINDS = {
    "inputs": Inputs, "bits": Bits, "requests": Requests, "answers": Answers, "schemas": Schemas, "lines": Lines, "disk": Disk,
    "pages": Pages,
}


def main():
    if len(sys.argv) not in (4, 5) or sys.argv[2] not in KINDS:
        sys.exit(__doc__)
    if sys.argv[2] == "pages":
        enter_mounts()
    program, kind, seconds = os.path.abspath(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) == 5 else random.SystemRandom().randrange(1 << 32)
    folder = tempfile.mkdtemp(prefix="glucoport-damage.")
    trials, found = 0, []
    try:
        trial = KINDS[kind](Machine(program, folder))
        limit = time.monotonic() + seconds
        while time.monotonic() < limit and len(found) < 5:
            try:
                trial.trial(random.Random(seed + trials))
            except Found as problem:
                found.append(f"seed {seed + trials}: {problem}")
                print(found[-1], flush=True)
                if "server" in str(problem):
                    break
            trials += 1
        if not found:
            trial.end()
    except Found as problem:
        found.append(str(problem))
        print(problem)
    finally:
        if kind == "pages":
            trial.disk.end()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{kind}: {trials} trials from seed {seed}, {len(found)} found")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
