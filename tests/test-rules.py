#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each rule that the build holds is broken here on purpose, and has to be seen.

    tests/test-rules.py ROOT NO_READDIR HOT_ARCHIVE CORE_ARCHIVE PURE_ARCHIVE -- COMPILER...

A rule that nobody can break unseen is a rule; the others are wishes. Each offence is planted in a
copy of the tree, and for each there is a sound twin, so that no rule says no to everything.
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

if "--" not in sys.argv:
    sys.exit(__doc__)
ROOT, NO_READDIR, HOT, CORE, PURE = sys.argv[1:sys.argv.index("--")]
COMPILER = sys.argv[sys.argv.index("--") + 1:]
ROOT = pathlib.Path(ROOT)
ENVIRONMENT = {**os.environ, "LC_ALL": "C"}
WARNINGS = ["-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wswitch-enum", "-Werror",
            "-Wno-unused-function"]


def pkg_config(*arguments):
    return subprocess.run(["pkg-config", *arguments], text=True, stdout=subprocess.PIPE,
                          check=True).stdout.split()


def run(*command, **more):
    return subprocess.run([str(word) for word in command], text=True, env=ENVIRONMENT, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **more)


class Planted(unittest.TestCase):
    def setUp(self):
        self.tree = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="rules-")))
        for name in ("src", "include"):
            shutil.copytree(ROOT / name, self.tree / name)
        (self.tree / "tests").mkdir()
        shutil.copy(ROOT / ".clang-format", self.tree)
        shutil.copy(ROOT / "meson.build", self.tree)
        for path in (ROOT / "tests").glob("*"):
            if path.suffix in (".c", ".h", ".py", ".txt", ".build") or path.name == "check-format":
                shutil.copy(path, self.tree / "tests")
        self.src = self.tree / "src"

    if sys.version_info < (3, 11):
        def enterContext(self, context):
            result = context.__enter__()
            self.addCleanup(context.__exit__, None, None, None)
            return result

    def compile(self, source, *flags, hot=True):
        guard = ["-include", "hot-guard.h"] if hot else []
        return run(*COMPILER, *WARNINGS, *guard, "-I", self.src, *pkg_config("--cflags", "libnl-3.0"),
                   *flags, source)

    def compile_text(self, text, *flags, hot=True):
        source = self.tree / "planted.c"
        source.write_text(text)
        return self.compile(source, *(flags or ["-fsyntax-only"]), hot=hot)

    def good(self, result):
        self.assertEqual(result.returncode, 0, result.stdout)

    def bad(self, result, *patterns):
        self.assertNotEqual(result.returncode, 0, "the offence was not seen")
        for pattern in patterns:
            self.assertRegex(result.stdout, pattern)

    def edit(self, name, old, new):
        path = self.tree / name
        text = path.read_text()
        self.assertRegex(text, old, f"nothing like that in {name} any more")
        path.write_text(re.sub(old, lambda _: new, text, count=1))

    def append(self, name, text):
        with open(self.tree / name, "a", encoding="utf-8") as file:
            file.write(text)

    def layers(self):
        return run(sys.executable, ROOT / "tests/check-layers.py", self.src)

    def source(self):
        return run(sys.executable, ROOT / "tests/check-source.py", self.tree)

    def symbols(self, *archives):
        return run(sys.executable, ROOT / "tests/check-symbols.py", ROOT / "tests/hot-symbols.txt",
                   "nm", *archives)


class Vocabulary(Planted):
    """src/hot-guard.h"""

    def test_every_banned_word_is_refused(self):
        words = [word for line in (self.src / "hot-guard.h").read_text().splitlines()
                 if line.startswith("#pragma GCC poison") for word in line.split()[3:]]
        self.assertGreater(len(words), 100)
        text = "".join(f"int f{n}(void) {{ return (long) {word} != 0; }}\n"
                       for n, word in enumerate(words))
        seen = set(re.findall(r"planted\.c:(\d+).*poisoned", self.compile_text(
            text, "-fsyntax-only", "-ferror-limit=0" if "clang" in COMPILER[-1]
            else "-fmax-errors=0").stdout))
        missed = [word for n, word in enumerate(words, 1) if str(n) not in seen]
        self.assertEqual(missed, [])

    def test_a_directory_read_in_a_hot_file(self):
        self.good(self.compile(self.src / "sysfs.c", "-fsyntax-only"))
        self.append("src/sysfs.c", "void *planted(void);\nvoid *planted(void)\n"
                    "{\n\treturn opendir(\"/sys/bus/pci/devices\");\n}\n")
        self.bad(self.compile(self.src / "sysfs.c", "-fsyntax-only"), r"(?s)poisoned.*opendir")

    def test_a_dump_in_the_netlink_door(self):
        self.good(self.compile(self.src / "uevent.c", "-fsyntax-only"))
        self.append("src/uevent.c", "int planted(void);\nint planted(void)\n"
                    "{\n\treturn NLM_F_REQUEST | NLM_F_DUMP;\n}\n")
        self.bad(self.compile(self.src / "uevent.c", "-fsyntax-only"), r"(?s)poisoned.*NLM_F_DUMP")


