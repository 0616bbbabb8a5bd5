# What `tests/demo` shows: a host with VFs in use, a kexec, and the VFs given back.
#   tests/vm/run --kernel stock --mem 3G --kexec --pf nvme:127 … demo.sh 127 127 127 127
. /rig/restore.sh

total=0
for n; do total=$((total + n)); done

if [ "$BOOT" = 1 ]; then
	note "host: $# NVMe PFs, $total VFs, all bound to vfio-pci; kernel $(uname -r)"
	timed "set up the host" host "$@"
	timed "vf-restore capture" capture
	note "kexec into the next kernel, with the VFs still enabled (which costs it 1 s a PF)"
	next_kernel /var/lib/vf-restore /etc/machine-id
	check "kexec" false
	exit 1
fi

modprobe nvme 2>/dev/null
wait_for 20 [ -e "$PCI/$(pf $#)/driver" ]
check_eq "after the kexec the VFs are gone" "$(cat $PCI/*/sriov_numvfs | sort -u)" 0
touches -o /tmp/touched -b 65536 sh -c 'vf-restore restore >/tmp/report 2>&1; echo $? >/tmp/code'
check_eq "vf-restore restore: exit code" "$(cat /tmp/code)" 0
note "$(cat /tmp/report)"
note "$(LC_ALL=C.UTF-8 vf-restore timeline)"
check_eq "VFs bound and opened" "$(recorded ready) of $(recorded vfs)" "$total of $total"
check_eq "the kernel counted: directory reads in sysfs" "$(counted /tmp/touched directory_reads)" 0
check "the kernel counted: nodes inside VF directories" \
	sh -c 'echo "$1 ($2 a VF)"; [ "$1" = "$3" ]' sh "$(counted /tmp/touched vf_nodes)" \
	"$(awk "BEGIN { printf \"%.2f\", $(counted /tmp/touched vf_nodes) / $total }")" "$(tally_of vfNodes)"
