#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What STYLE.md says of a file and can be counted.

    tests/check-source.py ROOT

A licence line in each source; lengths of files, functions and lines; no goto, exit or abort where
they have no business; a test for each module; nobody but the sysfs door knows the path of
sriov_numvfs, and nobody but the lane's worker writes it, never a zero.
"""
import pathlib
import re
import sys

FILE_MAX = 450
FUNCTION_MAX = 60
COLUMNS_MAX = 102  # code: clang-format's 100; a comment behind it may end two later
SPDX = "SPDX-License-Identifier: LGPL-2.1-or-later"
LICENSED = "src/*.[ch] include/*.h tests/*.[ch] tests/**/*.[ch] tests/*.py meson*.* tests/meson.build"
# Files without a test of their own: the mains and their subcommands are run by tests/test-cli.py
# and in the VM.
UNTESTED = re.compile(r"vf-restore|cmd-.*")
NAMES_NUMVFS = {"sysfs", "walker", "cause"}  # sysfs.c has the path, the others read or explain
WRITES_NUMVFS = {"worker"}


def strip(text):
    """The code without its comments and with empty string literals; lines stay where they are."""
    def blank(match):
        word = match.group(0)
        return '""' if word[0] == '"' else re.sub(r"[^\n]", " ", word)
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def functions(code):
    """(name, first line, lines) of each function: kernel style has its braces in column 0."""
    begun, head = None, ""
    for number, line in enumerate(code.splitlines(), 1):
        if line.startswith("{"):
            begun = number
        elif line.startswith("}") and begun:
            name = re.findall(r"(\w+)\s*\(", head)
            yield (name[0] if name else "?", begun, number - begun - 1)
            begun, head = None, ""
        elif begun is None:
            head = line if line and not line[0].isspace() and line[0] != "#" else head


def of_source(path, text):
    code = strip(text)
    lines = text.splitlines()
    if len(lines) > FILE_MAX:
        yield f"{len(lines)} lines, at most {FILE_MAX}: which secret of it wants its own file?"
    for number, line in enumerate(lines, 1):
        if len(line.expandtabs(8)) > COLUMNS_MAX:
            yield f"{number}: {len(line.expandtabs(8))} columns, at most {COLUMNS_MAX}"
    for name, number, length in functions(code):
        if length > FUNCTION_MAX:
            yield f"{number}: {name}() has {length} lines, at most {FUNCTION_MAX}"
    for number, line in enumerate(code.splitlines(), 1):
        if re.search(r"\bgoto\b", line):
            yield f"{number}: goto: return early, own by _cleanup_()"
        if re.search(r"\b(exit|abort)\s*\(", line) and path.stem not in ("vf-restore",):
            yield f"{number}: exit or abort outside main: return the outcome"
        if re.search(r"\btypedef\b", line):
            yield f"{number}: typedef: say struct foo, enum foo"
    yield from of_numvfs(path, text, code)


def of_numvfs(path, text, code):
    without_comments = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    if '"sriov_numvfs"' in without_comments and path.stem not in NAMES_NUMVFS:
        yield 'names "sriov_numvfs": only the sysfs door knows where it lies'
    for call in re.findall(r"\b\w*write\w*\s*\([^;]*?SYSFS_PF_NUMVFS[^;]*;", without_comments):
        if path.stem not in WRITES_NUMVFS | {"sysfs"}:
            yield "writes SYSFS_PF_NUMVFS: only the lane's worker does"
        if re.search(r'"0', call):
            yield "writes 0 to sriov_numvfs: nothing here takes VFs away"
    if path.name == "sysfs.c" and not re.search(
            r"assert\(node != SYSFS_PF_NUMVFS \|\| \(?text\[0\] >= '1'", code):
        yield "sysfs_write_pf() no longer asserts that sriov_numvfs is not written 0"


def of_tables(root):
    """A table with an assertion on its length has every row: the length alone says only that the
    last one is there."""
    texts = {path: re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
             for path in sorted(root.glob("src/*.[ch]"))}
    enums = {}
    for text in texts.values():
        for body in re.findall(r"\benum\s+\w*\s*\{([^}]*)\}", text):
            names = [name.split("=")[0].strip() for name in body.split(",") if name.strip()]
            enums.update({name: names for name in names if re.fullmatch(r"_\w+_MAX", name)})
    for path, text in texts.items():
        for table, last in re.findall(r"ELEMENTSOF\((\w+)\) == (_\w+_MAX)", text):
            rows = re.search(rf"\b{table}\[[^=]*= \{{(.*?)^\s*\}};", text, re.M | re.S)
            if not rows or last not in enums:
                yield f"{path}: {table}[]: expected a table of {last} with designated rows"
                continue
            for name in enums[last]:
                if name != last and not name.startswith("_") and f"[{name}]" not in rows.group(1):
                    yield f"{path}: {table}[] has no row for {name}"


def of_sysfs_door(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
    for name in re.findall(r"const char \*\s*(?:const )?(\w+)[,)]", text):
        if name not in ("text", "driver"):
            yield f"{path}: a function takes '{name}': a node is an enum value, never a path"


def is_tested(root, path):
    """By a test of its own, or by its family's: record-save by test-record."""
    stems = path.stem.split("-")
    return any((root / f"tests/test-{'-'.join(stems[:n])}.c").exists()
               for n in range(1, len(stems) + 1))


def main():
    root = pathlib.Path(sys.argv[1])
    bad = []
    sources = sorted(root.glob("src/*.[ch]"))
    for path in sources + sorted(root.glob("include/*.h")):
        bad += [f"{path}: {c}" for c in of_source(path, path.read_text(encoding="utf-8"))]
    for path in {p for pattern in LICENSED.split() for p in root.glob(pattern)}:
        if SPDX not in "\n".join(path.read_text(encoding="utf-8").splitlines()[:3]):
            bad.append(f"{path}: no line '{SPDX}' at its head")
    bad += [*of_tables(root), *of_sysfs_door(root / "src/sysfs.h")]
    build = (root / "meson.build").read_text(encoding="utf-8")
    tests = (root / "tests/meson.build").read_text(encoding="utf-8")
    for path in sources:
        if path.suffix == ".c" and not UNTESTED.fullmatch(path.stem):
            if not is_tested(root, path):
                bad.append(f"{path}: has no tests/test-{path.stem}.c")
            if f"'src/{path.name}'" not in build:
                bad.append(f"{path}: not in meson.build: it is never built")
    for path in sorted(root.glob("tests/test-*.c")):
        if f"'{path.stem.removeprefix('test-')}'" not in tests:
            bad.append(f"{path}: not in tests/meson.build: it never runs")
    print("\n".join(sorted(bad)) if bad else f"{len(sources)} files, nothing to complain about")
    sys.exit(1 if bad or not sources else 0)


main()