class Doors(Planted):
    """src/sysfs.h, src/phase.h: what cannot be said"""

    def test_a_path_to_the_sysfs_door(self):
        call = ('#include "sysfs.h"\nint planted(struct sysfs *s, int pf, char *ret);\n'
                "int planted(struct sysfs *s, int pf, char *ret)\n"
                "{\n\treturn sysfs_read_pf(s, pf, %s, ret, 8);\n}\n")
        self.good(self.compile_text(call % "SYSFS_PF_NUMVFS"))
        self.bad(self.compile_text(call % '"../0000:01:10.0/resource"'), "sysfs_read_pf")

    def test_a_function_that_takes_a_path(self):
        self.append("src/sysfs.h", "\nint sysfs_read_any(struct sysfs *s, const char *path, "
                    "char *ret, size_t size)\n\t_must_check_;\n")
        self.bad(self.source(), r"sysfs\.h.*path")

    def test_a_missing_row_at_the_end_of_the_node_table(self):
        self.edit("src/sysfs.c", r"\t\[SYSFS_VFIO_DEV\] = \{[^}]*\},\n", "")
        self.bad(self.compile(self.src / "sysfs.c", "-fsyntax-only"), "every node has a row")

    def test_a_missing_row_within_the_node_table(self):
        self.edit("src/sysfs.c", r"\t\[SYSFS_PF_SERIAL\] = \{[^}]*\},\n", "")
        self.bad(self.source(), r"sysfs\.c.*nodes.*SYSFS_PF_SERIAL")

    def test_a_node_without_a_row(self):
        self.edit("src/tally.h", r"\t_SYSFS_NODE_MAX,", "\tSYSFS_PF_RESOURCE,\n\t_SYSFS_NODE_MAX,")
        self.bad(self.compile(self.src / "sysfs.c", "-fsyntax-only"), "every node has a row")

    def test_a_pass_of_ones_own(self):
        text = ('#include "phase.h"\nconst void *planted(void);\nconst void *planted(void)\n'
                "{\n\tstatic %s pass;\n\treturn &pass;\n}\n")
        self.good(self.compile_text(text % "struct phase"))
        self.bad(self.compile_text(text % "struct walk_pass"), "incomplete type|isn't known")

    def test_an_ignored_outcome(self):
        text = ('#include "sysfs.h"\nvoid planted(struct sysfs *s, int fd);\n'
                "void planted(struct sysfs *s, int fd)\n"
                '{\n\t%ssysfs_write_pf(s, fd, SYSFS_PF_NUMVFS, "1")%s;\n}\n')
        output = ["-c", "-o", "/dev/null"]
        self.good(self.compile_text(text % ("if (", ")\n\t\tfd = 0"), *output))
        self.bad(self.compile_text(text % ("", ""), *output), "warn_unused_result")

    def test_a_forgotten_case(self):
        text = ('#include "sysfs.h"\nint planted(enum sysfs_op op);\nint planted(enum sysfs_op op)\n'
                "{\n\tswitch (op) {\n\tcase SYSFS_READ:\n\tcase SYSFS_WRITE:\n%s"
                "\t\treturn 1;\n\tcase _SYSFS_OP_MAX:\n\t\tbreak;\n\t}\n\treturn 0;\n}\n")
        self.good(self.compile_text(text % "\tcase SYSFS_LINK:\n"))
        self.bad(self.compile_text(text % ""), "SYSFS_LINK")


