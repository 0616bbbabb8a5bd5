# The bind stage against the floor (the same writes in a minimal C loop), by id, and against shell.
#   tests/vm/run --kernel own --mem 2G --pf nvme:127 … bench-bind.sh ROUNDS 127
. /rig/restore.sh

rounds=$1; shift
host "$@"
capture
pf=$(pf 1)

# bind_stage: ns between begin and end of the bind steps, from the record
bind_stage() {
	tr -d ' \n' <$RECORD | sed 's/{/\n{/g' |
		sed -n 's/.*"name":"bind-[a-z]*","begunNs":\([0-9]*\),"doneNs":\([0-9]*\).*/\1 \2/p' |
		awk '{ print $2 - $1 }'
}

cold_restore() {
	lose
	restore 0 --strategy "$1"
	bind_stage >>/tmp/"$1"
}

cold_floor() {
	lose
	enable "$pf" "$1"
	echo 1 >"$PCI/$pf/sriov_drivers_autoprobe"
	floor bind "$pf" >>/tmp/floor
}

median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

round=0
while [ $round -lt "$rounds" ]; do
	cold_floor "$1"
	cold_restore override
	cold_restore id
	round=$((round + 1))
done
lose
enable "$pf" "$1"
begin=$(now_ms)
bind_vfio $(vf_list "$pf")
shell=$((($(now_ms) - begin) * 1000000))

floor=$(median /tmp/floor); override=$(median /tmp/override); id=$(median /tmp/id)
ratio() { awk "BEGIN { printf \"%.3f\", $1 / $2 }"; }
note "medians of $rounds runs of $1 VFs, ns: floor $floor, override $override, id $id; shell (1 run) $shell"
value "bind stage, override against the floor" "$(ratio "$override" "$floor")" ratio
value "bind stage, id against the floor" "$(ratio "$id" "$floor")" ratio
value "shell against override" "$(ratio $shell "$override")" ratio
check "override costs at most 1.05 times the floor" awk "BEGIN { exit !($override <= 1.05 * $floor) }"
check "override is at least 5 times faster than shell" awk "BEGIN { exit !($shell >= 5 * $override) }"
