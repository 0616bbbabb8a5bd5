# The kernel's own count of what we touch: 127 VFs a PF, nothing else in the way.
#   tests/vm/run --kernel own --mem 3G --pf nvme:127 … test-zero-touch.sh 127 127 127 127
. /rig/restore.sh

total=0
for n; do total=$((total + n)); done
host "$@"
capture

# counted_restore STRATEGY NODES: the kernel must have counted NODES inside VF directories
counted_restore() {
	timed "lose the VFs" lose
	check "$1: restore is counted" \
		touches -o /tmp/touched -b 65536 sh -c "vf-restore restore --strategy $1 >/tmp/report 2>&1"
	check_eq "$1: all VFs are ready" "$(recorded ready)" $total
	check_eq "$1: all VFs are bound" "$(bound_to_vfio)" $total
	check_eq "$1: directory reads in sysfs" "$(counted /tmp/touched directory_reads)" 0
	check_eq "$1: nodes looked up inside VF directories" "$(counted /tmp/touched vf_nodes)" "$2"
	check_eq "$1: the kernel's count is our tally (VF nodes)" "$(counted /tmp/touched vf_nodes)" "$(tally_of vfNodes)"
	check_eq "$1: the kernel's count is our tally (writes)" "$(counted /tmp/touched writes)" "$(tally_of writes)"
	check "$1: the tally is the budget" as_planned
	check_eq "$1: no PF's autoprobe is changed" "$(cat $PCI/*/sriov_drivers_autoprobe | sort -u)" 1
	cat /tmp/report
}

counted_restore override $total
counted_restore id 0
