# Helpers of the tests of vf-restore: a host with VFs in use, its manifest, its state.

mkdir -p /var/lib /etc
[ -s /etc/machine-id ] || echo 0123456789abcdef0123456789abcdef >/etc/machine-id

MANIFEST=/var/lib/vf-restore/manifest.json
RECORD=/run/vf-restore/last-run.json

# host COUNT…: PF drivers loaded, COUNT VFs on each PF (in the runner's order), all bound to vfio-pci
host() {
	modprobe igb 2>/dev/null
	modprobe nvme 2>/dev/null
	check "VFIO loads" load_vfio
	check "there are $# PFs" [ "$(pf_list | wc -l)" = $# ]
	for pf_number in $(seq $#); do
		pf=$(pf "$pf_number")
		wait_for 20 [ -e "$PCI/$pf/driver" ]
		eval "pf_count=\${$pf_number}"
		[ "$pf_count" = 0 ] && continue
		enable "$pf" "$pf_count" &&
			floor bind "$pf" >/dev/null && echo 1 >"$PCI/$pf/sriov_drivers_autoprobe"
	done
}

capture() { check "capture" vf-restore capture --output $MANIFEST; }

# The VFs are gone, as after a kexec. (The tests may; nothing else here writes 0.)
lose() { for lost in $(pf_list); do echo 0 >"$PCI/$lost/sriov_numvfs"; done; }

# restore WANTED_CODE OPTION…: runs it; its record is in $RECORD, its report in /tmp/report
restore() {
	restore_want=$1; shift
	vf-restore restore "$@" >/tmp/report 2>&1
	check_eq "restore $*: exit code" $? "$restore_want" || note "$(cat /tmp/report)"
}

# recorded KEY: of the record's counts (vfs, ready, held, lacks)
recorded() { sed -n 's/^ *"counts": {.*"'"$1"'": \([0-9]*\).*/\1/p' $RECORD; }

# tally_of KEY: a sum of the record's tally (vfNodes, writes, opens)
tally_of() { sed -n 's/^ *"tally": {.*"'"$1"'": \([0-9]*\).*/\1/p' $RECORD; }

as_planned() { grep -q "Every touch is in the plan's budget" /tmp/report; }

# What is true of the host: a line a PF (number of VFs, autoprobe) and a VF (driver, override)
state() {
	for state_pf in $(pf_list); do
		echo "$state_pf $(driver_of "$state_pf") $(cat "$PCI/$state_pf/sriov_numvfs" "$PCI/$state_pf/sriov_drivers_autoprobe" | tr '\n' ' ')"
		for state_vf in $(vf_list "$state_pf"); do
			echo "$state_vf $(driver_of "$state_vf") $(cat "$PCI/$state_vf/driver_override")"
		done
	done
}

bound_to_vfio() { ls -d /sys/bus/pci/drivers/vfio-pci/*:* 2>/dev/null | wc -l; }
