#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of the simulated host itself.  test-model.py HOSTSIM CONFORM [NAME...]

Each test names the options of its host; its body runs inside, in a process of its own. The script
conformance.txt is carried out first and its outcome compared with conformance.expected.
"""
import errno, json, os, re, signal, socket, subprocess, sys, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
PCI = '/sys/bus/pci/'
TESTS = {}


def host(*options):
    def add(body):
        TESTS[body.__name__.replace('_', ' ')] = (options, body)
        return body
    return add


def write(path, text):
    """'ok' or the name of the errno."""
    try:
        fd = os.open(path, os.O_WRONLY)
    except OSError as e:
        return 'open ' + errno.errorcode[e.errno]
    try:
        os.write(fd, text.encode())
        return 'ok'
    except OSError as e:
        return errno.errorcode[e.errno]
    finally:
        os.close(fd)


def read(path):
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError as e:
        return 'open ' + errno.errorcode[e.errno]
    try:
        return os.read(fd, 5000).decode().rstrip('\n')
    except OSError as e:
        return errno.errorcode[e.errno]
    finally:
        os.close(fd)


def driver(bdf):
    try:
        return os.path.basename(os.readlink(PCI + 'devices/%s/driver' % bdf))
    except OSError:
        return None


def ctl(*command, fails=False):
    r = subprocess.run([os.environ['HOSTSIM'], 'ctl', *command], capture_output=True, text=True)
    assert (r.returncode != 0) == fails, (command, r)
    return r.stdout


def report():
    return json.loads(ctl('report', '--vfs'))


def eventually(what, seconds=5):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, 'does not happen'
        time.sleep(0.002)


def in_thread(function, *arguments):
    result = []
    t = threading.Thread(target=lambda: result.append(function(*arguments)), daemon=True)
    t.start()
    return t, result


class Uevents:
    def __init__(self, size=8 << 20):
        self.s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 15)
        self.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
        self.s.bind((0, 1))
        self.s.settimeout(0.05)

    def take(self):
        """(action, last component, seqnum) of all until it is quiet"""
        events = []
        while True:
            try:
                message, (pid, _) = self.s.recvfrom(8192)
            except socket.timeout:
                return events
            head, *keys = message.decode().rstrip('\0').split('\0')
            action, path = head.split('@')
            if not path.startswith(('/devices/pci', '/devices/virtual/vfio')):
                continue  # the machine's own, which root sees as well
            assert pid == 0 and keys[0] == 'ACTION=' + action and keys[-1].startswith('SEQNUM=')
            events.append((action, os.path.basename(path), int(keys[-1][7:])))


A, B = '0000:01:00.0', '0000:02:00.0'


def vf(i, bus=1):
    return '0000:%02x:%02x.%x' % (bus, (i + 1) >> 3, (i + 1) & 7)


def numvfs(n, pf=A):
    return write(PCI + 'devices/%s/sriov_numvfs' % pf, str(n))


def autoprobe(n, pf=A):
    return write(PCI + 'devices/%s/sriov_drivers_autoprobe' % pf, str(n))


def override(bdf, name='vfio-pci'):
    return write(PCI + 'devices/%s/driver_override' % bdf, name)


def bind(bdf, name='vfio-pci'):
    return write(PCI + 'drivers/%s/bind' % name, bdf)


@host('--pf', 'nvme:4')
def a_VF_has_63_nodes_and_74_when_bound():
    autoprobe(0), numvfs(2)
    count = lambda: sum(len(d) + len(f) for _, d, f in os.walk(PCI + 'devices/' + vf(0) + '/'))
    assert count() == 63, count()
    assert override(vf(0)) == 'ok' and bind(vf(0)) == 'ok'
    assert count() == 74, count()


@host('--pf', 'nvme:4', '--group')
def group_mode_has_74_nodes_too_but_no_cdev():
    autoprobe(0), numvfs(2), override(vf(0)), bind(vf(0))
    assert sum(len(d) + len(f) for _, d, f in os.walk(PCI + 'devices/' + vf(0) + '/')) == 74
    group = os.path.basename(os.readlink(PCI + 'devices/%s/iommu_group' % vf(0)))
    assert sorted(os.listdir('/dev/vfio')) == sorted([group, 'vfio'])
    assert not os.path.exists('/dev/iommu')


@host('--pf', 'nvme:250*2')
def an_override_costs_one_node_and_an_id_none():
    for pf in A, B:
        d = os.open(PCI + 'devices/' + pf, os.O_PATH)
        autoprobe(0, pf), numvfs(250, pf)
        for i in range(250):
            fd = os.open('../%s/driver_override' % vf(i, 1 if pf == A else 2), os.O_WRONLY, dir_fd=d)
            os.write(fd, b'vfio-pci')
            os.close(fd)
    r = report()
    assert r['vfNodes'] == 500 and r['perVf'] == 1 and r['vfReaddirs'] == 0, r
    assert all(v['nodes'] == 1 for v in r['vfList'].values())
    ctl('reset')
    numvfs(0), numvfs(0, B)
    numvfs(250), numvfs(250, B), autoprobe(1), autoprobe(1, B)
    assert write(PCI + 'drivers/vfio-pci/new_id', '1b36 0010') == 'ok'
    r = report()
    assert r['vfNodes'] == 0 and r['processes'][str(os.getpid())]['writes'] == 7, r
    assert len(os.listdir('/dev/vfio/devices')) == 500


@host('--pf', 'nvme:4')
def a_lookup_makes_a_node_once_and_a_readdir_all():
    autoprobe(0), numvfs(2)
    ctl('reset')
    for _ in range(3):
        read(PCI + 'devices/%s/vendor' % vf(0))
        read(PCI + 'devices/%s/none-such' % vf(0))
    r = report()
    assert r['vfList'][vf(0)] == {'nodes': 1, 'lookups': 6, 'readdirs': 0}, r['vfList']
    os.listdir(PCI + 'devices/' + vf(1))
    assert report()['vfList'][vf(1)] == {'nodes': 37, 'lookups': 0, 'readdirs': 1}
    os.open(PCI + 'devices/' + vf(0), os.O_DIRECTORY)  # not read: no nodes
    assert report()['vfList'][vf(0)]['nodes'] == 1


@host('--pf', 'nvme:4')
def who_did_what_is_told_by_process():
    autoprobe(0), numvfs(2)
    ctl('reset')
    cat = subprocess.Popen(['cat', PCI + 'devices/%s/vendor' % vf(0)], stdout=subprocess.DEVNULL)
    cat.wait()
    t, _ = in_thread(read, PCI + 'devices/%s/device' % vf(0))
    t.join()
    r = report()['processes']
    assert r[str(cat.pid)]['comm'] == 'cat' and r[str(cat.pid)]['vfNodes'] == 1, r
    assert r[str(os.getpid())]['vfNodes'] == 1, r  # a thread counts for its process


@host('--pf', 'nvme:8')
def uevents_come_as_from_the_kernel():
    u = Uevents()
    autoprobe(0), numvfs(1), override(vf(0)), bind(vf(0))
    e = u.take()
    group = os.path.basename(os.readlink(PCI + 'devices/%s/iommu_group' % vf(0)))
    assert [x[:2] for x in e] == [
        ('add', e[0][1]), ('add', vf(0)), ('change', vf(0)), ('change', A), ('add', group),
        ('add', 'vfio0'), ('bind', vf(0))], e
    assert re.fullmatch('wakeup[0-9]+', e[0][1])
    assert [x[2] for x in e] == sorted(x[2] for x in e)
    assert int(read('/sys/kernel/uevent_seqnum')) >= e[-1][2]


@host('--pf', 'nvme:250')
def a_small_buffer_overruns():
    u = Uevents(size=1)
    autoprobe(0), numvfs(250)
    try:
        while True:
            u.s.recv(8192)
    except OSError as e:
        assert e.errno == errno.ENOBUFS, e


@host('--pf', 'nvme:8')
def the_node_is_there_before_its_uevent():
    u = Uevents()
    autoprobe(0), numvfs(8)
    seen = []

    def listen():
        while len(seen) < 8:
            message = u.s.recv(8192).decode()
            m = re.search('DEVNAME=(vfio/devices/vfio[0-9]+)\0', message)
            if m and message.startswith('add@'):
                seen.append(os.path.exists('/dev/' + m[1]))
    u.s.settimeout(3)
    t, _ = in_thread(listen)
    for i in range(8):
        override(vf(i)), bind(vf(i))
    t.join(3)
    assert seen == [True] * 8, seen


@host('--pf', 'nvme:4')
def K8_who_holds_a_device_is_waited_for():
    autoprobe(0), numvfs(1), override(vf(0)), bind(vf(0))
    held = os.open('/dev/vfio/devices/vfio0', os.O_RDWR)
    u = Uevents()
    t, result = in_thread(write, PCI + 'drivers/vfio-pci/unbind', vf(0))
    eventually(lambda: driver(vf(0)) is None)
    assert [x[:2] for x in u.take()] == [('remove', 'vfio0')]
    assert t.is_alive() and not os.path.exists('/dev/vfio/devices/vfio0')
    os.close(held)
    t.join(3)
    assert result == ['ok'] and [x[0] for x in u.take()] == ['remove', 'unbind']


@host('--pf', 'nvme:4', '--group')
def K8_who_holds_a_group_is_waited_for_by_numvfs():
    autoprobe(0), numvfs(1), override(vf(0)), bind(vf(0))
    group = os.path.basename(os.readlink(PCI + 'devices/%s/iommu_group' % vf(0)))
    held = os.open('/dev/vfio/' + group, os.O_RDWR)
    t, result = in_thread(numvfs, 0)
    eventually(lambda: driver(vf(0)) is None)
    reader, _ = in_thread(read, PCI + 'devices/%s/sriov_numvfs' % A)
    time.sleep(0.1)
    assert t.is_alive() and reader.is_alive()  # the reader waits for the writer
    os.close(held)
    t.join(3), reader.join(3)
    assert result == ['ok'] and not os.path.exists('/dev/vfio/' + group)


@host('--pf', 'nvme:4')
def a_run_ends_whatever_hangs():
    autoprobe(0), numvfs(1), override(vf(0)), bind(vf(0))
    os.open('/dev/vfio/devices/vfio0', os.O_RDWR)
    ctl('fault', 'lookup:*/nothing:1=hang')
    in_thread(numvfs, 0)  # waits for this very process
    in_thread(read, PCI + 'nothing')
    subprocess.Popen([sys.executable, '-c', 'open("%sdevices/%s/sriov_numvfs").read()' % (PCI, A)])
    ctl('wait-hanging')
    os._exit(0)


@host('--pf', 'nvme:8,driver=vfio-pci')
def K2_vfio_pci_makes_no_VFs():
    assert driver(A) == 'vfio-pci' and numvfs(2) == 'ENOENT'


@host('--pf', 'nvme:8,driver=vfio-pci', '--enable-sriov')
def K9_with_enable_sriov_it_does_and_overrides():
    assert numvfs(2) == 'ok' and driver(vf(0)) == 'vfio-pci'
    assert read(PCI + 'devices/%s/driver_override' % vf(1)) == 'vfio-pci'


@host('--pf', 'igb:7', '--driver', 'igbvf')
def a_native_driver_grabs_VFs_when_autoprobe_is_on():
    assert numvfs(2) == 'ok' and driver('0000:01:10.0') == 'igbvf'
    override('0000:01:10.0')
    assert bind('0000:01:10.0') == 'EBUSY'
    assert write(PCI + 'drivers/igbvf/unbind', '0000:01:10.0') == 'ok'
    assert bind('0000:01:10.0') == 'ok'
    assert write(PCI + 'drivers/igbvf/new_id', '8086 10ca') == 'EEXIST'  # one of its own


@host('--pf', 'igb:7', '--driver', 'igbvf')
def an_override_holds_against_the_native_driver():
    autoprobe(0), numvfs(1), override('0000:01:10.0'), autoprobe(1)
    assert write(PCI + 'drivers_probe', '0000:01:10.0') == 'ok'
    assert driver('0000:01:10.0') == 'vfio-pci'


@host('--pf', 'mlx5:4', '--driver', 'mlx5_vfio_pci')
def B22_a_variant_driver_is_asked_for_by_override():
    autoprobe(0), numvfs(1)
    v = '0000:01:00.2'
    assert bind(v, 'mlx5_vfio_pci') == 'ENODEV'
    override(v, 'mlx5_vfio_pci')
    assert bind(v) == 'ENODEV' and bind(v, 'mlx5_vfio_pci') == 'ok'
    assert os.listdir('/sys/class/vfio-dev') == ['vfio0']


@host('--pf', 'nvme:4,serial=00-11-22-33-44-55-66-77,numvfs=3,bound=vfio-pci,autoprobe=0',
      '--pf', 'nvme:2')
def a_warm_host_has_its_VFs():
    assert read(PCI + 'devices/%s/serial_number' % A) == '00-11-22-33-44-55-66-77'
    assert read(PCI + 'devices/%s/serial_number' % B) == 'open ENOENT'
    assert read(PCI + 'devices/%s/sriov_numvfs' % A) == '3'
    assert read(PCI + 'devices/%s/sriov_drivers_autoprobe' % A) == '0'
    assert [driver(vf(i)) for i in range(3)] == ['vfio-pci'] * 3
    assert len(os.listdir('/dev/vfio/devices')) == 3


@host('--pf', 'nvme:4', '--noiommu')
def B17_noiommu_nodes_are_named_so():
    autoprobe(0), numvfs(1), override(vf(0)), bind(vf(0))
    assert sorted(os.listdir('/dev/vfio')) == ['devices', 'noiommu-0', 'vfio']
    assert os.listdir('/dev/vfio/devices') == ['noiommu-vfio0']


@host('--pf', 'nvme:4,shared-group=1')
def B11_PF_and_VFs_in_one_group():
    numvfs(2)
    groups = {os.readlink(PCI + 'devices/%s/iommu_group' % d) for d in (A, vf(0), vf(1))}
    assert len(groups) == 1


@host('--pf', 'nvme:4', '--text', '*/0000:01:00.1/power_state=D3cold')
def B16_files_say_what_they_are_told():
    numvfs(2)
    assert read(PCI + 'devices/%s/power_state' % vf(0)) == 'D3cold'
    assert read(PCI + 'devices/%s/power_state' % vf(1)) == 'D0'


@host('--pf', 'nvme:4*2', '--late', 'pf1=0.1', '--stopped')
def a_late_PF_comes_with_its_uevents():
    u = Uevents()
    assert not os.path.exists(PCI + 'devices/' + B)
    ctl('clock')
    eventually(lambda: driver(B) == 'nvme')
    assert [x[:2] for x in u.take() if x[1] == B] == [('add', B), ('bind', B)]
    assert numvfs(2, B) == 'ok'


@host('--pf', 'nvme:4,driver-after=0.1', '--stopped')
def C4_a_driver_that_comes_late():
    assert driver(A) is None and numvfs(2) == 'ENOENT'
    ctl('clock')
    eventually(lambda: driver(A) == 'nvme')
    assert numvfs(2) == 'ok'


@host('--pf', 'nvme:4,vf-delay=0.3,vf-interval=0.2')
def C12_VFs_come_after_numvfs_returned():
    autoprobe(0)
    assert numvfs(4) == 'ok' and read(PCI + 'devices/%s/sriov_numvfs' % A) == '4'
    assert not os.path.exists(PCI + 'devices/' + vf(0))
    eventually(lambda: os.path.exists(PCI + 'devices/' + vf(0)))
    assert not os.path.exists(PCI + 'devices/' + vf(3))
    eventually(lambda: os.path.exists(PCI + 'devices/' + vf(3)))


@host('--pf', 'nvme:4', '--late', 'pf0/1=0.2')
def one_VF_comes_late():
    autoprobe(0), numvfs(4)
    assert [os.path.exists(PCI + 'devices/' + vf(i)) for i in range(4)] == [True, False, True, True]
    eventually(lambda: os.path.exists(PCI + 'devices/' + vf(1)))
    assert os.readlink(PCI + 'devices/%s/virtfn1' % A) == '../' + vf(1)


@host('--pf', 'nvme:4*2', '--vanish', 'pf1=0.1', '--stopped')
def N5_a_PF_vanishes_with_its_VFs():
    u = Uevents()
    autoprobe(0, B), numvfs(1, B)
    fd = os.open(PCI + 'devices/%s/sriov_numvfs' % B, os.O_RDONLY)
    u.take()
    ctl('clock')
    eventually(lambda: not os.path.exists(PCI + 'devices/' + B))
    e = [x[:2] for x in u.take() if not x[1].startswith('wakeup')]
    assert e == [('remove', vf(0, 2)), ('unbind', B), ('remove', B)], e
    try:
        os.read(fd, 10)
        assert False
    except OSError as e:
        assert e.errno == errno.ENODEV  # kernfs: the node is gone
    ctl('appear', 'pf1')
    eventually(lambda: driver(B) == 'nvme')
    assert read(PCI + 'devices/%s/sriov_numvfs' % B) == '0'


@host('--pf', 'nvme:4', '--fault', 'write:*/sriov_numvfs:2=ENOMEM', '--fault',
      'read:*/sriov_offset:1-2=EIO', '--fault', 'lookup:*/virtfn0:*=EACCES', '--fault',
      'open:*/vfio-pci/bind:1+=EMFILE', '--fault', 'readlink:*/driver:1=EINTR', '--fault',
      'write@cat:*:*=EIO')
def each_operation_fails_as_planned():
    assert [numvfs(1) for _ in range(3)] == ['ok', 'ENOMEM', 'ok']
    offset = PCI + 'devices/%s/sriov_offset' % A
    assert [read(offset) for _ in range(3)] == ['EIO', 'EIO', '1']
    assert read(PCI + 'devices/%s/virtfn0/vendor' % A) == 'open EACCES'
    assert bind(vf(0)) == bind(vf(0)) == 'open EMFILE'
    assert driver(A) is None and driver(A) == 'nvme'
    ctl('unfault', '4')
    assert bind(vf(0)) == 'ENODEV'
    assert 'hit=2' in ctl('faults').split('\n')[1]
    ctl('fault', 'nonsense', fails=True)


@host('--pf', 'nvme:4*2', '--fault', 'write:*01:00.0/sriov_numvfs:1=hang')
def C8_a_hanging_write_blocks_nobody_else():
    t, result = in_thread(numvfs, 2)
    ctl('wait-hanging')
    begun = time.monotonic()
    autoprobe(0, B), numvfs(2, B), override(vf(0, 2)), bind(vf(0, 2))
    assert driver(vf(0, 2)) == 'vfio-pci' and time.monotonic() - begun < 1
    reader, seen = in_thread(read, PCI + 'devices/%s/sriov_numvfs' % A)
    time.sleep(0.05)
    assert t.is_alive() and reader.is_alive()  # the PF's lock is held
    assert ctl('hanging').startswith('1 write ')
    assert ctl('release') == '1\n'
    t.join(3), reader.join(3)
    assert result == ['ok'] and seen == ['2']


@host('--pf', 'nvme:4', '--fault', 'write:*/vfio-pci/bind:1=hang')
def a_hanging_bind_stops_no_other_bind():
    autoprobe(0), numvfs(2), override(vf(0)), override(vf(1))
    t, result = in_thread(bind, vf(0))
    ctl('wait-hanging')
    assert bind(vf(1)) == 'ok' and t.is_alive()
    ctl('release', 'all', 'EIO')
    t.join(3)
    assert result == ['EIO'] and driver(vf(0)) is None


@host('--pf', 'nvme:100', '--fault', 'write:*/driver_override:*=hang')
def a_hundred_writes_can_hang_at_once():
    autoprobe(0), numvfs(100)
    threads = [in_thread(override, vf(i)) for i in range(100)]
    ctl('wait-hanging', '100')
    assert read(PCI + 'devices/%s/sriov_numvfs' % A) == '100'
    assert ctl('release') == '100\n'
    for t, result in threads:
        t.join(3)
        assert result == ['ok']


@host('--pf', 'nvme:4', '--fault', 'write:*/driver_override:1=short', '--fault',
      'read:*/modalias:1=short')
def short_reads_and_writes():
    autoprobe(0), numvfs(1)
    fd = os.open(PCI + 'devices/%s/driver_override' % vf(0), os.O_WRONLY)
    assert os.write(fd, b'vfio-pci') == 4
    assert read(PCI + 'devices/%s/driver_override' % vf(0)) == '(null)'
    path = PCI + 'devices/%s/modalias' % vf(0)
    half, whole = read(path), read(path)
    assert whole.startswith(half) and len(half) == (len(whole) + 1) // 2


@host('--pf', 'nvme:4', '--fault', 'write:*/vfio-pci/bind:1=vanish', '--fault',
      'write:*/driver_override:2=vanish', '--fault', 'lookup:*/0000:01:00.3:1=vanish')
def a_VF_vanishes_in_the_middle():
    autoprobe(0), numvfs(3), override(vf(0))
    assert bind(vf(0)) == 'ENODEV' and not os.path.exists(PCI + 'devices/' + vf(0))
    assert override(vf(1)) == 'ENODEV'
    d = os.open(PCI + 'devices/' + A, os.O_PATH)
    try:
        os.open('../%s/driver_override' % vf(2), os.O_WRONLY, dir_fd=d)
        assert False
    except FileNotFoundError:
        pass


def die_by(action, autoprobe_after):
    ctl('fault', 'write:*/sriov_drivers_autoprobe:1=' + action)
    p = subprocess.run([sys.executable, '-c', 'open("%sdevices/%s/sriov_drivers_autoprobe", "w")'
                        '.write("0")' % (PCI, A)])
    assert p.returncode == -signal.SIGKILL, p
    ctl('unfault')
    assert read(PCI + 'devices/%s/sriov_drivers_autoprobe' % A) == autoprobe_after


@host('--pf', 'nvme:4')
def B6_killed_before_the_write():
    die_by('kill', '1')


@host('--pf', 'nvme:4')
def B6_killed_after_the_write():
    die_by('kill-after', '0')


@host('--pf', 'nvme:4', '--fault', 'uevent:add@*/vfio-dev/vfio0:1=drop')
def a_uevent_gets_lost():
    u = Uevents()
    autoprobe(0), numvfs(1), override(vf(0)), bind(vf(0))
    assert [x[0] for x in u.take()[4:]] == ['add', 'bind']


@host('--pf', 'nvme:4')
def the_trace_lists_each_operation_in_order():
    path = '/run/trace'
    ctl('trace', path)
    d = os.open(PCI + 'devices/' + A, os.O_PATH)
    fd = os.open('sriov_numvfs', os.O_RDWR, dir_fd=d)
    os.read(fd, 10)
    assert numvfs(3000) == 'ERANGE'
    ctl('trace', 'off')
    mine = [l.rstrip() for l in open(path) if '[%d]' % os.getpid() in l]
    ops = [l.split()[1 if not l.startswith('  ') else 0] for l in mine]
    assert ops[-7:] == ['lookup', 'lookup', 'lookup', 'lookup', 'open', 'write', '-ERANGE'], mine
    assert mine[0].endswith(' /sys/bus') and '"3000"' in mine[-2], mine


@host('--pf', 'nvme:4')
def every_traced_operation_can_be_hit():
    command = ['cat', PCI + 'devices/%s/modalias' % A]
    ctl('trace', '/run/trace')
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    ctl('trace', 'off')
    n = sum(' cat[' in l and not l.startswith('  ') for l in open('/run/trace'))
    assert n >= 10, n  # 8 lookups, a readlink, open, read, end of file
    for k in range(1, n + 2):
        ctl('unfault')
        ctl('fault', 'any@cat:*:%d=EIO' % k)
        r = subprocess.run(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        assert (r.returncode != 0) == (k <= n), (k, n, r)


@host('--pf', 'nvme:4')
def threads_with_other_names_are_their_process():
    open('/proc/self/comm', 'w').write('agent')

    def lane():
        open('/proc/thread-self/comm', 'w').write('lane')
        time.sleep(0.02)
        return read(PCI + 'devices/%s/modalias' % A)
    t, result = in_thread(lane)
    t.join()
    assert report()['processes'][str(os.getpid())]['comm'] == 'agent'


@host('--pf', 'nvme:4')
def after_a_reset_only_what_comes_then_counts():
    numvfs(4), read(PCI + 'devices/%s/vendor' % vf(0)), numvfs(0)
    ctl('reset')
    r = report()
    assert r['vfs'] == r['vfNodes'] == r['eagerNodes'] == 0 and r['vfList'] == {}, r
    autoprobe(0), numvfs(2), override(vf(0))
    r = report()
    assert r['vfs'] == 2 and r['perVf'] == 0.5 and r['eagerNodes'] == 126, r


@host('--pf', 'nvme:20*4', '--costs', 'today')
def costs_today_enable_one_PF_after_the_other():
    begun = time.monotonic()
    threads = [in_thread(numvfs, 20, '0000:%02x:00.0' % (i + 1))[0] for i in range(4)]
    [t.join() for t in threads]
    took = time.monotonic() - begun
    assert took >= 0.48, took


@host('--pf', 'nvme:20*4', '--costs', 'parallel')
def costs_parallel_enable_all_PFs_together():
    begun = time.monotonic()
    threads = [in_thread(numvfs, 20, '0000:%02x:00.0' % (i + 1))[0] for i in range(4)]
    [t.join() for t in threads]
    took = time.monotonic() - begun
    assert 0.12 <= took < 0.4, took


@host('--pf', 'nvme:8', '--driver', 'vfio-pci,async=100')
def binds_in_the_background():
    autoprobe(0), numvfs(8), autoprobe(1)
    u = Uevents()
    assert write(PCI + 'drivers/vfio-pci/new_id', '1b36 0010') == 'ok'
    assert driver(vf(0)) is None
    eventually(lambda: all(driver(vf(i)) == 'vfio-pci' for i in range(8)))
    assert sum(x[0] == 'bind' for x in u.take()) == 8


@host('--pf', 'nvme:4', '--without-driver', 'vfio-pci')
def B20_vfio_pci_is_loaded_later():
    autoprobe(0), numvfs(1), override(vf(0))
    assert bind(vf(0)) == 'open ENOENT' and not os.path.exists('/sys/module/vfio_pci')
    ctl('load', 'vfio-pci')
    assert driver(vf(0)) == 'vfio-pci' and read('/sys/module/vfio_pci/initstate') == 'live'


@host('--pf', 'nvme:4')
def nothing_else_can_be_made_or_removed():
    for act, error in ((lambda: open(PCI + 'new', 'w'), errno.EACCES),
                       (lambda: os.mkdir(PCI + 'new'), errno.EPERM),
                       (lambda: os.unlink(PCI + 'rescan'), errno.EPERM)):
        try:
            act()
            assert False
        except OSError as e:
            assert e.errno == error, e


@host('--pf', 'nvme:4')
def S2_others_may_not_write():
    if os.getuid():
        return
    pid = os.fork()
    if pid == 0:
        try:
            os.setuid(65534)
        except OSError:
            os._exit(0)  # in a user namespace of one user
        os._exit(0 if numvfs(1) == 'open EACCES' else 1)
    assert os.waitpid(pid, 0)[1] == 0


@host('--pf', 'ice:256*10', '--pf', 'nvme:127,at=0001:3b:00.0')
def buses_and_domains_fit():
    assert numvfs(256) == 'ok' and os.path.exists(PCI + 'devices/0000:02:00.7')
    second = sorted(d for d in os.listdir(PCI + 'devices') if d.endswith(':00.0'))
    assert '0000:03:00.0' in second and '0001:3b:00.0' in second, second
    assert 'pci0001:00/' in os.readlink(PCI + 'devices/0001:3b:00.0')


@host('--pf', 'nvme:250*20')
def five_thousand_VFs_in_seconds():
    begun = time.monotonic()
    for i in range(20):
        pf = '0000:%02x:00.0' % (i + 1)
        autoprobe(0, pf), numvfs(250, pf), autoprobe(1, pf)
    assert write(PCI + 'drivers/vfio-pci/new_id', '1b36 0010') == 'ok'
    assert len(os.listdir('/sys/class/vfio-dev')) == 5000
    assert time.monotonic() - begun < 3
    r = report()
    assert r['vfNodes'] == 0 and r['eagerNodes'] == 370000 and r['uevents'] == 30020, r


def run_inside(name):
    TESTS[name][1]()


def run_test(hostsim, name):
    options = TESTS[name][0]
    try:
        r = subprocess.run([hostsim, '--quiet', *options, '--', sys.executable, __file__,
                            '--inside', name], capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired as e:
        return str(e)
    return None if r.returncode == 0 else 'exit code %d\n' % r.returncode + r.stdout + r.stderr


def conformance(hostsim, conform):
    r = subprocess.run([hostsim, '--quiet', '--pf', 'nvme:127', '--pf', 'igb:7', '--', conform,
                        '--quiet-ms=3', HERE + '/conformance.txt', 'A=' + A, 'B=' + B],
                       capture_output=True, text=True, timeout=60)
    expected = open(HERE + '/conformance.expected').read()
    if r.returncode == 0 and r.stdout == expected:
        return None
    import difflib
    return r.stderr + '\n'.join(difflib.unified_diff(expected.split('\n'), r.stdout.split('\n'),
                                                     'expected', 'found', n=1, lineterm=''))


def main():
    if sys.argv[1] == '--inside':
        return run_inside(sys.argv[2])
    hostsim, conform, *names = sys.argv[1:]
    checks = [('conformance', lambda: conformance(hostsim, conform))]
    checks += [(n, lambda n=n: run_test(hostsim, n)) for n in TESTS]
    checks = [c for c in checks if not names or c[0] in names]
    failed = 0
    print('1..%d' % len(checks))
    for i, (name, check) in enumerate(checks, 1):
        wrong = check()
        print('%s %d - %s' % ('not ok' if wrong else 'ok', i, name), flush=True)
        if wrong:
            failed += 1
            print(''.join('# %s\n' % l for l in wrong.strip().split('\n')), flush=True)
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