class Linked(Planted):
    """tests/check-symbols.py, and the libraries' order"""

    CALL = "%s\nint hotpath_planted(void);\nint hotpath_planted(void)\n{\n\treturn %s;\n}\n"

    def archive(self, declaration, call):
        planted, archive = self.tree / "src_hotpath.c.o", self.tree / "planted.a"
        self.good(self.compile_text(self.CALL % (declaration, call), "-c", "-o", planted))
        self.good(run("ar", "cr", archive, planted))
        return archive

    def test_a_symbol_outside_the_list(self):
        self.good(self.symbols(HOT, PURE))
        archive = self.archive("#include <sys/eventfd.h>", "eventfd_read(0, 0)")
        self.good(self.symbols(archive))
        archive = self.archive("", 'access("/sys/bus/pci/devices", 0)')
        self.bad(self.symbols(archive), r"src/hotpath\.c calls access")

    def test_a_symbol_in_a_file_that_may_not(self):
        archive = self.archive("", 'openat(3, "x", 0)')
        self.bad(self.symbols(archive), r"src/hotpath\.c calls openat")

    def test_a_banned_word_by_another_name(self):
        archive = self.archive('void *innocent(const char *) __asm__("opendir");',
                               'innocent("/sys/bus/pci/devices") != 0')
        self.bad(self.symbols(archive), r"src/hotpath\.c calls opendir")

    def test_the_walker_called_from_the_hot_path(self):
        declaration = "int walker_walk(const void *, const char *, void *);"
        archive = self.archive(declaration, "walker_walk(0, 0, 0)")
        self.bad(self.symbols(archive), r"src/hotpath\.c calls walker_walk")
        main = self.tree / "main.c"
        main.write_text("int hotpath_planted(void);\nint main(void) { return hotpath_planted(); }\n")
        self.bad(run(*COMPILER, main, archive, HOT, CORE, PURE, "-o", self.tree / "main"),
                 "walker_walk")


class Layers(Planted):
    """tests/check-layers.py"""

    def test_as_it_is(self):
        self.good(self.layers())

    def test_an_include_upwards(self):
        self.append("src/bdf.c", '#include "plan.h"\n')
        self.bad(self.layers(), r"bdf\.c.*plan\.h.*not below")

    def test_a_door_that_knows_a_door(self):
        self.append("src/vfio.c", '#include "sysfs.h"\n')
        self.bad(self.layers(), r"vfio\.c.*sysfs\.h.*not below")

    def test_the_walker_in_the_hot_path(self):
        self.append("src/hotpath.h", '#include "walker.h"\n')
        self.bad(self.layers(), r"hotpath\.h.*walker\.h.*out of reach")

    def test_a_log_in_the_hot_path(self):
        self.append("src/worker.c", '#include "log.h"\n')
        self.bad(self.layers(), r"worker\.c.*log\.h.*out of reach")

    def test_an_unknown_file(self):
        (self.src / "util.c").write_text("/* SPDX-License-Identifier: LGPL-2.1-or-later */\n")
        self.bad(self.layers(), r"util\.c: in no room")

    def test_an_include_of_an_unknown_file(self):
        self.append("src/plan.c", '#include "util.h"\n')
        self.bad(self.layers(), r"plan\.c.*util\.h")

    def test_a_library_of_somebody_else(self):
        for header, name in [("libkmod.h", "walker"), ("libudev.h", "modules"),
                             ("json-c/json.h", "plan"), ("netlink/netlink.h", "sysfs"),
                             ("ini.h", "manifest"), ("xxhash.h", "plan"), ("glob.h", "plan"),
                             ("systemd/sd-journal.h", "plan"), ("dirent.h", "plan")]:
            with self.subTest(header=header):
                self.append(f"src/{name}.c", f"#include <{header}>\n")
                self.bad(self.layers(), rf"{name}\.c.*<{re.escape(header)}>.*belongs to")


