#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who may include what (ARCHITECTURE.md, "Rooms").

    tests/check-layers.py SRC

An include of ours points to an earlier row, in a room within reach; a file in no row fails. Headers
of a library or a kernel interface belong to their owners.
"""
import pathlib
import re
import sys

# One row after the other, from the ground up. A file may include files of earlier rows only, so
# that two files of one row, as the doors are, do not know each other. foo.h and foo.c stand apart
# where a part of foo has its own file, which knows foo.h and is called by foo.c.
ROWS = [
    ("ground", "base"),
    ("ground", "log fdio"),
    ("paper", "bdf tally phase names fault conf-value"),
    ("paper", "scan"),
    ("paper", "scan-value"),
    ("paper", "cause conf manifest.h"),
    ("paper", "conf-load manifest-check manifest-fields"),
    ("paper", "manifest.c manifest-load"),
    ("paper", "manifest-save"),
    ("plan", "plan"),
    ("hot", "uevent-trust thread"),
    ("hot", "sysfs uevent vfio journal"),
    ("late", "modules walker holder"),
    ("hot", "registrar"),
    ("hot", "lane"),
    ("hot", "bind"),
    ("hot", "worker hotpath.h"),
    ("hot", "proof"),
    ("hot", "hotpath.c hotpath-init"),
    ("late", "idproof"),
    ("late", "capture"),
    ("desk", "record vf-set"),
    ("desk", "record-fields record-read.h"),
    ("desk", "record-value json-out"),
    ("desk", "record-read.c record-save timeline plan-text plan-json progress"),
    ("desk", "report"),
    ("desk", "timeline-svg"),
    ("desk", "account"),
    ("desk", "agent"),
    ("desk", "cmd cmd-capture-print"),
    ("desk", "cmd-capture cmd-plan cmd-restore cmd-timeline vf-restore"),
]

# What a room may know. The hot path looks at nothing that looks around, and does not write logs.
REACH = {
    "ground": {"ground"},
    "paper": {"ground", "paper"},
    "plan": {"ground", "paper", "plan"},
    "hot": {"ground", "paper", "plan", "hot"},
    "late": {"ground", "paper", "plan", "late"},
    "desk": {"ground", "paper", "plan", "hot", "late", "desk"},
}
HOT_NEVER = {"log", "fdio", "scan", "manifest-save"}

# Beginning of a header's name -> the files that own it.
OWNERS = {
    "dirent.h": "conf-load modules walker holder",
    "ftw.h": "",
    "fts.h": "",
    "glob.h": "",
    "ini.h": "conf",
    "json-c/": "scan scan-value manifest-save record-read record-value record-save json-out plan-json",
    "json.h": "",
    "libkmod.h": "modules",
    "libudev.h": "walker",
    "linux/netlink.h": "uevent",
    "linux/rtnetlink.h": "",
    "linux/vfio.h": "vfio",
    "netlink/": "uevent",
    "pthread.h": "registrar lane thread hotpath hotpath-init",
    "sys/inotify.h": "",
    "systemd/sd-daemon.h": "agent",
    "systemd/sd-event.h": "agent",
    "systemd/sd-journal.h": "log",
    "xxhash.h": "fdio",
}
GUARD = "hot-guard"  # forced into the hot path; includes what it bans

LEVEL = {name: (row, room) for row, (room, names) in enumerate(ROWS) for name in names.split()}


def level(file):
    """(row, room) of foo.h or foo.c."""
    return LEVEL.get(file) or LEVEL.get(file.rpartition(".")[0])


def complaints(path):
    name = path.stem
    text = path.read_text(encoding="utf-8")
    if name == GUARD:
        return
    if not level(path.name):
        yield "in no room: give it a row in tests/check-layers.py and in ARCHITECTURE.md"
        return
    row, room = level(path.name)
    for line, target in re.findall(r'^(\s*#\s*include\s+"([^"]+)")', text, re.M):
        if target in (f"{name}.h", "vf-restore.h"):
            continue
        if not level(target):
            yield f"{line.strip()}: in no room"
            continue
        other_row, other_room = level(target)
        if other_row >= row:
            yield f"{line.strip()}: not below {path.name}"
        elif other_room not in REACH[room] or (
                room == "hot" and target.removesuffix(".h") in HOT_NEVER):
            yield f"{line.strip()}: out of reach for {path.name}, which is {room}"
    for target in re.findall(r"^\s*#\s*include\s+<([^>]+)>", text, re.M):
        for header, owners in OWNERS.items():
            if target.startswith(header) and name not in owners.split():
                owner = owners.replace(" ", ", ") or "nobody"
                yield f"#include <{target}>: belongs to {owner}"


def main():
    files = sorted(pathlib.Path(sys.argv[1]).glob("*.[ch]"))
    bad = [f"{path}: {complaint}" for path in files for complaint in complaints(path)]
    print("\n".join(bad) if bad else f"{len(files)} files, each in its place")
    sys.exit(1 if bad or not files else 0)


main()
