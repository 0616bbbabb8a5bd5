#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The hot libraries may call what tests/hot-symbols.txt lists, and nothing else outside themselves.

    tests/check-symbols.py LIST NM ARCHIVE...

What src/hot-guard.h forbids to spell can still come in by another name; what is linked cannot hide.
"""
import fnmatch
import re
import subprocess
import sys


def plain(symbol):
    """Without what the compiler or glibc adds: __read_chk is read, openat64 is openat."""
    symbol = re.sub(r"^__(\w+?)(?:_2)?_chk$", r"\1", symbol)
    return re.sub(r"(?<=[a-z])64(_2)?$", "", symbol)


def read_list(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            fields = line.split(None, 2)
            if len(fields) != 3:
                sys.exit(f"{path}:{number}: expected SYMBOL FILES REASON")
            yield fields[0], fields[1].split(",")


def symbols(nm, archives):
    """(source file, symbol, defined) of all objects in the archives."""
    text = subprocess.run([nm, "-A", "-g", *archives], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    for line in text.splitlines():
        if not line or line.endswith(":"):  # the archive's own line
            continue
        where, kind, symbol = re.fullmatch(r"(.*?):(?:[0-9a-f]+)?\s+(\w) (\S+)", line).groups()
        source = re.search(r"(?:src_)?([\w-]+)\.(?:c\.)?o$", where).group(1)
        yield source, symbol, kind not in "Uwv"


def main():
    allowed = list(read_list(sys.argv[1]))
    found = list(symbols(sys.argv[2], sys.argv[3:]))
    own = {symbol for _, symbol, defined in found if defined}
    bad = []
    for source, symbol, defined in found:
        name = plain(symbol)
        if defined or symbol in own:
            continue
        if not any(fnmatch.fnmatchcase(name, pattern) and ("*" in files or source in files)
                   for pattern, files in allowed):
            bad.append(f"src/{source}.c calls {name}: not in {sys.argv[1]}")
    print("\n".join(sorted(set(bad))) if bad else f"{len(own)} functions, all calls are listed")
    sys.exit(1 if bad or not own else 0)


main()
