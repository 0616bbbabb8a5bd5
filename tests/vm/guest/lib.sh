# SPDX-License-Identifier: LGPL-2.1-or-later
# Library of the guest scripts (busybox sh). Results are JSON lines on fd 3.

PCI=/sys/bus/pci/devices

json_string() {
	case $1 in
	*[!a-zA-Z0-9\ .,:_/=+-]*)
		printf '"'
		printf '%s' "$1" | tail -c 2000 | tr -d '\000-\010\013-\037' |
			sed -e ':a' -e '$!{N;ba' -e '}' -e 's/\\/\\\\/g; s/"/\\"/g; s/\t/\\t/g; s/\n/\\n/g'
		printf '"' ;;
	*) printf '"%s"' "$1" ;;
	esac
}

# check NAME COMMAND…: the command must succeed; what it prints is the detail
check() {
	check_name=$1; shift
	if "$@" >/tmp/check.out 2>&1; then check_ok=true; else check_ok=false; fi
	echo "{\"check\":$(json_string "$check_name"),\"ok\":$check_ok,\"detail\":$(json_string "$(cat /tmp/check.out)")}" >&3
	[ $check_ok = true ]
}

# check_eq NAME GOT WANT
check_eq() {
	if [ "$2" = "$3" ]; then check_ok=true; check_detail=$2
	else check_ok=false; check_detail="got '$2', want '$3'"; fi
	echo "{\"check\":$(json_string "$1"),\"ok\":$check_ok,\"detail\":$(json_string "$check_detail")}" >&3
	[ $check_ok = true ]
}

# value NAME NUMBER UNIT
value() { echo "{\"value\":$(json_string "$1"),\"number\":$2,\"unit\":$(json_string "$3")}" >&3; }

note() { echo "{\"note\":$(json_string "$*")}" >&3; }

# In steps of 10 ms
now_ms() {
	read -r now_up now_rest </proc/uptime
	echo $((${now_up%.*} * 1000 + 1${now_up#*.}0 - 1000))
}

# timed NAME COMMAND…: runs it and reports the time it took
timed() {
	timed_name=$1; shift
	timed_start=$(now_ms)
	"$@"; timed_result=$?
	value "$timed_name" $(($(now_ms) - timed_start)) ms
	return $timed_result
}

# wait_for SECONDS COMMAND…: until it succeeds
wait_for() {
	wait_end=$(($(date +%s) + $1)); shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt $wait_end ] || return 1
		sleep 0.1
	done
}

# PFs in the order of the runner's --pf options
pf_list() { for pf_dir in $PCI/*/sriov_totalvfs; do pf_dir=${pf_dir%/*}; echo "${pf_dir##*/}"; done; }

# pf N: the Nth PF, from 1
pf() { pf_list | sed -n "${1}p"; }

# enable PF COUNT: no driver may take the VFs, unless sriov_drivers_autoprobe is set again
enable() { echo 0 >$PCI/$1/sriov_drivers_autoprobe && echo "$2" >$PCI/$1/sriov_numvfs; }

# VFs of a PF in the order of their index
vf_list() {
	vf_index=0
	while [ -L $PCI/$1/virtfn$vf_index ]; do
		vf_link=$(readlink $PCI/$1/virtfn$vf_index)
		echo "${vf_link##*/}"
		vf_index=$((vf_index + 1))
	done
}

driver_of() { driver_link=$(readlink $PCI/$1/driver) && echo "${driver_link##*/}"; }

load_vfio() { modprobe vfio_iommu_type1 && modprobe vfio-pci; }

# bind_vfio BDF…
bind_vfio() {
	for bind_bdf; do
		echo vfio-pci >$PCI/$bind_bdf/driver_override &&
			echo "$bind_bdf" >/sys/bus/pci/drivers/vfio-pci/bind || return 1
	done
}

# The VFIO device node of a bound VF: its cdev, or its group where the kernel has no cdev
vfio_node() {
	for node_dir in $PCI/$1/vfio-dev/*; do
		[ -c "/dev/vfio/devices/${node_dir##*/}" ] && echo "/dev/vfio/devices/${node_dir##*/}" && return
	done
	node_group=$(readlink $PCI/$1/iommu_group) && [ -c "/dev/vfio/${node_group##*/}" ] &&
		echo "/dev/vfio/${node_group##*/}"
}

# counted FILE KEY: one of the numbers that `touches -o FILE` wrote
counted() { sed -n "s/^{[^{]*\"$2\":\([0-9]*\).*/\1/p" "$1"; }

kept_paths() {
	for kept; do
		kept_up=${kept%/*}
		while [ -n "$kept_up" ]; do echo ".$kept_up"; kept_up=${kept_up%/*}; done | tac
		find ".$kept"
	done
}

# next_kernel [PATH…]: kexec into the same kernel (runner option --kexec). The script starts again
# there, with $BOOT one higher; the given files and folders are there too, as if on a disk.
next_kernel() {
	cp /boot/initramfs /tmp/initramfs && cat /boot/boot.cpio >>/tmp/initramfs || return 1
	[ $# = 0 ] || (cd / && kept_paths "$@" | cpio -o -H newc >>/tmp/initramfs 2>/dev/null) || return 1
	kexec_file /boot/bzImage /tmp/initramfs "$(sed 's/ *rig\.boot=[0-9]*//' /proc/cmdline) rig.boot=$((BOOT + 1))"
}
