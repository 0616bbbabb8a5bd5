# SPDX-License-Identifier: LGPL-2.1-or-later
"""A simulated host from inside, and vf-restore on it: for test-restore.py, test-faults.py and
bench-lazy.py. main() runs tests, each on a host of its own, and says how they went as TAP.
"""
import concurrent.futures
import errno
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time

PCI = '/sys/bus/pci/'
VFIO = PCI + 'drivers/vfio-pci/'
MANIFEST = '/var/lib/vf-restore/manifest.json'
JOURNAL = '/run/vf-restore/journal'
COMM = 'vf-restore-host'  # as the kernel cuts it
PROGRAM, NO_READDIR = (os.environ.get(x) for x in ('VF_RESTORE', 'NO_READDIR'))


def write(path, text):
    """'ok' or the name of the errno."""
    try:
        fd = os.open(path, os.O_WRONLY)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)
        return 'ok'
    except OSError as e:
        return errno.errorcode[e.errno]


def read(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.read(fd, 5000).decode().rstrip('\n')
    finally:
        os.close(fd)


def ctl(*words):
    """The command's answer; see tests/hostsim/run --help."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(os.environ['HOSTSIM_CONTROL'])
        s.sendall('\t'.join(words).encode())
        s.shutdown(socket.SHUT_WR)
        answer = b''.join(iter(lambda: s.recv(65536), b'')).decode()
    assert not answer.startswith('!'), (words, answer)
    return answer


def in_thread(function, *arguments, **more):
    result = []
    t = threading.Thread(target=lambda: result.append(function(*arguments, **more)), daemon=True)
    t.start()
    return t, result


def eventually(what, seconds=10):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, 'does not happen'
        time.sleep(0.005)


# -- PFs and VFs --

def node(bdf, name):
    return PCI + 'devices/%s/%s' % (bdf, name)


def pfs():
    return sorted(d for d in os.listdir(PCI + 'devices') if os.path.exists(node(d, 'sriov_numvfs')))


def vfs(pf):
    n = int(read(node(pf, 'sriov_numvfs')))
    return [os.path.basename(os.readlink(node(pf, 'virtfn%d' % i))) for i in range(n)]


def all_vfs():
    return [v for pf in pfs() for v in vfs(pf)]


def devices():
    """{address: (driver, override)} of all functions, None: has none; without touching the host"""
    found = re.findall(r'^(\S+) (?:vf|pf) driver=(\S+) override=(\S+)', ctl('devices'), re.M)
    return {d: tuple(None if x == '-' else x for x in more) for d, *more in found}


def driver(bdf):
    try:
        return os.path.basename(os.readlink(node(bdf, 'driver')))
    except OSError:
        return None


def override(bdf):
    return read(node(bdf, 'driver_override'))


def autoprobe(pf):
    return read(node(pf, 'sriov_drivers_autoprobe'))


def rebind(bdf, name):
    """To driver `name`, None: to none, and without an override."""
    if driver(bdf):
        assert write(node(bdf, 'driver/unbind'), bdf) == 'ok'
    assert write(node(bdf, 'driver_override'), name or '\n') == 'ok'
    if name:
        assert write(PCI + 'drivers/%s/bind' % name, bdf) == 'ok'


def create(pf, n=None, name='vfio-pci'):
    was = autoprobe(pf)
    write(node(pf, 'sriov_drivers_autoprobe'), '0')
    assert write(node(pf, 'sriov_numvfs'), str(n or read(node(pf, 'sriov_totalvfs')))) == 'ok'
    write(node(pf, 'sriov_drivers_autoprobe'), was)
    if name:
        for vf in vfs(pf):
            rebind(vf, name)


def lose(*which):
    """As a kexec does; a test may, vf-restore never does."""
    for pf in which or pfs():
        assert write(node(pf, 'sriov_numvfs'), '0') == 'ok'


def ids_left():
    """The ids of this host that are registered with vfio-pci, found by taking them away."""
    ids = {(read(node(pf, 'vendor'))[2:], read(node(pf, 'sriov_vf_device'))) for pf in pfs()}
    return [i for i in sorted(ids) if write(VFIO + 'remove_id', '%s %s' % i) == 'ok']


# -- vf-restore --

class Traced:
    """An operation of vf-restore that reached the host."""
    form = re.compile(r'\d+ (\w+) %s\[\d+\] ([^"]*?)(?: "(.*)")?$' % re.escape(COMM))

    def __init__(self, match):
        self.op, self.path, self.text = match.groups()
        self.file = os.path.basename(self.path)

    def __repr__(self):
        return '%s %s %s' % (self.op, self.path, self.text or '')


def traced(path):
    matches = (Traced.form.match(line.rstrip('\n')) for line in open(path))
    return [Traced(m) for m in matches if m]


class Run:
    def __init__(self, process, begun, trace):
        out, self.err = process.communicate(timeout=60)
        self.seconds = time.monotonic() - begun
        self.code = process.returncode
        self.out = out
        self.record = json.loads(out) if out.startswith('{') else None
        self.trace = traced(trace) if trace else []
        self.writes = [t for t in self.trace if t.op == 'write']
        assert not [t for t in self.writes if t.file == 'sriov_numvfs' and t.text == '0']

    def __repr__(self):
        return 'exit code %d\n%s\n%s' % (self.code, self.err, self.out)

    def ready(self):
        return self.record['counts']['ready']

    def lane(self, pf):
        return [p for p in self.record['physicalFunctions'] if p['address'] == pf][0]

    def owner(self, name):
        return [o for o in self.record['owners'] if o['name'] == name][0]

    def owner_ms(self, name):
        """From the begin of HOT until it had all of its VFs."""
        return (self.owner(name)['readyNs'] - self.record['hotNs']) / 1e6

    def lacking(self):
        """{address: (cause, name of the errno or '')}"""
        return {v['address']: (v['cause'], errno.errorcode.get(v.get('error'), ''))
                for p in self.record['physicalFunctions'] for v in p['virtualFunctions']
                if v['state'] == 'lacks'}


def capture(**owners):
    """Writes the manifest and returns it. Owners: name=[address, ...]"""
    words = [PROGRAM, 'capture']
    for name, addresses in owners.items():
        words += ['--owner', '%s=%s' % (name, ','.join(addresses))]
    r = subprocess.run(words, capture_output=True, text=True)
    assert r.returncode == 0, r
    return json.load(open(MANIFEST))


def change_manifest(manifest):
    """As by hand, so without a checksum: restore with --unsealed."""
    os.unlink(MANIFEST + '.xxh128')
    with open(MANIFEST, 'w') as f:
        f.write(json.dumps(manifest) + '\n')


def start(*options, settings='', watched=True, report='--json', trace='/run/trace'):
    """Settings are lines of [Restore]. watched: dies when it reads a directory or executes."""
    with open('/run/conf', 'w') as f:
        f.write('[Restore]\nLoadModules=no\n' + settings)
    if trace:
        ctl('trace', trace)
    wrap = [NO_READDIR, '--no-exec'] if watched else []
    command = [*wrap, PROGRAM, 'restore', '--config', '/run/conf', report, *options]
    begun = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.finish = lambda: Run(process, begun, trace)
    return process


def restore(*options, expect=0, **more):
    run = start(*options, **more).finish()
    assert run.code == expect, run
    return run


# -- tests --

TESTS = {}


class Test:
    def __init__(self, body, options, alone, todo):
        self.body, self.options, self.alone, self.todo = body, options, alone, todo


def host(*options, alone=False, todo=None):
    """The test's host. alone: it takes times, so no other runs beside it. todo: why it fails."""
    def add(body):
        TESTS[body.__name__.replace('_', ' ')] = Test(body, options, alone, todo)
        return body
    return add


def run_inside(hostsim, options, script, *arguments, timeout=100, **environment):
    """On a host with these options; (exit code, output)."""
    try:
        r = subprocess.run([hostsim, '--quiet', *options, '--', sys.executable, script, '--inside',
                            *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, timeout=timeout, env={**os.environ, **environment})
    except subprocess.TimeoutExpired as e:
        return 124, str(e)
    return r.returncode, r.stdout


def main(script, names, jobs=2):
    """Arguments: HOSTSIM VF_RESTORE NO_READDIR [NAME...]"""
    if names[0] == '--inside':
        return TESTS[names[1]].body()
    hostsim, program, no_readdir, *names = names
    chosen = {n: t for n, t in TESTS.items() if not names or n in names}
    failed = 0

    def run(name):
        return run_inside(hostsim, TESTS[name].options, script, name, VF_RESTORE=program,
                          NO_READDIR=no_readdir)
    print('1..%d' % len(chosen), flush=True)
    pool = concurrent.futures.ThreadPoolExecutor(jobs)
    beside = {n: pool.submit(run, n) for n, t in chosen.items() if not t.alone}
    concurrent.futures.wait(beside.values())
    for i, (name, test) in enumerate(chosen.items(), 1):
        code, output = beside[name].result() if name in beside else run(name)
        print('%s %d - %s%s' % ('not ok' if code else 'ok', i, name,
                                ' # TODO ' + test.todo if test.todo else ''), flush=True)
        if code:
            failed += not test.todo
            print(''.join('# %s\n' % line for line in output.strip().split('\n')), flush=True)
    return failed > 0
