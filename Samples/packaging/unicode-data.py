#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes an object file for the linker with the part of ICU's data that does not depend on a language.

The runtime of Swift carries 32 MiB of data for ICU, nearly all of it names, orders and rules of languages. The program prints
in one language and asks ICU for time zones only, and for the letters of internet addresses. For data that is left
out, ICU uses its root data, which is the same everywhere. The object has the symbol of the runtime's data and is linked before
it, so that the object is used.

  unicode-data.py lib_FoundationICU.a OBJECT
"""

import os
import re
import struct
import subprocess
import sys
import tempfile

# The data of languages is in folders. Formatters and comparisons need these two folders in every language.
SHARED_FOLDERS = {"curr", "coll"}
LANGUAGES = {"root", "en", "en_US", "en_US_POSIX"}
# This file contains the names of characters, with which people search for characters.
UNUSED = {"unames.icu"}


def is_kept(name):
    """Whether to keep an item of the data, such as `zone/de.res`."""
    folder, _, file = name.rpartition("/")
    stem, _, kind = file.rpartition(".")
    if folder:
        return folder in SHARED_FOLDERS and (stem in LANGUAGES | {"pool", "res_index"} or kind == "icu")
    if kind == "res":
        # Languages have codes of two or three letters; the tables of zones, calendars and the like have longer names.
        return stem in LANGUAGES or len(stem.split("_")[0]) > 3
    return kind in {"icu", "nrm"} and file not in UNUSED


def reduced(data):
    """The data with only the kept items: a header, their number, the offsets of each name and content, names, contents."""
    header = struct.unpack_from("<H", data, 0)[0]
    count = struct.unpack_from("<I", data, header)[0]
    if data[12:16] != b"CmnD" or data[2:4] != b"\xda\x27" or not 0 < count < 100_000:
        sys.exit("unicode-data: this is not a data package of ICU")
    places = [struct.unpack_from("<II", data, header + 4 + 8 * index) for index in range(count)]
    ends = [content for _, content in places[1:]] + [len(data) - header]
    kept = []
    for (name, content), end in zip(places, ends):
        name = data[header + name : data.index(b"\0", header + name)]
        if is_kept(name.decode().split("/", 1)[1]):
            kept.append((name + b"\0", data[header + content : header + end]))

    names = b"".join(name for name, _ in kept)
    first = 4 + 8 * len(kept)
    start = first + len(names)
    start += -(header + start) % 16
    table, contents, name_place = b"", b"", first
    for name, content in kept:
        contents += b"\0" * (-len(contents) % 16)
        table += struct.pack("<II", name_place, start + len(contents))
        name_place += len(name)
        contents += content
    head = data[:header] + struct.pack("<I", len(kept)) + table + names
    return head.ljust(header + start, b"\0") + contents


def data_symbol(archive):
    """The member of the archive that defines ICU's data, and its symbol, which has the version of ICU."""
    # nm complains about members that are empty, so its errors are not shown.
    listed = subprocess.run(["nm", "-A", "--defined-only", archive], capture_output=True, text=True).stdout
    found = re.search(r":([^:\n]+):[0-9a-f]+ [A-Z] (icudt[0-9]+_dat)$", listed, re.MULTILINE)
    if not found:
        sys.exit(f"unicode-data: {archive} does not define ICU's data")
    return found.group(1), found.group(2)


def main(archive, target):
    archive = os.path.abspath(archive)
    member, symbol = data_symbol(archive)
    with tempfile.TemporaryDirectory() as folder:
        def run(*words):
            subprocess.run(words, cwd=folder, check=True)

        run("ar", "x", archive, member)
        run("objcopy", "-O", "binary", "--only-section=.rodata", member, "whole")
        with open(f"{folder}/whole", "rb") as whole, open(f"{folder}/part", "wb") as part:
            part.write(reduced(whole.read()))
        with open(f"{folder}/data.s", "w") as text:
            text.write(
                f".section .rodata\n.globl {symbol}\n.type {symbol}, %object\n.balign 16\n{symbol}:\n.incbin \"part\"\n"
                f".size {symbol}, . - {symbol}\n.section .note.GNU-stack,\"\",%progbits\n"
            )
        run("as", "-o", os.path.abspath(target), "data.s")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
