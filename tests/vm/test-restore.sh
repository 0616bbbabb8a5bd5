# The main job on a small host, and what it must not do.
#   tests/vm/run --kernel own --pf igb --pf nvme:16 --pf nvme:8 … test-restore.sh 7 16 8
#   tests/vm/run --kernel stock --pf nvme:16 --pf nvme:8 … test-restore.sh 16 8
. /rig/restore.sh

total=0
for n; do total=$((total + n)); done
host "$@"
capture
state >/tmp/before
lose
check_eq "nothing is bound any more" "$(bound_to_vfio)" 0

check "plan is counted" touches -o /tmp/touched vf-restore plan
check_eq "plan: no write to sysfs" "$(counted /tmp/touched writes)" 0
check_eq "plan: no lookup of a VF" "$(counted /tmp/touched vf_names)" 0
check_eq "plan: PFs are untouched" "$(cat $PCI/"$(pf 1)"/sriov_numvfs)" 0

# C18: exactly the recorded count comes back
restore 0
check_eq "all VFs are ready" "$(recorded ready)" $total
check_eq "C18: as many as before are bound" "$(bound_to_vfio)" $total
state >/tmp/after
# by id no override is set; all else is as it was
check_eq "C15: drivers, counts and autoprobe are as before" \
	"$(sed 's/ vfio-pci$//; s/ (null)$//' /tmp/after)" "$(sed 's/ vfio-pci$//; s/ (null)$//' /tmp/before)"
check "the tally is the budget" as_planned

# L6, B3: the second run finds everything right
check "the second run is counted" touches -o /tmp/touched sh -c 'vf-restore restore >/tmp/report 2>&1'
check_eq "second run: 0 writes to sysfs" "$(counted /tmp/touched writes)" 0
check_eq "second run: no directory read" "$(counted /tmp/touched directory_reads)" 0
check_eq "second run: all VFs are ready" "$(recorded ready)" $total
check "timeline is drawn" vf-restore timeline
check "timeline as SVG" sh -c 'vf-restore timeline --svg -o /tmp/t.svg && grep -q "</svg>" /tmp/t.svg'

# One VF with a wrong driver, one without, the others right: only these two are written to
vfs=$(vf_list "$(pf 1)")
one=$(echo "$vfs" | sed -n 2p)
two=$(echo "$vfs" | sed -n 4p)
native=$(modprobe igbvf 2>/dev/null && [ -d /sys/bus/pci/drivers/igbvf ] && echo igbvf || echo pci-stub)
modprobe pci-stub 2>/dev/null
for vf in $one $two; do echo "$vf" >/sys/bus/pci/drivers/vfio-pci/unbind; done
if [ -d "/sys/bus/pci/drivers/$native" ]; then
	echo "$native" >"$PCI/$one/driver_override"
	echo "$one" >"/sys/bus/pci/drivers/$native/bind"
	check_eq "B2: a wrong driver has the VF" "$(driver_of "$one")" "$native"
fi
restore 0 --strategy override
check_eq "B2: the wrong one is bound right" "$(driver_of "$one")" vfio-pci
check_eq "B7: the unbound one is bound" "$(driver_of "$two")" vfio-pci
check_eq "all VFs are ready again" "$(recorded ready)" $total

# C1, C2: another non-zero number is refused, whoever made it, and the others go on
lose
pf=$(pf 1)
enable "$pf" 3; echo 1 >"$PCI/$pf/sriov_drivers_autoprobe"
restore 3
check_eq "C1: the other PFs are served" "$(recorded ready)" $((total - $1))
check_eq "C2: the PF is left as it is" "$(cat "$PCI/$pf/sriov_numvfs")" 3
check "C2: the number found is named" grep -q "number-differs\|has another number" /tmp/report
lose

# C4: a PF without its driver is named, at its deadline, and nobody else waits
driver=$(driver_of "$pf")
echo "$pf" >"/sys/bus/pci/drivers/$driver/unbind"
printf '[Restore]\nLatePfTimeoutSec=1\n' >/tmp/conf
restore 3 --config /tmp/conf
check_eq "C4: the other PFs are served" "$(recorded ready)" $((total - $1))
check "C4: the cause is named" grep -q "no driver" /tmp/report
# B4: with one PF of the id unbound, new_id would take it: it is not bound to vfio-pci
check "B4: the unbound PF is left alone" [ ! -e "$PCI/$pf/driver" ]
echo "$pf" >"/sys/bus/pci/drivers/$driver/bind"
wait_for 10 [ -e "$PCI/$pf/driver" ]

# N6: not the card that was promised
lose
sed 's/"device": *"[0-9a-f]*"/"device": "ffff"/' $MANIFEST >/tmp/other.json
restore 3 --manifest /tmp/other.json --unsealed
check_eq "N6: another card gets nothing" "$(bound_to_vfio)" 0
check "N6: no VF was made" [ "$(cat "$PCI/$pf/sriov_numvfs")" = 0 ]

# a damaged manifest changes nothing
sed 's/vfio-pci/vfio-pcj/' $MANIFEST >/tmp/damaged.json
cp $MANIFEST.xxh128 /tmp/damaged.json.xxh128
restore 5 --manifest /tmp/damaged.json
check "a damaged manifest changes nothing" [ "$(cat "$PCI/$pf/sriov_numvfs")" = 0 ]

# modules are loaded by us, with what modprobe.d says
restore 0
for vf in $(for pf in $(pf_list); do vf_list "$pf"; done); do echo "$vf" >/sys/bus/pci/drivers/vfio-pci/unbind; done
rmmod vfio-pci vfio_pci_core vfio_iommu_type1 2>/dev/null
check "vfio-pci is gone" [ ! -d /sys/bus/pci/drivers/vfio-pci ]
mkdir -p /etc/modprobe.d
echo "blacklist vfio_pci" >/etc/modprobe.d/no.conf
restore 3
check "B21: the rule that forbids it is named" grep -q "modprobe.d/no.conf" /tmp/report
rm /etc/modprobe.d/no.conf
restore 0
check_eq "B20: vfio-pci was loaded and all VFs are ready" "$(recorded ready)" $total
