# SPDX-License-Identifier: LGPL-2.1-or-later
# A real kernel does what the simulated host does, operation by operation (conformance.txt).
#   tests/vm/run --kernel own --pf nvme:127 --pf igb --bin BUILD/tests/hostsim/conform
#     --file tests/hostsim/conformance.txt:/conform/script
#     --file tests/hostsim/conformance.expected:/conform/expected tests/hostsim/conform-vm.sh

modprobe igb 2>/dev/null
modprobe nvme 2>/dev/null
check "VFIO loads" load_vfio
for number in 1 2; do wait_for 20 [ -e "$PCI/$(pf $number)/driver" ]; done
sleep 1
conform --quiet-ms=200 /conform/script "A=$(pf 1)" "B=$(pf 2)" | tee /tmp/found
check "the script is carried out to its end" [ "$(tail -n 1 /tmp/found | cut -c 1-9)" = "  remove@" ]
# not every kernel has wakeup sources (Debian's does)
if [ -d /sys/class/wakeup ]; then cp /conform/expected /tmp/expected
else grep -v '/wakeup/wakeup#' /conform/expected >/tmp/expected; fi
diff -U1 /tmp/expected /tmp/found >/tmp/differences
check_eq "operations" "$(grep -c '^[a-z]* .* = ' /tmp/found)" \
	"$(grep -c '^[a-z]* .* = ' /tmp/expected)"
check_eq "lines that differ from the simulated host's" "$(grep -c '^[-+][^-+]' /tmp/differences)" 0
cat /tmp/differences
