#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lays siege to a server of the built program: siege.py PROGRAM KIND SECONDS [SEED].

Kinds:
  connections  10,000 connections from many addresses of IPv4 and IPv6, silent, half sent, endless, or reset
  tokens       tokens are added, replaced and revoked by several processes at once, while clients use them
  sockets      the same connections at a socket of the service manager, while the server is killed and started

The server runs in a separate network, so this needs root or namespaces for users. It fails if a patient client of another
address waits too long, or if a login is accepted that must not be. It also fails if the server ends, or keeps too much memory
or too many files."""
import ctypes
import http.client
import os
import random
import resource
import signal
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

# Prevents Python from writing a folder of compiled files next to the scripts.
sys.dont_write_bytecode = True
from damage import Found, Machine, limit_memory

MOST_CONNECTIONS = 10_000
MOST_PATIENCE = 10
MOST_RESIDENT = 400 << 20
# The manual states limits of 256 connections, and of about 800 files including those of databases.
MOST_FILES = 400


def enter_network():
    """Starts this script again in a separate network with only a loopback, which has whole ranges of addresses."""
    if os.environ.get("GLUCOPORT_SIEGE") != "inside":
        os.environ["GLUCOPORT_SIEGE"] = "inside"
        os.execvp("unshare", ["unshare", "-rn", sys.executable, *sys.argv])
    for command in (["link", "set", "lo", "up"], ["-6", "route", "add", "local", "fd00::/16", "dev", "lo"]):
        subprocess.run(["ip", *command], check=True)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if most < MOST_CONNECTIONS + 500:
        sys.exit(f"siege.py: needs {MOST_CONNECTIONS + 500} open files, and the system allows {most} (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


class Besieged:
    """A server with two logbooks, on IPv4 and IPv6."""

    def __init__(self, machine, on_socket=False):
        self.machine, self.data = machine, machine.path("server")
        self.tokens = [self.add(name) for name in ("anna", "bert")]
        self.listeners = []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        if on_socket:
            for family, host in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
                listener = socket.socket(family)
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                listener.bind((host, self.port))
                listener.listen(4096)
                self.listeners.append(listener)
        self.log = open(machine.path("server.log"), "ab")
        self.start()

    def add(self, name, logbook=None):
        return self.printed("add", name, "--role", "write", "--logbook", logbook or name)

    def printed(self, *words):
        return self.machine.output("serve", "token", *words, "--data", self.data).strip().splitlines()[-1]

    def start(self):
        words = [self.machine.program, "serve", "--data", self.data, "--insecure-http"]
        environment = dict(self.machine.environment)
        descriptors = [listener.fileno() for listener in self.listeners]
        if descriptors:
            environment["LISTEN_FDS"] = str(len(descriptors))
            # The shell keeps its process id when it becomes the server, so `$$` is the id of the server.
            words = ["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$0" "$@"', *words]
        else:
            words += ["--listen", f"[::]:{self.port}"]

        def prepare():
            limit_memory()
            resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
            high = [os.dup2(descriptor, 4000 + place) for place, descriptor in enumerate(descriptors)]
            for place, descriptor in enumerate(high):
                os.dup2(descriptor, 3 + place)
                os.set_inheritable(3 + place, True)

        self.process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=environment, preexec_fn=prepare,
            close_fds=not descriptors)
        limit = time.monotonic() + 30
        while True:
            try:
                return self.ask(1)
            except (OSError, http.client.HTTPException):
                if time.monotonic() > limit:
                    raise Found("the server did not start: " + open(self.machine.path("server.log")).read()[-400:])
                time.sleep(0.05)

    def ask(self, login, source=("127.9.9.9", 0), timeout=MOST_PATIENCE, token=None):
        """Requests a logbook as a patient client. Returns the status of the answer and the seconds that it took."""
        started = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout, source_address=source)
        try:
            connection.request("GET", "/v1/logbook", headers={"Authorization": "Bearer " + (token or self.tokens[login])})
            return connection.getresponse().status, time.monotonic() - started
        finally:
            connection.close()

    def require_sound(self):
        if self.process.poll() is not None:
            raise Found(f"the server ended with {self.process.returncode}")
        with open(f"/proc/{self.process.pid}/status") as file:
            resident = next(int(line.split()[1]) << 10 for line in file if line.startswith("VmRSS"))
        files = len(os.listdir(f"/proc/{self.process.pid}/fd"))
        if resident > MOST_RESIDENT or files > MOST_FILES:
            raise Found(f"the server has {resident >> 20} MiB and {files} files")
        return resident, files

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        status = self.process.wait(30)
        if number == signal.SIGTERM and status != 0:
            raise Found(f"the server ended with {status}")


class Crowd:
    """Many connections at once, from addresses that a trial chooses."""

    HEADS = [
        b"", b"G", b"GET /v1/logbook HTTP/1.1\r\nHost: x\r\n", b"GET /v1/logbook HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /v1/readings HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n",
        b"POST /v1/readings HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 64, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\xff" * 70_000,
        b"GET /" + b"a" * 20_000, b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 2_000,
    ]

    def __init__(self, port, chance):
        self.port, self.chance, self.open = port, chance, []

    def source(self, spread):
        """An address: always the same one, one of a single IPv6 network, or any."""
        random = self.chance
        if spread == "one":
            return socket.AF_INET, "127.1.1.1"
        if spread == "network" or (spread == "any" and random.random() < 0.5):
            network = 1 if spread == "network" else random.getrandbits(16)
            return socket.AF_INET6, f"fd00:{network:x}::1:{random.getrandbits(16):x}:{random.getrandbits(16):x}"
        return socket.AF_INET, f"127.{random.randint(1, 8)}.{random.randint(1, 254)}.{random.randint(1, 254)}"

    def join(self, spread, head):
        family, address = self.source(spread)
        connection = socket.socket(family)
        try:
            if family == socket.AF_INET6:
                connection.setsockopt(socket.IPPROTO_IPV6, 26, 1)
            connection.bind((address, 0))
            connection.settimeout(0.5)
            connection.connect(("127.0.0.1" if family == socket.AF_INET else "fd00::1", self.port))
            connection.setblocking(False)
            if head:
                connection.send(head)
        except OSError:
            connection.close()
            return
        self.open.append(connection)

    def leave(self):
        for connection in self.open:
            if self.chance.random() < 0.5:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            connection.close()
        self.open = []


class Connections:
    """Checks that the server keeps answering a patient client, and that crowds do not make it grow."""

    def __init__(self, machine):
        self.server = Besieged(machine)
        self.worst, self.largest = 0.0, (0, 0)

    def trial(self, chance):
        spread = chance.choice(["one", "network", "any", "any"])
        heads = chance.choice([Crowd.HEADS, [chance.choice(Crowd.HEADS)]])
        crowd = Crowd(self.server.port, chance)
        stopped = threading.Event()
        problems = []

        def wait_patiently():
            while not stopped.is_set():
                for attempt in range(5):
                    try:
                        status, seconds = self.server.ask(1)
                    except (OSError, http.client.HTTPException) as error:
                        # The server may close a connection that has not begun its request, to accept a new
                        # one.
                        last = error
                        continue
                    self.worst = max(self.worst, seconds)
                    if status not in (200, 503):
                        problems.append(f"the patient client got {status}")
                    break
                else:
                    problems.append(f"the patient client got no answer in five attempts: {last}")
                time.sleep(0.2)

        patient = threading.Thread(target=wait_patiently)
        patient.start()
        try:
            for _ in range(MOST_CONNECTIONS):
                crowd.join(spread, chance.choice(heads))
                if problems:
                    break
            self.largest = max(self.largest, self.server.require_sound())
            time.sleep(1)
            self.server.require_sound()
        finally:
            stopped.set()
            patient.join()
            crowd.leave()
        if problems:
            raise Found(f"{spread}: the server: {problems[0]}")

    def end(self):
        status, _ = self.server.ask(0)
        if status != 200:
            raise Found(f"after the crowd, the server answers with {status}")
        print(f"longest answer {self.worst:.2f} s, largest server {self.largest[0] >> 20} MiB and {self.largest[1]} files")
        self.server.stop()


class Sockets:
    """Checks that a request that comes while no server runs is answered by the next server."""

    def __init__(self, machine):
        self.server = Besieged(machine, on_socket=True)
        self.restarts = 0

    def trial(self, chance):
        crowd = Crowd(self.server.port, chance)
        for _ in range(chance.randint(1, 3000)):
            crowd.join("any", chance.choice(Crowd.HEADS))
        answers = []

        def ask():
            try:
                answers.append(self.server.ask(1, timeout=60)[0])
            except (OSError, http.client.HTTPException) as error:
                answers.append(repr(error))

        hard = chance.random() < 0.5
        self.server.stop(signal.SIGKILL if hard else signal.SIGTERM)
        # A request that comes while no server runs waits in the socket.
        asking = threading.Thread(target=ask)
        asking.start()
        if chance.random() < 0.5:
            crowd.leave()
        time.sleep(chance.random())
        self.server.start()
        asking.join()
        self.restarts += 1
        if answers != [200]:
            raise Found(f"a request that waited for the server got {answers}")
        self.server.require_sound()
        crowd.leave()

    def end(self):
        print(f"{self.restarts} restarts")
        self.server.stop()


class Tokens:
    """Checks that each accepted token was printed, and was neither replaced nor revoked before."""

    def __init__(self, machine):
        self.server = Besieged(machine)
        self.machine = machine
        self.count = 0

    def rotate(self, name, *options):
        ended = subprocess.run(
            [self.machine.program, "serve", "token", "rotate", name, *options, "--data", self.server.data],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.machine.environment)
        if ended.returncode not in (0, 66, 75):
            raise Found(f"rotate ended with {ended.returncode}: {ended.stderr.decode()}")
        return ended.stdout.decode().strip().splitlines()[-1] if ended.returncode == 0 else None

    def revoke(self, name):
        return subprocess.run(
            [self.machine.program, "serve", "token", "revoke", name, "--data", self.server.data],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.machine.environment).returncode

    def trial(self, chance):
        self.count += 1
        name = f"token{self.count}"
        first = self.server.add(name, "anna")
        tokens, problems, done = [first], [], threading.Event()
        status = lambda token: self.server.ask(0, token=token)[0]
        grace = chance.choice([(), (), ("--grace", "1h")])
        revokes = chance.random() < 0.4

        def use():
            # One of the tokens must be accepted at each moment, unless the login is revoked.
            while not done.is_set():
                try:
                    for token in list(tokens):
                        if status(token) not in (200, 401, 429, 503):
                            problems.append("another status")
                except (OSError, http.client.HTTPException) as error:
                    problems.append(repr(error))

        def replace():
            try:
                new = self.rotate(name, *grace)
            except Found as found:
                problems.append(str(found))
                return
            if new:
                tokens.append(new)

        users = [threading.Thread(target=use) for _ in range(2)]
        changers = [threading.Thread(target=replace) for _ in range(chance.randint(2, 5))]
        if revokes:
            changers.insert(chance.randrange(len(changers)), threading.Thread(target=lambda: self.revoke(name)))
        for thread in users + changers:
            thread.start()
        for thread in changers:
            thread.join()
        done.set()
        for thread in users:
            thread.join()
        if problems:
            raise Found(problems[0])
        accepted = [token for token in tokens if status(token) == 200]
        if revokes:
            if accepted:
                raise Found(f"{len(accepted)} of {len(tokens)} tokens are accepted after the revocation")
        elif grace and len(accepted) != len(tokens):
            raise Found(f"{len(accepted)} of {len(tokens)} tokens are accepted in their time of grace")
        elif not grace and len(accepted) != 1:
            raise Found(f"{len(accepted)} of {len(tokens)} tokens are accepted")
        if not revokes and self.revoke(name) != 0:
            raise Found("a token cannot be revoked")
        if any(status(token) == 200 for token in tokens):
            raise Found("a revoked token is accepted")

    def end(self):
        self.server.stop()


KINDS = {"connections": Connections, "tokens": Tokens, "sockets": Sockets}


def main():
    if len(sys.argv) not in (4, 5) or sys.argv[2] not in KINDS:
        sys.exit(__doc__)
    enter_network()
    program, kind, seconds = os.path.abspath(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) == 5 else random.SystemRandom().randrange(1 << 32)
    folder = tempfile.mkdtemp(prefix="glucoport-siege.")
    trials, problem, siege = 0, None, None
    try:
        siege = KINDS[kind](Machine(program, folder))
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            siege.trial(random.Random(seed + trials))
            trials += 1
        siege.end()
    except Found as found:
        problem = f"seed {seed + trials}: {found}"
        print(problem)
    finally:
        if siege is not None and siege.server.process.poll() is None:
            siege.server.process.kill()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{kind}: {trials} trials from seed {seed}, {1 if problem else 0} found")
    sys.exit(1 if problem else 0)


if __name__ == "__main__":
    main()
