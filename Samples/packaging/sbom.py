#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the bill of materials of a program as CycloneDX JSON: what is linked into it, what it loads, versions, licences.

Swift packages are those whose modules are in the list of objects, with the versions that the build checked out. Libraries
that the program loads come from Debian's packages on this machine. The same build has the same bytes: the time is that of
SOURCE_DATE_EPOCH, and the serial number is made from the content.

  sbom.py PROGRAM VERSION SCRATCH [OBJECTS]

SCRATCH is the build's folder, such as .build; OBJECTS is the list that the linker was given.
"""

import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import uuid

# The licences of the libraries that a program may load, as SPDX names them; Debian's own files are prose.
DEBIAN_LICENCES = {
    "libbz2-1.0": "bzip2-1.0.6",
    "libc6": "LGPL-2.1-or-later",
    "libexpat1": "MIT",
    "libgcc-s1": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "liblzma5": "0BSD",
    "libsqlite3-0": "blessing",
    "libsqlite3-0t64": "blessing",
    "libstdc++6": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libusb-1.0-0": "LGPL-2.1-or-later",
    "libzstd1": "BSD-3-Clause OR GPL-2.0-only",
    "zlib1g": "Zlib",
}
SWIFT_LICENCE = "Apache-2.0 WITH Swift-exception"
# The code of other projects that packages contain: module, name, licence, the file with the revision, and the
# address.
VENDORED = [
    ("CNIOBoringSSL", "boringssl", "Apache-2.0", "hash.txt", "https://boringssl.googlesource.com/boringssl"),
    ("CCryptoBoringSSL", "boringssl", "Apache-2.0", "hash.txt", "https://boringssl.googlesource.com/boringssl"),
    ("CNIOLLHTTP", "llhttp", "MIT", None, "https://github.com/nodejs/llhttp"),
    ("CNIOExtrasZlib", "zlib", "Zlib", "vendored-zlib.version", "https://github.com/madler/zlib"),
    ("CXKCP", "XKCP", "CC0-1.0", None, "https://github.com/XKCP/XKCP"),
]


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def licensed(name):
    return [{"expression": name}] if " " in name else [{"license": {"id": name}}]


def licence_of(folder):
    """The licence of a package, by the first words of its file."""
    for name in ("LICENSE.txt", "LICENSE", "LICENSE.md"):
        try:
            with open(f"{folder}/{name}", encoding="utf-8") as file:
                text = file.read(20_000)
        except FileNotFoundError:
            continue
        if "Runtime Library Exception" in text:
            return SWIFT_LICENCE
        if "Apache License" in text:
            return "Apache-2.0"
        if "Permission is hereby granted, free of charge" in text:
            return "MIT"
    sys.exit(f"sbom: {folder} has no licence that is known")


def swift_packages(scratch, objects):
    """A component for each package that has a linked module. Without a list of objects, one for every package."""
    with open(f"{scratch}/workspace-state.json", encoding="utf-8") as file:
        pins = json.load(file)["object"]["dependencies"]
    modules = None
    if objects:
        with open(objects, encoding="utf-8") as file:
            modules = set(re.findall(r"/([^/\n]+)\.build/", file.read()))
    found, known = [], set()
    for pin in pins:
        folder = f"{scratch}/checkouts/{pin['subpath']}"
        of_package = modules_of(folder)
        used = sorted(of_package & modules) if modules is not None else sorted(of_package)
        known |= of_package
        if modules is not None and not used:
            continue
        state = pin["state"]["checkoutState"]
        # The name of a package is its location, as in github.com/apple/swift-nio.
        path = pin["packageRef"]["location"].removeprefix("https://").removesuffix(".git")
        purl = f"pkg:swift/{path}@{state.get('version', state['revision'])}"
        component = {
            "type": "library",
            "bom-ref": purl,
            "group": os.path.dirname(path),
            "name": os.path.basename(path),
            "version": state.get("version", state["revision"]),
            "licenses": licensed(licence_of(folder)),
            "purl": purl,
            "properties": [{"name": "revision", "value": state["revision"]}],
        }
        parts = [part for row in VENDORED if row[0] in used for part in [vendored(folder, purl, row)]]
        if parts:
            component["components"] = parts
        found.append(component)
    own = set(folders("Sources"))
    unknown = sorted((modules or set()) - known - own)
    if unknown:
        sys.exit(f"sbom: no package has the modules {', '.join(unknown)}")
    return found


def modules_of(folder):
    """The modules of a package: the targets in its manifest, and the folders of targets without a path."""
    with open(f"{folder}/Package.swift", encoding="utf-8") as file:
        targets = re.findall(r"\.(?:target|systemLibrary)\(\s*name:\s*\"([^\"]+)\"", file.read())
    return set(targets) | set(folders(folder)) | set(folders(f"{folder}/Sources"))


def folders(path):
    return [entry.name for entry in os.scandir(path) if entry.is_dir()] if os.path.isdir(path) else []


def vendored(folder, purl, row):
    module, name, licence, revision_file, address = row
    component = {
        "type": "library",
        "bom-ref": f"{purl}#{module}",
        "name": name,
        "licenses": licensed(licence),
        "externalReferences": [{"type": "vcs", "url": address}],
    }
    if revision_file:
        with open(f"{folder}/Sources/{module}/{revision_file}", encoding="utf-8") as file:
            # The file contains a revision in a sentence, or only a version.
            text = file.read().strip()
            revision = re.search(r"\b[0-9a-f]{40}\b", text)
            component["version"] = revision.group(0) if revision else text.splitlines()[0]
    return component


def swift_runtime():
    """The compiler's libraries that are linked: Swift's own, Dispatch, Foundation, and ICU inside it."""
    version = re.search(r"Swift version ([0-9.]+)", output("swiftc", "--version")).group(1)
    parts = [("swift", SWIFT_LICENCE), ("swift-corelibs-libdispatch", SWIFT_LICENCE)]
    parts += [(name, SWIFT_LICENCE) for name in ("swift-corelibs-foundation", "swift-foundation")]
    parts += [("swift-foundation-icu", "Unicode-3.0")]
    return [
        {
            "type": "library",
            "bom-ref": f"pkg:swift/github.com/swiftlang/{name}@{version}",
            "group": "github.com/swiftlang",
            "name": name,
            "version": version,
            "licenses": licensed(licence),
            "purl": f"pkg:swift/github.com/swiftlang/{name}@{version}",
        }
        for name, licence in parts
    ]


def loaded_libraries(program):
    """The libraries that the program loads, with the Debian packages that contain them on this machine."""
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", program))
    paths = dict(re.findall(r"^\s*(\S+) => (/\S+)", output("ldd", program), re.MULTILINE))
    files = [os.path.realpath(paths[name]) for name in needed if name in paths]
    if "libstdc++.so.6" not in needed:
        files.append(os.path.realpath(output("clang", "-print-file-name=libstdc++.a").strip()))
    # A program for tests loads Swift's runtime, which is listed separately.
    packages = owners([file for file in files if "/lib/swift/" not in file])
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "late-libraries.c"), encoding="utf-8") as file:
        late = set(re.findall(r'^static const struct library .* = \{".*", "(.*)"\};$', file.read(), re.MULTILINE))
    late -= {package.split(":")[0] for package in packages}
    found = []
    for package in sorted(packages | late):
        version = output("dpkg-query", "-W", "-f=${Version} ${Architecture}\n", package).split()
        plain = package.split(":")[0]
        is_archive = plain.endswith("-dev")
        # The package of C++'s static library has the version of the compiler in its name.
        linked = "when it is first needed" if plain in late else "when the program starts"
        if is_archive:
            linked = "into the program"
        licence = DEBIAN_LICENCES.get("libstdc++6" if re.fullmatch(r"libstdc\+\+-\d+-dev", plain) else plain)
        if not licence:
            sys.exit(f"sbom: the licence of {plain} is not known; add it to DEBIAN_LICENCES")
        purl = f"pkg:deb/debian/{plain}@{version[0]}?arch={version[1]}"
        found.append(
            {
                "type": "library",
                "bom-ref": purl,
                "name": plain,
                "version": version[0],
                "licenses": licensed(licence),
                "purl": purl,
                "properties": [{"name": "linked", "value": linked}],
            }
        )
    return found


def owners(paths):
    """The Debian packages that contain these files."""
    # Debian 12 lists the libraries of the base system without the leading /usr.
    names = [name for path in paths for name in (path, path.removeprefix("/usr"))]
    found = subprocess.run(["dpkg", "-S", *names], capture_output=True, text=True).stdout
    packages = dict(reversed(line.split(": ", 1)) for line in found.splitlines())
    missing = [path for path in paths if path not in packages and path.removeprefix("/usr") not in packages]
    if missing:
        sys.exit(f"sbom: no Debian package has {', '.join(missing)}")
    return set(packages.values())


def main(program, version, scratch, objects=None):
    components = swift_packages(scratch, objects) + swift_runtime() + loaded_libraries(program)
    components.sort(key=lambda component: component["bom-ref"])
    with open(program, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    itself = {
        "type": "application",
        "bom-ref": "glucoport",
        "name": "glucoport",
        "version": version,
        "hashes": [{"alg": "SHA-256", "content": digest}],
        "licenses": licensed("Apache-2.0"),
    }
    time = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": itself},
        "components": components,
        "dependencies": [{"ref": "glucoport", "dependsOn": [component["bom-ref"] for component in components]}],
    }
    content = json.dumps(bill, sort_keys=True).encode()
    bill["serialNumber"] = f"urn:uuid:{uuid.UUID(bytes=hashlib.sha256(content).digest()[:16], version=5)}"
    print(json.dumps(bill, indent=2, sort_keys=True))


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
