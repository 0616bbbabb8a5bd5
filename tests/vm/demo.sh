# What `tests/demo` shows: a host with VFs in use loses them all, and gets them back.
#   tests/vm/run --kernel stock --mem 3G --pf nvme:127 … demo.sh 127 127 127 127
. /rig/restore.sh

total=0
for n; do total=$((total + n)); done

note "host: $# NVMe PFs, $total VFs, all bound to vfio-pci; kernel $(uname -r)"
timed "set up the host" host "$@"
timed "vf-restore capture" capture
timed "the VFs are taken away, as a kexec does" lose
check_eq "VFs left" "$(cat $PCI/*/sriov_numvfs | sort -u)" 0
touches -o /tmp/touched -b 65536 sh -c 'vf-restore restore >/tmp/report 2>&1; echo $? >/tmp/code'
check_eq "vf-restore restore: exit code" "$(cat /tmp/code)" 0
note "$(cat /tmp/report)"
note "$(LC_ALL=C.UTF-8 vf-restore timeline)"
check_eq "VFs bound and opened" "$(recorded ready) of $(recorded vfs)" "$total of $total"
check_eq "the kernel counted: directory reads in sysfs" "$(counted /tmp/touched directory_reads)" 0
nodes=$(counted /tmp/touched vf_nodes)
note "the kernel counted: $nodes nodes looked up inside VF directories ($(awk "BEGIN { printf \"%.2f\", $nodes / $total }") a VF)"
check_eq "the kernel's count of these is our tally" "$nodes" "$(tally_of vfNodes)"
