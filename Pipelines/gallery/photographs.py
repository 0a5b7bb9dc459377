"""Draws landscapes as PNG files, with Python alone: photographs.py FOLDER COUNT."""

import math
import struct
import sys
import zlib
from pathlib import Path

WIDTH, HEIGHT = 960, 720


def main():
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"landscape-{number + 1}.png").write_bytes(png(landscape(number / count)))


def landscape(hour):
    """The rows of one view from dawn (0) to dusk (1), and of other hills each time."""
    light = math.sin(math.pi * (hour * 0.8 + 0.15))
    sun = (round(WIDTH * (0.1 + 0.8 * hour)), round(HEIGHT * (0.75 - 0.6 * light)), 46)
    hills = [[round(HEIGHT * (0.55 + 0.13 * depth) + 60 * math.sin(x / (90 + 40 * depth) + 9 * hour)
                    + 25 * math.sin(x / 37 + depth + 20 * hour)) for x in range(WIDTH)]
             for depth in range(3)]
    for y in range(HEIGHT):
        row = bytearray(sky(y / HEIGHT, light) * WIDTH)
        reach = sun[2] ** 2 - (y - sun[1]) ** 2
        if reach > 0:
            half = math.isqrt(reach)
            left, right = max(0, sun[0] - half), min(WIDTH, sun[0] + half)
            row[left * 3:right * 3] = bytes((255, 190 + round(60 * light), 120)) * (right - left)
        for depth, tops in enumerate(hills):
            paint(row, [y >= top for top in tops], ground(depth, light))
        yield bytes(row)


def sky(height, light):
    low, high = (255, 170, 120), (70, 130, 210)
    share = min(1, height + 0.5 - light / 2)
    return bytes(round((a * share + b * (1 - share)) * (0.45 + 0.55 * light)) for a, b in zip(low, high))


def ground(depth, light):
    return bytes(round(part * (0.35 + 0.65 * light) * (0.55 + 0.2 * depth))
                 for part in ((110, 140, 150), (80, 140, 90), (60, 110, 50))[depth])


def paint(row, inside, color):
    start = None
    for x, is_inside in enumerate(inside + [False]):
        if is_inside and start is None:
            start = x
        elif not is_inside and start is not None:
            row[start * 3:x * 3] = color * (x - start)
            start = None


def png(rows):
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 6)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


main()
