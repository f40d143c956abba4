#!/usr/bin/env python3
"""Prints what is linked into the files of a release, as SPDX 2.3: tools/release.sh calls it.

    release_spdx.py VERSION SECONDS FOLDER      SECONDS: the time of the commit; FOLDER: the files of the release"""

import datetime
import fnmatch
import hashlib
import json
import pathlib
import subprocess
import sys

# Each library with its Debian package and its licence, as the copyright file of the package has it.
LIBRARIES = {
    "libsodium": ("libsodium-dev", "ISC"),
    "libidn2": ("libidn2-dev", "LGPL-3.0-or-later OR GPL-2.0-or-later"),
    "libunistring": ("libunistring-dev", "LGPL-3.0-or-later OR GPL-2.0-or-later"),
    "xxhash": ("libxxhash-dev", "BSD-2-Clause"),
    "zlib": ("zlib1g-dev", "Zlib"),
    "zstd": ("libzstd-dev", "BSD-3-Clause OR GPL-2.0-only"),
    "liblzma": ("liblzma-dev", "0BSD"),
    "bzip2": ("libbz2-dev", "bzip2-1.0.6"),
    "glibc": ("libc6-dev", "LGPL-2.1-or-later"),
}
SMALL = ["libsodium", "libidn2", "libunistring", "xxhash"]
# What is linked into which files. The Debian packages say it themselves, but for a header of xxHash.
LINKED = {
    "*.whl": SMALL,
    "unseen-module-*": SMALL,
    "unseen-static-*": [*SMALL, "zlib", "zstd", "liblzma", "bzip2", "glibc"],
    "*.deb": ["xxhash"],
    "planner.html": ["xxhash"],
}


def package(name, version, licence, **more):
    return {"SPDXID": f"SPDXRef-{name}", "name": name, "versionInfo": version, "licenseConcluded": licence,
            "licenseDeclared": licence, "copyrightText": "NOASSERTION", "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, **more}


def main():
    version, seconds, folder = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
    packages = [package("unseen", version, "MIT")]
    for name, (debian, licence) in LIBRARIES.items():
        found = subprocess.run(["dpkg-query", "-W", "-f=${Version} ${source:Package}", debian], check=True, text=True,
                               capture_output=True).stdout.split()
        packages.append(package(name, found[0], licence, externalRefs=[{
            "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
            "referenceLocator": f"pkg:deb/debian/{found[1]}@{found[0]}"}]))
    files, relations = [], [("DOCUMENT", "DESCRIBES", "unseen")]
    for number, path in enumerate(sorted(p for p in folder.iterdir() if p.is_file())):
        ident = f"file-{number}"
        data = path.read_bytes()
        files.append({"SPDXID": f"SPDXRef-{ident}", "fileName": f"./{path.name}", "licenseConcluded": "NOASSERTION",
                      "copyrightText": "NOASSERTION",
                      "checksums": [{"algorithm": kind, "checksumValue": hashlib.new(kind, data).hexdigest()}
                                    for kind in ("SHA1", "SHA256")]})
        relations.append((ident, "GENERATED_FROM", "unseen"))
        relations += [(ident, "STATIC_LINK", library) for pattern, libraries in LINKED.items()
                      if fnmatch.fnmatch(path.name, pattern) for library in libraries]
    when = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"unseen-{version}",
        "documentNamespace": f"urn:unseen:{version}:{seconds}",
        "creationInfo": {"created": when, "creators": ["Tool: tools/release.sh"]},
        "packages": packages, "files": files,
        "relationships": [{"spdxElementId": f"SPDXRef-{a}", "relationshipType": kind, "relatedSpdxElement": f"SPDXRef-{b}"}
                          for a, kind, b in relations],
    }, sys.stdout, indent=1)
    print()


main()
