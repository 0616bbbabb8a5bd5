#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`meson install` puts everything in its place, below DESTDIR and nowhere else.

    tests/check-install.py BUILD PREFIX SYSCONFDIR MANDIR PAGE...
"""
import os
import pathlib
import stat
import subprocess
import sys
import tempfile

BUILD, PREFIX, SYSCONFDIR, MANDIR, *PAGES = sys.argv[1:]


def below_prefix(path):
    return os.path.join(PREFIX, path)


EXPECTED = {
    below_prefix("bin/vf-restore"): 0o755,
    below_prefix("include/vf-restore.h"): 0o644,
    os.path.join(below_prefix(SYSCONFDIR), "vf-restore/vf-restored.conf"): 0o644,
    **{os.path.join(below_prefix(MANDIR), f"man{page[-1]}", page): 0o644 for page in PAGES},
}


def main():
    with tempfile.TemporaryDirectory(prefix="install-") as folder:
        subprocess.run(["meson", "install", "--no-rebuild", "--quiet", "-C", BUILD], check=True,
                       env={**os.environ, "DESTDIR": folder})
        found = {f"/{path.relative_to(folder)}": stat.S_IMODE(path.stat().st_mode)
                 for path in pathlib.Path(folder).rglob("*") if not path.is_dir()}
        bad = [f"missing: {path}" for path in EXPECTED.keys() - found.keys()]
        bad += [f"unexpected: {path}" for path in found.keys() - EXPECTED.keys()]
        bad += [f"{path}: mode {found[path]:o}, expected {EXPECTED[path]:o}"
                for path in EXPECTED.keys() & found.keys() if found[path] != EXPECTED[path]]
        version = subprocess.run([f"{folder}{below_prefix('bin/vf-restore')}", "--version"],
                                 stdout=subprocess.PIPE, text=True, check=False)
        if version.returncode != 0 or not version.stdout.startswith("vf-restore "):
            bad.append(f"vf-restore --version: exit code {version.returncode}, "
                       f"'{version.stdout.strip()}'")
    print("\n".join(sorted(bad)) if bad else "\n".join(sorted(found)))
    sys.exit(1 if bad else 0)


main()
