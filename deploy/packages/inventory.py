#!/usr/bin/env python3
"""Lists the code of others in a package, as SPDX 2.3: what is inside the program, and the libraries beside it.

    inventory.py pypi|deb|generic VERSION FOLDER OUT

Versions come from dpkg and swiftc. A library in FOLDER that is not known here is an error.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.parse

SWIFT = "Apache-2.0 WITH Swift-exception"

# Debian's package, its licence: what program.sh links into the program.
INSIDE = {
    "libsimdjson-dev": "Apache-2.0 OR MIT",
    "libinih-dev": "BSD-3-Clause",
    "libstdc++-12-dev": "GPL-3.0-or-later WITH GCC-exception-3.1",
}
# The same for the libraries that packages bring along, by their names.
BESIDE = {
    "libwslay.so.1": ("libwslay1", "MIT"),
    "libzstd.so.1": ("libzstd1", "BSD-3-Clause OR GPL-2.0-only"),
    "libpq.so.5": ("libpq-dev", "PostgreSQL"),
    "libcurl.so.4": ("libcurl4-openssl-dev", "curl"),
    "libmicrohttpd.so.12": ("libmicrohttpd-dev", "LGPL-2.1-or-later"),
}


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def package(name, version, licence, supplier, purl):
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", name),
        "name": name,
        "versionInfo": version,
        "supplier": supplier,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        "externalRefs": [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}],
    }


def debian(binary, licence):
    """The source package of an installed package of Debian."""
    name, version = output("dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", binary).split()
    quoted = urllib.parse.quote(version, safe=".~-")
    codename = re.search(r"^VERSION_CODENAME=(\w+)", pathlib.Path("/etc/os-release").read_text(), re.M)[1]
    purl = f"pkg:deb/debian/{name}@{quoted}?arch=source&distro={codename}"
    return package(name, version, licence, "Organization: Debian", purl)


def swift():
    version, tag = re.search(r"Swift version (\S+) \((swift-[^)]+)\)", output("swiftc", "--version")).groups()
    return package("swift-runtime", version, SWIFT, "Organization: Swift.org", f"pkg:github/swiftlang/swift@{tag}")


def main(kind, version, folder, out):
    own = package("quake-tools", version, "MIT", "NOASSERTION", f"pkg:{kind}/quake-tools@{version}")
    own["sourceInfo"] = "commit " + output("git", "rev-parse", "HEAD")
    inside = [swift()] + [debian(*entry) for entry in INSIDE.items()]
    beside = []
    for path in sorted(pathlib.Path(folder).rglob("*.so*")):
        if path.name not in BESIDE:
            sys.exit(f"inventory.py: unknown library {path}; name it in BESIDE")
        beside.append(debian(*BESIDE[path.name]))

    def related(parts, relation):
        return [{"spdxElementId": own["SPDXID"], "relationshipType": relation, "relatedSpdxElement": part["SPDXID"]}
                for part in parts]

    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"quake-tools-{version}-{kind}",
        "documentNamespace": f"https://quake.invalid/spdx/{version}-{own['sourceInfo'][7:]}-{kind}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))),
            "creators": ["Tool: inventory.py"],
        },
        "packages": [own] + inside + beside,
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own["SPDXID"]}]
        + related(inside, "STATIC_LINK") + related(beside, "CONTAINS") + related(beside, "DYNAMIC_LINK"),
    }
    pathlib.Path(out).write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
