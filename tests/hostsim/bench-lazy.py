#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a lazy sysfs makes for those who bind VFs, and what locks cost.

    bench-lazy.py HOSTSIM VF_RESTORE [TABLE...]     tables: nodes, cost, locks

Exit code 1 when vf-restore does not keep to its numbers: 1.0 nodes a VF by override and 0.0 by id,
whatever the number of VFs; as many operations a VF at 5000 as at 500; no longer than what the locks
make necessary. driverctl and dpdk-devbind.py (on PATH, or where $DPDK_DEVBIND says) are asked for
500 VFs only, for they take long.
"""
import json
import os
import resource
import shutil
import subprocess
import sys

from host import (COMM, VFIO, all_vfs, capture, create, ctl, devices, lose, node, pfs, restore,
                  run_inside, write)

SIZES = 500, 1000, 2500, 5000
A_PF = 250
ROUNDS = 3
DEVBIND = os.environ.get('DPDK_DEVBIND') or shutil.which('dpdk-devbind.py')

# Enabling as in the figures of the bulk-registration series (FACTS 8): 3027 ms for 4 x 255 VFs,
# of which 100 ms a PF are a sleep. Binding: 4 ms in QEMU TCG, so some 0.1 ms natively; FUSE comes
# on top of that.
LOCKS = {
    'today': 'numvfs lock=rescan ms=100 per-vf-ms=2.6\nbind lock=bind ms=0.1\n',
    'parallel': 'numvfs lock=pf ms=100 per-vf-ms=2.6\nbind lock=pf ms=0.1\n',
}


# -- inside: each prints one line of JSON --

def ours(strategy, rounds='1'):
    """Nodes and operations of a restore, and the least CPU time of `rounds`."""
    for pf in pfs():
        create(pf)
    capture()
    cpu = []
    for _ in range(int(rounds)):
        lose()
        ctl('reset')
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = restore('--strategy', strategy, trace=None, watched=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    report = json.loads(ctl('report'))
    counts = report['commands'][COMM]
    assert run.ready() == report['vfs'] and counts['vfReaddirs'] == 0, run
    return {**report, 'vfNodes': counts['vfNodes'], 'cpu': min(cpu),
            'operations': sum(counts[x] for x in ('lookups', 'opens', 'reads', 'writes',
                                                  'readlinks', 'readdirs'))}


SHELL = '''
for vf in /sys/bus/pci/devices/%s/virtfn*; do
	name=$(basename "$(readlink "$vf")")
	[ -e "/sys/bus/pci/devices/$name/driver" ] && echo "$name" >"/sys/bus/pci/devices/$name/driver/unbind"
	echo vfio-pci >"/sys/bus/pci/devices/$name/driver_override"
	echo "$name" >/sys/bus/pci/drivers_probe
done'''


def by_shell(vfs):
    for pf in pfs():
        subprocess.run(['sh', '-c', SHELL % pf], check=True)


def by_driverctl(vfs):
    for vf in vfs:
        subprocess.run(['driverctl', '--nosave', 'set-override', vf, 'vfio-pci'], check=True)


def by_devbind(vfs):
    subprocess.run([sys.executable, DEVBIND, '-b', 'vfio-pci', *vfs], check=True,
                   stdout=subprocess.DEVNULL)


def peer(name):
    for pf in pfs():
        create(pf, name=None)
    vfs = all_vfs()
    ctl('reset')
    {'shell': by_shell, 'driverctl': by_driverctl, 'dpdk-devbind': by_devbind}[name](vfs)
    report, now = json.loads(ctl('report')), devices()
    assert all(now[vf][0] == 'vfio-pci' for vf in vfs)
    return report


def locks(model, strategy, workers):
    """Milliseconds of HOT and of its longest step that enables, the least of some rounds."""
    for pf in pfs():
        create(pf)
    capture()
    with open('/run/costs', 'w') as f:
        f.write(LOCKS[model])
    ctl('costs', '/run/costs')
    hot, enabling = [], []
    for _ in range(ROUNDS):
        lose()
        record = restore('--strategy', strategy, trace=None, watched=False,
                         settings='Workers=%s\n' % workers).record
        hot.append((record['overNs'] - record['hotNs']) / 1e6)
        enabling.append(max((s['doneNs'] - s['begunNs']) / 1e6 for s in all_steps(record)
                            if s['name'] == 'enable'))
    return {'hot': min(hot), 'enabling': min(enabling)}


def all_steps(record):
    return [s for p in record['physicalFunctions'] for s in p['steps']]


# -- outside --

class Bench:
    def __init__(self, hostsim, program):
        self.hostsim, self.program, self.broken = hostsim, program, []

    def ask(self, host, *what):
        code, output = run_inside(self.hostsim, host, __file__, *what, timeout=900,
                                  VF_RESTORE=self.program)
        assert code == 0, output
        return json.loads(output.strip().split('\n')[-1])

    def expect(self, holds, text):
        if not holds:
            self.broken.append(text)

    def nodes(self):
        print('Nodes inside of VF directories, a VF and in total, and the time for all devices with\n'
              'them, by the prices of the lazy-sysfs proposal (5.38 us a device, 0.374 us a node).\n'
              'eager: all are made, whoever asks.\n')
        columns = ['eager', 'ours(override)', 'ours(id)', 'shell', 'driverctl', 'dpdk-devbind']
        print('%5s' % 'VFs' + ''.join('%26s' % c for c in columns))
        for n in SIZES:
            host = ['--cdev', '--pf', 'nvme:%d*%d' % (A_PF, n // A_PF)]
            override, by_id = self.ask(host, 'ours', 'override'), self.ask(host, 'ours', 'id')
            row = [self.cell(override, 'eager'), self.cell(override), self.cell(by_id),
                   self.cell(self.ask(host, 'peer', 'shell'))]
            row += [self.slow_peer(n, 'driverctl', host), self.slow_peer(n, 'dpdk-devbind', [
                '--cdev', '--pf', 'ice:%d*%d' % (A_PF, n // A_PF)])]
            print('%5d' % n + ''.join('%26s' % c for c in row), flush=True)
            self.expect(override['vfNodes'] == n, '%d VFs by override: not 1.0 nodes a VF' % n)
            self.expect(by_id['vfNodes'] == 0, '%d VFs by id: not 0.0 nodes a VF' % n)

    def slow_peer(self, n, name, host):
        there = shutil.which('driverctl') if name == 'driverctl' else DEVBIND
        if n > SIZES[0] or not there:
            return '-'
        return self.cell(self.ask(['--fake-modprobe', *host], 'peer', name))

    @staticmethod
    def cell(report, kind='lazy'):
        nodes = report['eagerNodes'] if kind == 'eager' else report['vfNodes']
        ms = (report['vfs'] * 5380 + nodes * 374) / 1e6
        return '%.1f %7d %6.1f ms' % (nodes / report['vfs'], nodes, ms)

    def cost(self):
        print('Cost of a restore, a VF: operations that reach the kernel, and CPU time (user and\n'
              'system, least of %d runs, start of the program included).\n' % ROUNDS)
        print('%5s%30s%30s' % ('VFs', 'override', 'id'))
        first = {}
        for n in SIZES:
            line = '%5d' % n
            for strategy in 'override', 'id':
                r = self.ask(['--cdev', '--pf', 'nvme:%d*%d' % (A_PF, n // A_PF)], 'ours',
                             strategy, str(ROUNDS))
                operations, cpu = r['operations'] / n, r['cpu'] / n * 1e6
                line += '%11.3f ops %11.1f us' % (operations, cpu)
                base = first.setdefault(strategy, (operations, cpu))
                self.expect(operations <= 1.1 * base[0], '%d VFs by %s: %.2f times the operations '
                            'of %d' % (n, strategy, operations / base[0], SIZES[0]))
                self.expect(cpu <= 1.1 * base[1] + 5, '%d VFs by %s: %.2f times the CPU time of %d'
                            % (n, strategy, cpu / base[1], SIZES[0]))
            print(line, flush=True)

    def locks(self):
        print('4 PFs with 127 VFs each, ms from the first step to the last VF, least of %d runs.\n'
              'serial: one PF after the other (Workers=1). today: one lock for all that enable, and\n'
              'one for all that bind; parallel: one a PF. By id NVMe VFs are bound as they are made.\n'
              % ROUNDS)
        print('%-9s %-9s %10s %15s %9s %9s' % ('locks', 'strategy', 'one alone', 'of it enabling',
                                              'serial', 'ours'))
        for model in LOCKS:
            for strategy in 'override', 'id':
                one = self.ask(['--cdev', '--pf', 'nvme:127'], 'locks', model, strategy, '16')
                host = ['--cdev', '--pf', 'nvme:127*4']
                serial = self.ask(host, 'locks', model, strategy, '1')
                all_four = self.ask(host, 'locks', model, strategy, '16')
                base, most, what = (4 * one['enabling'], 1.05, 'the sum of enabling')
                if model == 'parallel':
                    base, most, what = one['hot'], 1.1, 'the slowest PF'
                ratio = all_four['hot'] / base
                print('%-9s %-9s %10.0f %15.0f %9.0f %9.0f   %.3f x %s' % (
                    model, strategy, one['hot'], one['enabling'], serial['hot'], all_four['hot'],
                    ratio, what), flush=True)
                self.expect(ratio <= most, '%s locks, %s: %.3f x %s' % (model, strategy, ratio, what))


def main():
    if sys.argv[1] == '--inside':
        print(json.dumps({'ours': ours, 'peer': peer, 'locks': locks}[sys.argv[2]](*sys.argv[3:])))
        return 0
    bench = Bench(*sys.argv[1:3])
    for i, table in enumerate(sys.argv[3:] or ['nodes', 'cost', 'locks']):
        print('\n' if i else '', end='')
        getattr(bench, table)()
    for text in bench.broken:
        print('BROKEN: ' + text)
    return 1 if bench.broken else 0


if __name__ == '__main__':
    sys.exit(main())
