# Killed at 20 points spread over the hot path, and run again: the same final state as undisturbed.
#   tests/vm/run --kernel own --pf nvme:16 --pf igb … test-kill.sh 16 7
. /rig/restore.sh

total=0
for n; do total=$((total + n)); done
host "$@"
capture

undisturbed() {
	lose
	begin=$(now_ms)
	restore 0 --strategy "$1"
	whole=$(($(now_ms) - begin))
	state >/tmp/state.want
}

# kill_at STRATEGY PER_MILLE: after that part of the undisturbed time
kill_at() {
	lose
	vf-restore restore --strategy "$1" >/tmp/killed 2>&1 &
	victim=$!
	usleep $((whole * $2))	# ms times per mille is us
	kill -9 $victim 2>/dev/null
	wait $victim
	# one that had ended before shows that the machine has become quicker
	if [ $? = 137 ]; then killed=$((killed + 1)); else whole=$((whole * 3 / 4)); fi
	# the child dies with it, but only when its writes are done
	wait_for 30 sh -c '! pidof vf-restore' || note "still there: $(pidof vf-restore)"
	restore 0 --strategy "$1"
	state >/tmp/state.got
	check_eq "$1, killed at $2 per mille: the same final state" "$(cat /tmp/state.got)" "$(cat /tmp/state.want)" &&
		check_eq "$1, killed at $2 per mille: all ready" "$(recorded ready)" $total
	# nothing is left registered: new_id takes it
	for id in "1b36 0010" "8086 10ca"; do
		case $(for pf in $(pf_list); do cat "$PCI/$pf/vendor"; done) in
		*0x"${id% *}"*) check "$1, killed at $2 per mille: no id is left" \
			sh -c "echo $id >/sys/bus/pci/drivers/vfio-pci/remove_id; [ \$? != 0 ]" ;;
		esac
	done
}

for strategy in override id; do
	killed=0
	undisturbed $strategy
	value "undisturbed restore by $strategy" "$whole" ms
	for part in 20 80 140 200 300 400 500 600 700 850; do kill_at $strategy $part; done
	value "killed in time, by $strategy" $killed runs
	check "most runs by $strategy were killed before their end" [ $killed -ge 6 ]
done
