#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long from exec to the first write to sysfs, and how much memory, with 508 VFs.

    tests/bench-start.py HOSTSIM VF_RESTORE_HOSTSIM [ROUNDS]

Natively, on the simulated host: its files answer slower than a kernel's, so the times are upper
bounds. Each round is a cold restore: the VFs are taken away in between.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

PCI = pathlib.Path("/sys/bus/pci/devices")
MANIFEST = "/tmp/bench-start.json"
CONF = "/tmp/bench-start.conf"


def pfs():
    return [p for p in PCI.iterdir() if (p / "sriov_totalvfs").exists()]


def take_vfs_away():
    for pf in pfs():
        (pf / "sriov_numvfs").write_text("0")  # the bench may; vf-restore never does


def first_write(record):
    """End of the first step that writes: autoprobe."""
    return min(step["doneNs"] for pf in record["physicalFunctions"] for step in pf["steps"]
               if step["name"] == "autoprobe")


def inside(program, rounds):
    """Runs in the simulated host."""
    pathlib.Path(CONF).write_text("[Restore]\nLoadModules=no\n")
    for pf in pfs():
        (pf / "sriov_drivers_autoprobe").write_text("0")
        (pf / "sriov_numvfs").write_text((pf / "sriov_totalvfs").read_text().strip())
        (pf / "sriov_drivers_autoprobe").write_text("1")
    for vf in PCI.iterdir():
        if (vf / "physfn").exists():
            (vf / "driver_override").write_text("vfio-pci")
            pathlib.Path("/sys/bus/pci/drivers/vfio-pci/bind").write_text(vf.name)
    subprocess.run([program, "capture", "-o", MANIFEST], check=True, stdout=subprocess.DEVNULL)
    starts, whole, rss = [], [], []
    for _ in range(rounds):
        take_vfs_away()
        begun = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        out = subprocess.run([program, "restore", "--manifest", MANIFEST, "--config", CONF,
                              "--json"], check=True, stdout=subprocess.PIPE)
        record = json.loads(out.stdout)
        starts.append((first_write(record) - begun) / 1e6)
        whole.append((record["overNs"] - begun) / 1e6)
        rss.append(record["maxRssKib"])
    print(f"{rounds} runs, {record['counts']['ready']} VFs ready in each")
    print(f"exec to first write: median {statistics.median(starts):.2f} ms, least {min(starts):.2f}")
    print(f"exec to last VF ready: median {statistics.median(whole):.2f} ms (simulated host)")
    print(f"peak resident memory: {max(rss)} KiB")
    return 0 if max(rss) < 6144 else 1


def main():
    if sys.argv[1] == "--inside":
        return inside(sys.argv[2], int(sys.argv[3]))
    hostsim, program = sys.argv[1:3]
    rounds = sys.argv[3] if len(sys.argv) > 3 else "31"
    run = pathlib.Path(__file__).parent / "hostsim/run"
    return subprocess.run([run, "--pf", "nvme:127*4", "--cdev", "--report", "/dev/null", "--",
                           sys.executable, __file__, "--inside", os.path.abspath(program), rounds],
                          env={**os.environ, "HOSTSIM": os.path.abspath(hostsim)}).returncode


sys.exit(main())
