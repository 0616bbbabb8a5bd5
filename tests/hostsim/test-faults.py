#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every fault at every step.  test-faults.py HOSTSIM VF_RESTORE [HOST...]

On hosts of 2 PFs with 4 VFs each and 2 owners: each operation by which a restore reaches the host
fails with each errno, hangs, or kills the program; then the fault is lifted and vf-restore runs
again. One injection by hand:

    test-faults.py HOSTSIM VF_RESTORE --one HOST 'write:/sys/bus/pci/drivers/vfio-pci/bind:3=EIO'
"""
import argparse
import collections
import concurrent.futures
import fcntl
import json
import os
import re
import subprocess
import sys
import tempfile

from host import (JOURNAL, VFIO, autoprobe, capture, create, ctl, devices, eventually, lose, node,
                  rebind, run_inside, start, vfs, write)

# kill-after is another thing than the kill at the next operation for writes only
ERRNOS = ['EIO', 'ENOMEM', 'ENOSPC', 'EBUSY', 'EAGAIN', 'ENODEV', 'ENOENT', 'EACCES', 'EINTR']
ACTIONS = ERRNOS + ['hang', 'kill', 'kill-after']
AT_ONCE = 200  # injections on one simulated host
JOBS = 3
A, B = '0000:01:00.0', '0000:02:00.0'
A_PATH, B_PATH = ('/sys/devices/pci0000:00/0000:00:0%d.0/%s' % x for x in ((1, A), (2, B)))
IDS = '1b36 0010', '8086 10ca'
OLD = 'old_vfio'  # what one VF is bound to by mistake where A is warm

# name -> options of the host, strategy, A's VFs are there: two right, one unbound, one with OLD.
# Any two of the three properties meet.
HOSTS = {
    'override cdev': (['--cdev'], 'override', False),
    'id group': (['--group'], 'auto', False),
    'warm override group': (['--group'], 'override', True),
    'warm id cdev': (['--cdev'], 'auto', True),
}
PFS = ['--pf', 'nvme:4', '--pf', 'igb:4', '--driver', OLD + ',vfio']

# What is known not to be as it should: of the specification and of the complaint. Not counted as
# failures, but told; an entry that never applies any more has to go.
KNOWN = [
    (r'/dev/vfio/.*=hang|/iommu_group:.*=hang|/vfio-dev/.*=hang', 'does not end',
     'the loop itself opens nodes, reads the links to groups and searches VFIO devices'),
    (r'/bind:.*=EBUSY', 'lacks by vf-gone', 'EBUSY of a probe: looked for a wrong driver'),
]

# What an errno is to be called where it came from: by the operation and the file; None: any other
GENERAL = {'EIO': 'input-output', 'ENOMEM': 'no-memory', 'EACCES': 'not-permitted',
           'hang': 'stuck'}


def gone(cause, otherwise='input-output', **more):
    """ENOENT and ENODEV: what the path names is no longer there."""
    return {'ENOENT': cause, 'ENODEV': cause, None: otherwise, **more}


CAUSES = [
    (r'write .*/sriov_numvfs', {'ENOMEM': 'no-mmio', 'ENOSPC': 'no-vectors',
                                'EBUSY': 'number-differs', 'ENODEV': 'pf-absent',
                                'ENOENT': 'pf-no-driver', None: 'refused-by-pf-driver'}),
    (r'open .*/sriov_numvfs', {}),  # for reading or for writing?
    (r'.*/(sriov_\w+|modalias|serial_number|0000:0[12]:00\.0)', gone('pf-absent')),
    (r'.*/0000:0[12]:00\.0/driver', gone('pf-no-driver')),
    (r'write .*/bind', gone('not-bound', 'refused-by-driver', EAGAIN='not-bound',
                            ENOENT='refused-by-driver', EBUSY='wrong-driver')),
    (r'write .*', gone('vf-gone|driver-absent')),
    (r'open .*/(un)?bind', gone('driver-absent|vf-gone')),
    (r'.* /dev/vfio/.*', gone('no-node', EBUSY='held', EACCES='token-needed')),
    (r'.*', gone('not-bound|vf-gone')),
]


def expected_causes(point, fault):
    for pattern, causes in CAUSES:
        if re.fullmatch(pattern, '%s %s' % (point['op'], point['path'])):
            cause = causes.get(fault) or GENERAL.get(fault) or causes.get(None)
            return cause.split('|') if causes else []
    return []


# -- inside --

class Host:
    def __init__(self, name):
        _, self.strategy, self.warm = HOSTS[name]
        create(A), create(B)
        self.one, self.two = vfs(A), vfs(B)
        capture(one=self.one, two=self.two)
        lose(A, B)

    def reset(self):
        if not self.warm:
            lose(A, B)
            return
        lose(B)
        now = devices()
        if self.one[0] not in now:
            create(A)
            now = devices()
        for vf, wanted in zip(self.one, ('vfio-pci', 'vfio-pci', None, OLD)):
            if now[vf][0] != wanted:
                rebind(vf, wanted)

    def run(self, **more):
        quick = more.pop('quick', False)
        settings = ('LaneTimeoutSec=%s\nLaneTimeoutPerVfSec=0\nProofTimeoutSec=%s\n'
                    'LatePfTimeoutSec=200ms\n' % (('1s', '300ms') if quick else ('20s', '2s')))
        return start('--strategy', self.strategy, settings=settings, watched=False, **more)


def ids_left():
    """What is registered with vfio-pci; it is no longer then."""
    return [i for i in IDS if write(VFIO + 'remove_id', i) == 'ok']


def journal_is_free():
    with open(JOURNAL) as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False


def find_points(h):
    """Each system call has one, its last operation. Lookups are that where no open() or readlink()
    follows: of a PF's directory, of what is not there (of the numbers that a search for VFIO
    devices tries, the first)."""
    h.reset()
    run = h.run().finish()
    assert run.code == 0, run
    met, points = collections.Counter(), []
    followed = {t.path for t in run.trace if t.op in ('open', 'readlink')}
    followed |= {os.path.dirname(t.path) for t in run.trace} - {A_PATH, B_PATH}
    for t in run.trace:
        met[t.op, t.path] += 1
        if not (t.op == 'lookup' and (t.path in followed or met[t.op, t.path] > 1)) and \
                not re.fullmatch('.*/vfio([1-9][0-9]+|9)|/sys/bus/pci/devices/.*', t.path):
            points.append({'op': t.op, 'path': t.path, 'k': met[t.op, t.path]})
    return points


class Injection:
    def __init__(self, h, point, action):
        self.h, self.point, self.action = h, point, action
        self.spec = '%(op)s@vf-restore-host:%(path)s:%(k)d=' % point + action
        self.wrong = []

    def check(self, holds, text, *more):
        if not holds:
            self.wrong.append(' '.join([text, *map(str, more)]))

    def carry_out(self):
        """False: the operation was not met; lanes race, and not each run takes the same way."""
        self.h.reset()
        ctl('fault', self.spec)
        process = self.h.run(quick=self.action == 'hang')
        try:
            process.wait(4 if self.action == 'hang' else 60)
        except subprocess.TimeoutExpired:
            self.check(False, 'does not end while it hangs')
        met = 'hit=0' not in ctl('faults')
        ctl('unfault')
        hung = self.action == 'hang' and int(ctl('release'))
        run = process.finish()
        if hung:
            eventually(journal_is_free)
        if met and not self.wrong:
            self.look_at(run)
        self.go_again(run)
        return met

    def target(self, run):
        """What the operation was about: a VF's address, or that of a PF, or ''."""
        same = [t for t in run.trace if (t.op, t.path) == (self.point['op'], self.point['path'])]
        at = self.point['k'] - 1
        text = self.point['path'] + ' ' + (same[at].text or '' if at < len(same) else '')
        names = re.findall('0000:0[12]:[0-9a-f]{2}.[0-7]', text)
        return names[-1] if names else ''

    def look_at(self, run):
        if self.action.startswith('kill'):
            self.check(run.code == 1 and 'killed by signal 9' in run.err, 'killed:', run)
            return
        self.check(run.code in (0, 3) and run.record, 'ends with', run)
        if not run.record:
            return
        lacking, target = run.lacking(), self.target(run)
        self.check((run.code == 3) == bool(lacking), 'exit code', run.code, 'lacking', lacking)
        served = run.ready() + run.record['counts']['held']
        self.check(served == 8 - len(lacking), 'neither served nor lacking:', run.out)
        self.look_at_causes(lacking, target)
        now = devices()
        for vf in self.h.one + self.h.two:
            self.check(vf in lacking or now[vf][0] == 'vfio-pci', vf, 'is said to be ready')
        self.look_at_what_worked(run, now)
        if self.action != 'hang' and self.point['path'].split('/')[-1] != 'sriov_drivers_autoprobe':
            self.check([autoprobe(A), autoprobe(B)] == ['1', '1'], 'autoprobe is left at 0')
        if self.action != 'hang' and 'remove_id' not in self.point['path']:
            self.check(not ids_left(), 'an id is left registered')

    def look_at_causes(self, lacking, target):
        causes = expected_causes(self.point, self.action)
        for vf, (found, error) in lacking.items():
            self.check(found not in (None, 'none'), vf, 'lacks without a cause')
            self.check(not causes or found in causes, vf, 'lacks by', found, 'instead of', causes)
            self.check(error in ('', self.action) or {error, self.action} <= {'ENOENT', 'ENODEV'}, vf,
                       'lacks by', error)
        one, two = set(lacking) & set(self.h.one), set(lacking) & set(self.h.two)
        self.check(not (one and two), 'both owners lack', lacking)
        self.check(not target.startswith('0000:01:') or not two, 'owner two lacks', lacking)
        self.check(not target.startswith('0000:02:') or not one, 'owner one lacks', lacking)
        if target in self.h.one + self.h.two and self.action != 'hang':
            self.check(set(lacking) <= {target}, 'others than', target, 'lack:', lacking)

    def look_at_what_worked(self, run, now):
        if not self.h.warm:
            return
        for vf in self.h.one[:2]:
            touched = [t for t in run.writes if vf in t.path or t.text == vf]
            self.check(now[vf][0] == 'vfio-pci' and not touched, vf, 'worked and was touched')
        vf = self.h.one[3]
        self.check(self.action == 'hang' or now[vf][0], vf, 'had a driver and has none')
        self.check(self.action == 'hang' or now[vf] != (OLD, 'vfio-pci'), vf, 'lost its override')

    def go_again(self, first):
        run, now = self.h.run(trace=None).finish(), devices()
        what = 'the run after it:'
        self.check(run.code == 0 and run.record and run.ready() == 8, what, run, '\nafter', first)
        for vf in self.h.one + self.h.two:
            self.check(now[vf] in (('vfio-pci', 'vfio-pci'), ('vfio-pci', None)), what, vf, now[vf])
        self.check([autoprobe(A), autoprobe(B)] == ['1', '1'], what, 'autoprobe is left at 0')
        # that remove_id says it is not registered is believed
        self.check(not ids_left() or re.search('remove_id.*ENO(DEV|ENT)', self.spec), what,
                   'an id is left registered')
        self.check(os.path.getsize(JOURNAL) == 0, what, 'the journal is not empty')
        for pf in A, B:  # the next injection begins with what it ought to find
            write(node(pf, 'sriov_drivers_autoprobe'), '1')


