# SPDX-License-Identifier: LGPL-2.1-or-later
# The rig itself: real VFs can be made, bound and counted, and a kexec leads to the next boot.
#   tests/vm/run --kernel own --pf igb --pf nvme:16 --kexec tests/vm/test-rig.sh 7 16
#   tests/vm/run --kernel stock --pf nvme:16 --kexec tests/vm/test-rig.sh 16
# Arguments: the number of VFs for each PF.

# touched NAME CODE ARGUMENT…: count what a piece of shell touches
touched() {
	touched_name=$1; touched_code=$2; shift 2
	check "$touched_name is counted" touches -o /tmp/touched sh -c ". /rig/lib.sh; $touched_code" sh "$@"
}

if [ "$BOOT" = 2 ]; then
	check_eq "a file came along" "$(cat /var/lib/rig/note)" "from boot 1"
	check_eq "VFs are gone after the kexec" "$(cat $PCI/"$(pf 1)"/sriov_numvfs)" 0
	exit
fi

modprobe igb 2>/dev/null
modprobe nvme 2>/dev/null
check "VFIO loads" load_vfio
check_eq "number of PFs" "$(pf_list | wc -l)" $#

for wanted; do
	number=$((number + 1))
	pf=$(pf $number)
	wait_for 10 [ -e "$PCI/$pf/driver" ]
	timed "enable $wanted VFs of $(driver_of "$pf") $pf" enable "$pf" "$wanted"
	check_eq "VFs of $pf" "$(vf_list "$pf" | wc -l)" "$wanted"
done
vfs=$(for pf in $(pf_list); do vf_list "$pf"; done)
total=$(echo "$vfs" | wc -l)

touched "override" 'for vf; do echo vfio-pci >$PCI/$vf/driver_override; done' $vfs
check_eq "override: one node a VF" "$(counted /tmp/touched vf_nodes)" "$total"
check_eq "override: one write a VF" "$(counted /tmp/touched writes)" "$total"
check_eq "override: no directory read" "$(counted /tmp/touched directory_reads)" 0
touched "bind" 'for vf; do echo $vf >/sys/bus/pci/drivers/vfio-pci/bind; done' $vfs
check_eq "bind: no node of a VF" "$(counted /tmp/touched vf_nodes)" 0
check_eq "bind: one write a VF" "$(counted /tmp/touched writes)" "$total"
first=$(echo "$vfs" | head -n 1)
touched "ls" 'ls $PCI/$1/' "$first"
check "ls: the VF's directory is read" [ "$(counted /tmp/touched vf_directory_reads)" -ge 1 ]
touched "nothing" :
check_eq "nothing: no lookup" "$(counted /tmp/touched lookups)" 0
touches -b 1 find /sys >/dev/null 2>&1
check_eq "lost events are an error" $? 125

bound=0
for vf in $vfs; do
	[ "$(driver_of "$vf")" = vfio-pci ] && bound=$((bound + 1))
	vfio_node "$vf" >>/tmp/nodes
done
check_eq "bound VFs" $bound "$total"
check_eq "device nodes" "$(sort -u /tmp/nodes | wc -l)" "$total"
case $(uname -r) in
*-lurig) check "cdevs on the own kernel" [ -z "$(grep -v ^/dev/vfio/devices/ /tmp/nodes)" ] ;;
*) check "groups on the stock kernel" [ -z "$(grep -v '^/dev/vfio/[0-9]*$' /tmp/nodes)" ] ;;
esac

hold "$(vfio_node "$first")" "$first" >/tmp/held &
check "a VF's device opens" wait_for 5 grep -q held /tmp/held
kill $!; wait $!

mkdir -p /var/lib/rig
echo "from boot 1" >/var/lib/rig/note
next_kernel /var/lib/rig
check "kexec" false
