# K8: VFs held by a process, and somebody takes them away: the PF's lock hangs, and with it whoever
# asks for its number of VFs. It must hold back nobody else, and the command must end.
#   tests/vm/run --kernel own --pf nvme:4 --pf nvme:4 … test-stuck.sh 4 4
. /rig/restore.sh

host "$@"
capture
one=$(pf 1)
two=$(pf 2)
vf=$(vf_list "$one" | head -n 1)
hold "$(vfio_node "$vf")" "$vf" >/tmp/held &
holder=$!
check "a VF is held" wait_for 5 grep -q held /tmp/held
# the second PF's VFs are there, but unbound: they need work
floor unbind "$two" >/dev/null
(echo 0 >"$PCI/$one/sriov_numvfs") &
sleep 1
printf '[Restore]\nLaneTimeoutSec=3\nLaneTimeoutPerVfSec=0\n' >/tmp/conf
begin=$(now_ms)
restore 3 --config /tmp/conf
value "restore beside a stuck PF" $(($(now_ms) - begin)) ms
check "the command ended by itself" [ $(($(now_ms) - begin)) -lt 20000 ]
check "the PF is reported stuck" grep -q "did not come back in time" /tmp/report
check "the stuck PF is named" grep -q "$one" /tmp/report
check_eq "the other PF's VFs are ready" "$(recorded ready)" "$2"
for vf in $(vf_list "$two"); do check_eq "$vf is bound" "$(driver_of "$vf")" vfio-pci; done
kill $holder
check "the PF comes back when its VF is let go" wait_for 30 grep -qx 0 "$PCI/$one/sriov_numvfs"
restore 0
check_eq "the next run makes it whole" "$(recorded ready)" $(($1 + $2))
