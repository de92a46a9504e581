#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the inputs from which Tests/fuzz.sh starts: seeds.py SAMPLES FOLDER.

Each kind of input has a separate folder. The members of an archive are text after lines `=== PATH`, from which
FuzzInput.swift makes the archive."""
import bz2
import gzip
import io
import lzma
import os
import shutil
import subprocess
import sys
import zipfile

LARGEST = 64 * 1024
TABLE = "time,glucose (mg/dL),note\n2026-05-01 07:00,101,\n2026-05-01 12:30,LO,x\n2026-05-02 07:10,96,\"two\nlines\"\n"
# For some inputs, Fuzz.swift chooses the option that names these columns.
DIARY = "time,glucose,insulin,carbs,note,device\n2026-05-01 07:00,101,4.5,45,soup,M1\n2026-05-01 12:30,,\"6,0\",,,M1\n"


def samples(root):
    """Every sample with the name of its file."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(set(folders) - {"embedding", "packaging", "report"})
        for name in sorted(files):
            if name.endswith((".expected.ndjson", ".options", ".transcript")) or "meters" in folder:
                continue
            path = os.path.join(folder, name)
            if os.path.getsize(path) <= LARGEST:
                with open(path, "rb") as file:
                    yield os.path.relpath(path, root).replace("/", "-"), file.read()


def parts(members):
    return b"\n".join(b"=== " + name.encode() + b"\n" + text for name, text in members)


def unpacked(data):
    """The members of a ZIP archive as text for FuzzInput.swift."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return parts([(name, archive.read(name)) for name in archive.namelist()])


def packed(members, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, text in members:
            archive.writestr(zipfile.ZipInfo(name), text, method)
    return out.getvalue()


def compressed(data):
    yield "gz", gzip.compress(data, mtime=0)
    yield "xz", lzma.compress(data)
    yield "bz2", bz2.compress(data)
    if shutil.which("zstd"):
        yield "zst", subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


def kind_of(name, data):
    if data.startswith(b"PK\x03\x04"):
        return "sheet" if name.endswith((".xlsx", ".ods", ".xlsm")) else "zip"
    if data.startswith(b"SQLite format 3"):
        return "sqlite"
    if name.endswith((".gz", ".xz", ".bz2", ".zst")):
        return "packed"
    if name.endswith(".xml"):
        return "xml"
    return "json" if data.lstrip(b"\xef\xbb\xbf \n")[:1] in (b"{", b"[") else "table"


def main(root, target):
    def write(kind, name, data):
        os.makedirs(os.path.join(target, kind), exist_ok=True)
        with open(os.path.join(target, kind, name), "wb") as file:
            file.write(data)

    tables = []
    for name, data in samples(root):
        kind = kind_of(name, data)
        write(kind, name, data)
        if kind == "sheet":
            write("zip", name, data)
            write("sheet", name + ".parts", unpacked(data))
            write("zip", name + ".inner", packed([(name, data)], zipfile.ZIP_STORED))
        elif kind == "zip":
            write("zip", name + ".parts", unpacked(data))
        elif kind in ("table", "xml") and len(data) <= 4096:
            tables.append((name, data))
        if len(data) <= 4096 and kind in ("table", "json", "xml"):
            for ending, bytes_ in compressed(data):
                if name.startswith(("generic", "clarity-clarity-mgdl-en", "apple", "fhir")):
                    write("packed", f"{name}.{ending}", bytes_)
    table = ("table.csv", TABLE.encode())
    # These texts differ only in their last note. About one in eight of them is read with the columns of
    # DIARY.
    for number in range(16):
        write("table", f"diary-{number}", (DIARY + f"2026-05-02 07:10,96,,,{number},M1\n").encode())
    write("zip", "deflated", packed([table] + tables[:3]))
    write("zip", "stored", packed([table], zipfile.ZIP_STORED))
    write("zip", "nested", packed([table, ("inner.zip", packed([table]))]))
    write("zip", "parts", parts([table] + tables[:5]))
    for place in range(5, len(tables), 5):
        write("zip", f"parts-{place}", parts(tables[place:place + 5]))


if __name__ == "__main__":
    main(*sys.argv[1:])
