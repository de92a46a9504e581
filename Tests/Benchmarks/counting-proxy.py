#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Forwards TCP connections to a port of this machine and counts the bytes: counting-proxy.py PORT COUNTS.

Prints the port on which it listens. On SIGTERM it writes the numbers of bytes to the port and back into the file COUNTS."""

import asyncio
import signal
import sys

counts = {"there": 0, "back": 0}


async def pump(reader, writer, way):
    try:
        while data := await reader.read(1 << 16):
            counts[way] += len(data)
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def main(port, path):
    async def serve(reader, writer):
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pump(reader, there_writer, "there"), pump(there_reader, writer, "back"))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    print(server.sockets[0].getsockname()[1], flush=True)
    await ended.wait()
    with open(path, "w") as file:
        print(counts["there"], counts["back"], file=file)


asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