class Source(Planted):
    """tests/check-source.py"""

    def test_as_it_is(self):
        self.good(self.source())

    def test_no_licence(self):
        self.edit("src/plan.c", "SPDX-License-Identifier", "Licence")
        self.bad(self.source(), r"plan\.c: no line 'SPDX")

    def test_a_long_file(self):
        self.append("src/plan.c", "/* more */\n" * 450)
        self.bad(self.source(), r"plan\.c: \d+ lines")

    def test_a_long_function(self):
        self.append("src/bdf.c", "static void planted(void)\n{\n" + "\t;\n" * 61 + "}\n")
        self.bad(self.source(), r"bdf\.c: \d+: planted\(\) has 61 lines")

    def test_a_long_line(self):
        self.append("src/bdf.c", "/* " + "long " * 25 + "*/\n")
        self.bad(self.source(), r"bdf\.c: \d+: \d+ columns")

    def test_goto(self):
        self.append("src/bdf.c", "static void planted(void)\n{\nout:\n\tgoto out;\n}\n")
        self.bad(self.source(), r"bdf\.c: \d+: goto")

    def test_a_comment_may_say_goto(self):
        self.append("src/bdf.c", '/* goto is not used */\nstatic const char p[] = "goto";\n')
        self.assertNotIn("goto", self.source().stdout)

    def test_exit(self):
        self.append("src/plan.c", "static void planted(void)\n{\n\texit(1);\n}\n")
        self.bad(self.source(), r"plan\.c: \d+: exit")

    def test_a_module_without_a_test(self):
        shutil.copy(self.src / "bdf.c", self.src / "planted.c")
        self.bad(self.source(), r"planted\.c: has no tests/test-planted\.c", "never built")

    def test_a_test_that_never_runs(self):
        (self.tree / "tests/test-planted.c").write_text(
            "/* SPDX-License-Identifier: LGPL-2.1-or-later */\n")
        self.bad(self.source(), r"test-planted\.c: not in tests/meson\.build")

    def test_the_path_of_numvfs(self):
        self.append("src/agent.c", 'static const char path[] = "sriov_numvfs";\n')
        self.bad(self.source(), r'agent\.c: names "sriov_numvfs"')

    def test_a_write_of_numvfs_outside_the_lane(self):
        self.append("src/hotpath.c", "int planted(struct sysfs *s, int fd, const char *n)\n"
                    "{\n\treturn sysfs_write_pf(s, fd, SYSFS_PF_NUMVFS, n);\n}\n")
        self.bad(self.source(), r"hotpath\.c: writes SYSFS_PF_NUMVFS")

    def test_a_zero_to_numvfs(self):
        self.append("src/worker.c", "int planted(struct sysfs *s, int fd)\n"
                    '{\n\treturn sysfs_write_pf(s, fd, SYSFS_PF_NUMVFS, "0");\n}\n')
        self.bad(self.source(), r"worker\.c: writes 0 to sriov_numvfs")

    def test_the_assertion_against_a_zero(self):
        self.edit("src/sysfs.c", r"\tassert\(node != SYSFS_PF_NUMVFS [^;]*;\n", "")
        self.bad(self.source(), r"sysfs\.c: .*no longer asserts")

    def test_a_zero_at_run_time(self):
        main = self.tree / "main.c"
        main.write_text('#include <signal.h>\n#include "sysfs.h"\nint main(int n, char *v[])\n'
                        "{\n\tstruct tally t = { 0 };\n\tstruct sysfs s = { .tally = &t };\n"
                        "\treturn sysfs_write_pf(&s, -1, SYSFS_PF_NUMVFS, v[n - 1]) != -EBADF;\n}\n")
        binary = self.tree / "main"
        self.good(run(*COMPILER, *WARNINGS, "-I", self.src, main, self.src / "sysfs.c",
                      self.src / "bdf.c", "-o", binary))
        self.assertEqual(run(binary, "7").returncode, 0)
        for zero in ("0", "00", "", " 0", "-1"):
            self.assertEqual(run(binary, zero).returncode, -signal.SIGABRT, repr(zero))


@unittest.skipUnless(shutil.which("clang-format"), "clang-format is missing")
class Format(Planted):
    """tests/check-format"""

    def test_a_badly_formatted_file(self):
        planted = self.src / "bdf.c"
        for path in [*self.src.glob("*"), *self.tree.glob("include/*"), *self.tree.glob("tests/*.[ch]")]:
            path.unlink()
        planted.write_text("int planted(void)\n{\n\treturn 0;\n}\n")
        self.good(run(ROOT / "tests/check-format", self.tree))
        planted.write_text("int planted(void) {\n    return 0;\n}\n")
        self.bad(run(ROOT / "tests/check-format", self.tree), r"bdf\.c:1")


class Wrapper(Planted):
    """tests/no-readdir.c"""

    def test_a_directory_read_is_the_end(self):
        self.good(run(NO_READDIR, "/bin/cat", "/etc/hostname"))
        self.assertEqual(run(NO_READDIR, "/bin/ls", "/").returncode, -signal.SIGSYS)

    def test_also_in_a_child(self):
        self.assertEqual(run(NO_READDIR, "/bin/sh", "-c", "/bin/ls /; exit $?").returncode,
                         128 + signal.SIGSYS)

    def test_also_in_a_thread(self):
        text = ("#include <dirent.h>\n#include <pthread.h>\nstatic void *f(void *p)\n"
                '{\n\tDIR *d = opendir("/");\n\treturn d ? (void *) readdir(d) : p;\n}\n'
                "int main(void)\n{\n\tpthread_t t;\n\treturn pthread_create(&t, 0, f, 0) || "
                "pthread_join(t, 0);\n}\n")
        binary = self.tree / "thread"
        self.good(self.compile_text(text, "-pthread", "-o", binary, hot=False))
        self.good(run(binary))
        self.assertEqual(run(NO_READDIR, binary).returncode, -signal.SIGSYS)

    def test_no_exec(self):
        script = "/bin/true; exit $?"
        self.good(run(NO_READDIR, "/bin/sh", "-c", script))
        self.assertEqual(run(NO_READDIR, "--no-exec", "/bin/sh", "-c", script).returncode,
                         128 + signal.SIGSYS)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
