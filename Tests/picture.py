#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two pictures of 8 bits per colour as PNG.

  picture.py PICTURE REFERENCE      prints which part of the picture differs; status 1 if it is more than the tolerance

Programs draw the edges of letters a little differently. So two colour values count as different only if they
differ by more than a third of the scale."""
import struct
import sys
import zlib
from pathlib import Path

FAR = 85
# This percentage of all colour values may differ by more than FAR. On a sheet, lines with hard edges differ
# by 0.7 %, and another layout differs by 5 %.
TOLERANCE = 1


def paeth(left, above, corner):
    """The Paeth predictor of PNG: the neighbour whose value is nearest to left + above - corner."""
    guess = left + above - corner
    return min((left, above, corner), key=lambda value: abs(guess - value))


def unfiltered(kind, line, before, step):
    """The bytes of a line of a PNG, computed from the stored differences to neighbours."""
    if kind == 0:
        return line
    if kind == 2:
        return bytearray((one + other) & 255 for one, other in zip(line, before))
    line = bytearray(line)
    for index, value in enumerate(line):
        left, corner = (line[index - step], before[index - step]) if index >= step else (0, 0)
        above = before[index]
        guess = left if kind == 1 else (left + above) // 2 if kind == 3 else paeth(left, above, corner)
        line[index] = (value + guess) & 255
    return line


def colours(path):
    """Reads a PNG. Returns its size and its lines."""
    data = Path(path).read_bytes()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        sys.exit(f"picture.py: {path} is not a PNG")
    place, packed = 8, b""
    while place < len(data):
        length, kind = struct.unpack_from(">I4s", data, place)
        content = data[place + 8:place + 8 + length]
        place += 12 + length
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", content)
            if depth != 8 or colour not in (2, 6) or interlaced:
                sys.exit(f"picture.py: {path} has another form")
        if kind == b"IDAT":
            packed += content
    step = 3 if colour == 2 else 4
    plain = zlib.decompress(packed)
    lines, before = [], bytes(width * step)
    for start in range(0, len(plain), width * step + 1):
        before = unfiltered(plain[start], plain[start + 1:start + 1 + width * step], before, step)
        lines.append(before)
    return (width, height, step), lines


def main(picture, reference):
    size, lines = colours(picture)
    other_size, other_lines = colours(reference)
    if size != other_size:
        print(f"{picture}: {size}, and not {other_size}", file=sys.stderr)
        return 1
    far = sum(abs(one - other) > FAR for pair in zip(lines, other_lines) for one, other in zip(*pair))
    part = 100 * far / (size[0] * size[1] * size[2])
    print(f"{part:.3f} % of {Path(picture).name} differ")
    return 0 if part <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
