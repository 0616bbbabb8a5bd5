# L7: a kexec with VFs enabled and bound. The next kernel starts without VFs, and they come back, to
# the same places, as a whole.
#   tests/vm/run --kernel stock --kexec --pf nvme:16 --pf nvme:8 tests/vm/test-kexec.sh 16 8
. /rig/restore.sh

total=0
for n; do total=$((total + n)); done

if [ "$BOOT" = 1 ]; then
	host "$@"
	capture
	state | sed 's/ vfio-pci$//; s/ (null)$//; s/ *$//' >/var/lib/vf-restore/state
	next_kernel /var/lib/vf-restore /etc/machine-id
	check "kexec" false
	exit 1
fi

modprobe igb 2>/dev/null
modprobe nvme 2>/dev/null
check "the PFs are there" wait_for 20 [ -e "$PCI/$(pf $#)/driver" ]
check_eq "L7: after the kexec the VFs are gone" "$(cat $PCI/*/sriov_numvfs | sort -u)" 0
check "nothing of VFIO is loaded" [ ! -d /sys/bus/pci/drivers/vfio-pci ]
restore 0
check_eq "all VFs are ready" "$(recorded ready)" $total
check_eq "each is where it was" "$(state | sed 's/ vfio-pci$//; s/ (null)$//; s/ *$//')" "$(cat /var/lib/vf-restore/state)"
check "the tally is the budget" as_planned