def inject(h, injections):
    met, wrong, known = 0, [], collections.Counter()
    for point, action in injections:
        i = Injection(h, point, action)
        met += i.carry_out()
        reasons = {why for spec, text, why in KNOWN for w in i.wrong
                   if re.search(spec, i.spec) and re.search(text, w)}
        known.update(reasons)
        if i.wrong and not reasons:
            wrong.append([i.spec, i.wrong])
    return {'met': met, 'wrong': wrong, 'known': known}


def inside(name, what):
    h = Host(name)
    if what == 'points':
        print(json.dumps(find_points(h)))
    else:
        print(json.dumps(inject(h, json.load(open(what)))))


# -- outside --

class Outside:
    def __init__(self, hostsim, program):
        self.hostsim, self.program = hostsim, program

    def ask(self, name, what):
        code, output = run_inside(self.hostsim, PFS + HOSTS[name][0], __file__, name, what,
                                  timeout=600, VF_RESTORE=self.program)
        assert code == 0, output
        return json.loads(output.split('\n')[-2])

    def inject(self, name, injections):
        with tempfile.NamedTemporaryFile('w') as f:
            json.dump(injections, f)
            f.flush()
            return self.ask(name, f.name)


def test(outside, names, verbose, every):
    pool = concurrent.futures.ThreadPoolExecutor(JOBS)
    points = dict(zip(names, pool.map(lambda n: outside.ask(n, 'points'), names)))
    parts, failed, total, known = {}, 0, 0, collections.Counter()
    for n in names:
        all_of_it = [(p, a) for p in points[n] for a in ACTIONS
                     if a != 'kill-after' or p['op'] == 'write'][::every]
        parts[n] = [pool.submit(outside.inject, n, all_of_it[i:i + AT_ONCE])
                    for i in range(0, len(all_of_it), AT_ONCE)]
    print('1..%d' % len(names), flush=True)
    for i, n in enumerate(names, 1):
        results = [p.result() for p in parts[n]]
        met, wrong = sum(r['met'] for r in results), sum((r['wrong'] for r in results), [])
        total += met
        failed += bool(wrong)
        print('%s %d - %s: %d injections at %d operations' %
              ('not ok' if wrong else 'ok', i, n, met, len(points[n])))
        for spec, complaints in wrong:
            lines = '\n'.join(complaints if verbose else [c.split('\n')[0] for c in complaints])
            print('# %s\n#   %s' % (spec, lines.replace('\n', '\n#   ')))
        for r in results:
            known.update(r['known'])
        sys.stdout.flush()
    for why, times in known.items():
        print('# known, %d times: %s' % (times, why))
    print('# %d injections' % total)
    return failed > 0


def one(outside, name, spec):
    op, path, k, action = re.fullmatch(r'(\w+)(?:@[\w-]+)?:(.*):(\d+)=([\w-]+)', spec).groups()
    result = outside.inject(name, [({'op': op, 'path': path, 'k': int(k)}, action)])
    print('\n'.join('\n'.join(w) for _, w in result['wrong']) or result)
    return bool(result['wrong'])


def main():
    if sys.argv[1] == '--inside':
        return inside(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('hostsim')
    parser.add_argument('vf_restore')
    parser.add_argument('hosts', nargs='*', metavar='HOST')
    parser.add_argument('-v', '--verbose', action='store_true', help='the records of what failed')
    parser.add_argument('--every', type=int, default=1, help='each n-th injection only')
    parser.add_argument('--one', nargs=2, metavar=('HOST', 'FAULT'))
    a = parser.parse_args()
    outside = Outside(a.hostsim, a.vf_restore)
    if a.one:
        return one(outside, *a.one)
    return test(outside, a.hosts or list(HOSTS), a.verbose, a.every)


if __name__ == '__main__':
    sys.exit(main())
