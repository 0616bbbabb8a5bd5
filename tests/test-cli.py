#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command line of the built vf-restore: usage, exit codes, forms of output.

    tests/test-cli.py VF_RESTORE

What needs a kernel with VFs is tested elsewhere (hostsim, vm); here nothing is changed.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

TESTS = pathlib.Path(__file__).resolve().parent
RECORD = TESTS / "corpus/record/partly.json"
MAN = TESTS.parent / "man/vf-restore.1.scd"
COMMANDS = ["capture", "plan", "restore", "timeline"]
DONE, FAILED, USAGE, REFUSED = 0, 1, 2, 5
PROGRAM = ""


def run(*args, **more):
    return subprocess.run([PROGRAM, *map(str, args)], stdin=subprocess.DEVNULL,
                          stdout=more.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE,
                          text=True, timeout=60, check=False, **more)


class Cli(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = pathlib.Path(self.directory.name)

    def assert_run(self, code, *args, **more):
        done = run(*args, **more)
        self.assertEqual(done.returncode, code, done.stderr)
        if code != DONE:
            self.assertNotEqual(done.stderr, "")
        return done

    def manifest(self, change=lambda manifest: None, name="example"):
        """A manifest of this machine."""
        manifest = json.loads((TESTS / f"data/manifest/good/{name}.json").read_text("utf-8"))
        machine = pathlib.Path("/etc/machine-id")
        if machine.exists():
            manifest["machineId"] = machine.read_text("ascii").strip()
        change(manifest)
        path = self.path / "manifest.json"
        path.write_text(json.dumps(manifest) + "\n", "utf-8")
        return path


class Usage(Cli):
    def test_no_command_is_a_usage_error_with_help(self):
        done = self.assert_run(USAGE)
        self.assertIn("Usage: vf-restore COMMAND", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_help_goes_to_stdout(self):
        for args in [["--help"], ["-h"], *[[command, "--help"] for command in COMMANDS]]:
            done = self.assert_run(DONE, *args)
            self.assertIn("Usage: vf-restore", done.stdout)
            self.assertEqual(done.stderr, "")
            self.assertLessEqual(max(map(len, done.stdout.splitlines())), 92)

    def test_help_names_every_command(self):
        done = self.assert_run(DONE, "--help")
        for command in COMMANDS:
            self.assertRegex(done.stdout, rf"(?m)^  {command} ")

    def test_the_man_page_has_every_option(self):
        man = MAN.read_text("utf-8").replace("\\", "")
        for command in COMMANDS:
            self.assertIn(f"vf-restore {command}", man.replace("*", ""))
            for option in re.findall(r"--[a-z][a-z-]+", run(command, "--help").stdout):
                self.assertIn(option, man)

    def test_version(self):
        self.assertRegex(self.assert_run(DONE, "--version").stdout, r"^vf-restore \d+\.\d+")

    def test_an_unknown_command_gets_a_suggestion(self):
        for wrong, meant in [("plna", "plan"), ("restor", "restore"), ("time", "timeline"),
                             ("Capture", "capture")]:
            done = self.assert_run(USAGE, wrong)
            self.assertIn(f"did you mean '{meant}'?", done.stderr)
        for wrong in ["xyzzy", "", "r" * 300]:
            self.assertNotIn("did you mean", self.assert_run(USAGE, wrong).stderr)

    def test_an_unknown_option_is_a_usage_error(self):
        self.assert_run(USAGE, "--nonsense")
        for command in COMMANDS:
            done = self.assert_run(USAGE, command, "--nonsense")
            self.assertTrue(done.stderr.startswith("vf-restore"), done.stderr)

    def test_an_argument_too_many_is_a_usage_error(self):
        for command in COMMANDS:
            self.assertIn("surplus", self.assert_run(USAGE, command, "surplus").stderr)

    def test_a_missing_value_is_a_usage_error(self):
        for args in [["plan", "--manifest"], ["restore", "--config"], ["timeline", "--record"],
                     ["capture", "--output"], ["plan", "--strategy"]]:
            self.assert_run(USAGE, *args)

    def test_an_unknown_strategy_is_a_usage_error(self):
        for command in ["plan", "restore"]:
            done = self.assert_run(USAGE, command, "--strategy", "magic")
            self.assertIn("expected auto, override or id", done.stderr)

    def test_an_answer_that_does_not_arrive_is_a_failure(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            for args in [["--help"], ["plan", "--help"], ["timeline", "--record", RECORD]]:
                done = self.assert_run(FAILED, *args, stdout=full)
                self.assertIn("No space left", done.stderr)


class Plan(Cli):
    def test_text_has_every_pf_and_the_price(self):
        done = self.assert_run(DONE, "plan", "--unsealed", "--manifest", self.manifest())
        for pf in json.loads(self.manifest().read_text("utf-8"))["physicalFunctions"]:
            if pf["numVfs"]:
                self.assertIn(pf["address"], done.stdout)
        self.assertIn("Price of the whole", done.stdout)

    def test_json_is_json(self):
        done = self.assert_run(DONE, "plan", "--unsealed", "--json", "--manifest", self.manifest())
        plan = json.loads(done.stdout)
        self.assertEqual(plan["format"], "vf-restore-plan")
        self.assertEqual(plan["version"], 1)
        lanes = plan["physicalFunctions"]
        self.assertEqual(plan["vfs"], sum(len(lane["virtualFunctions"]) for lane in lanes))
        for sum_ in ["vfNodes", "writes", "opens"]:
            self.assertEqual(plan["price"][sum_], sum(lane["price"][sum_] for lane in lanes))

    def test_override_touches_a_node_a_vf(self):
        done = self.assert_run(DONE, "plan", "--unsealed", "--json", "--strategy", "override",
                               "--manifest", self.manifest())
        plan = json.loads(done.stdout)
        bound = sum(len(step["virtualFunctions"]) for lane in plan["physicalFunctions"]
                    for step in lane["steps"] if step["name"] == "bind-override")
        self.assertEqual(plan["price"]["vfNodes"], bound)

    def test_an_absent_manifest_is_a_failure_that_names_it(self):
        for command in ["plan", "restore"]:
            done = self.assert_run(FAILED, command, "--manifest", self.path / "none.json")
            self.assertIn("none.json", done.stderr)

    def test_an_unsealed_manifest_is_refused(self):
        for command in ["plan", "restore"]:
            self.assert_run(REFUSED, command, "--manifest", self.manifest())

    def test_another_machines_manifest_is_refused(self):
        if not pathlib.Path("/etc/machine-id").exists():
            self.skipTest("no /etc/machine-id")
        path = self.manifest(lambda manifest: manifest.update(machineId="0" * 31 + "1"))
        for command in ["plan", "restore"]:
            done = self.assert_run(REFUSED, command, "--unsealed", "--manifest", path)
            self.assertIn("machineId", done.stderr)

    def test_a_wrong_setting_is_refused(self):
        config = self.path / "wrong.conf"
        config.write_text("[Restore]\nWorkers=none\n", "ascii")
        for command in ["plan", "restore"]:
            done = self.assert_run(REFUSED, command, "--config", config, "--unsealed",
                                   "--manifest", self.manifest())
            self.assertIn("wrong.conf", done.stderr)

    def test_id_without_a_proof_is_refused(self):
        def unproven(manifest):
            for pf in manifest["physicalFunctions"]:
                pf["vfIdIsOurs"] = False
        done = self.assert_run(REFUSED, "plan", "--unsealed", "--strategy", "id", "--manifest",
                               self.manifest(unproven))
        self.assertIn("use auto or override", done.stderr)

    def test_it_looks_at_no_device_and_changes_nothing(self):
        strace = shutil.which("strace")
        if not strace:
            self.skipTest("no strace")
        trace, path = self.path / "trace", self.manifest()
        command = [strace, "-f", "-e", "trace=%file,%network", "-o", trace, PROGRAM, "plan",
                   "--unsealed", "--manifest", path]
        done = subprocess.run(command, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"},
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60,
                              text=True, check=False)
        if "ptrace" in done.stderr:
            self.skipTest("no ptrace here")
        self.assertEqual(done.returncode, DONE, done.stderr)
        for line in trace.read_text("utf-8", "replace").splitlines():
            if ".gcda" in line:
                continue  # the coverage build writes down what was run
            self.assertNotRegex(line, r'"/sys|"/dev/vfio|O_WRONLY|O_RDWR|O_CREAT|socket\(')


class Timeline(Cli):
    def test_a_chart_has_a_line_a_pf(self):
        done = self.assert_run(DONE, "timeline", "--record", RECORD)
        for lane in json.loads(RECORD.read_text("utf-8"))["physicalFunctions"]:
            self.assertRegex(done.stdout, rf"(?m)^{lane['address']} +\d+/\d+ ")
        self.assertNotIn("\033", done.stdout)

    def test_the_locale_says_which_characters(self):
        for locale, shade in [("C", "EEEE"), ("C.UTF-8", "▒▒▒▒")]:
            env = {**os.environ, "LC_ALL": locale}
            done = subprocess.run([PROGRAM, "timeline", "--record", RECORD], env=env,
                                  capture_output=True, timeout=60, check=True)
            self.assertIn(shade, done.stdout.decode("utf-8"))

    def test_steps_are_more_lines(self):
        few = self.assert_run(DONE, "timeline", "--record", RECORD).stdout
        many = self.assert_run(DONE, "timeline", "--record", RECORD, "--steps").stdout
        steps = sum(len(lane["steps"])
                    for lane in json.loads(RECORD.read_text("utf-8"))["physicalFunctions"])
        self.assertEqual(len(many.splitlines()), len(few.splitlines()) + steps)

    def test_svg_is_xml_with_a_bar_a_step_and_a_dot_a_vf(self):
        done = self.assert_run(DONE, "timeline", "--record", RECORD, "--svg")
        root = xml.etree.ElementTree.fromstring(done.stdout.encode("utf-8"))
        space = "{http://www.w3.org/2000/svg}"
        self.assertEqual(root.tag, space + "svg")
        lanes = json.loads(RECORD.read_text("utf-8"))["physicalFunctions"]
        bars = root.findall(f".//{space}g/{space}rect")
        self.assertEqual(len(bars), 3 + sum(len(lane["steps"]) for lane in lanes))
        dots = root.findall(f".//{space}circle/{space}title")
        self.assertEqual(len(dots), sum("readyNs" in vf for lane in lanes
                                        for vf in lane["virtualFunctions"]))

    def test_json_is_the_record(self):
        done = self.assert_run(DONE, "timeline", "--record", RECORD, "--json")
        found, given = json.loads(done.stdout), json.loads(RECORD.read_text("utf-8"))
        for key in ["physicalFunctions", "owners", "tally", "budget", "overNs"]:
            self.assertEqual(found[key], given[key])
        self.assertEqual(found["counts"], {"vfs": 33, "ready": 21, "held": 2, "lacks": 6})

    def test_output_goes_where_it_shall(self):
        path = self.path / "out.svg"
        done = self.assert_run(DONE, "timeline", "--record", RECORD, "--svg", "-o", path)
        self.assertEqual(done.stdout, "")
        self.assertTrue(path.read_text("utf-8").endswith("</svg>\n"))
        done = self.assert_run(FAILED, "timeline", "--record", RECORD, "-o", self.path / "no/dir")
        self.assertIn("no/dir", done.stderr)
        self.assertIn("No space left",
                      self.assert_run(FAILED, "timeline", "--record", RECORD, "-o",
                                      "/dev/full").stderr)

    def test_two_forms_are_a_usage_error(self):
        self.assert_run(USAGE, "timeline", "--svg", "--json")

    def test_an_absent_record_is_a_failure(self):
        done = self.assert_run(FAILED, "timeline", "--record", self.path / "none.json")
        self.assertIn("none.json", done.stderr)

    def test_a_wrong_record_is_refused(self):
        done = self.assert_run(REFUSED, "timeline", "--record",
                               TESTS / "corpus/record/wrong-state.json")
        self.assertIn("virtualFunctions[1].state", done.stderr)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
