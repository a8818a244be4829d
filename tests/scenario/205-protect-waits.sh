#!/bin/bash
# "Protected" is said only of a drive that nothing uses any more, also while the controller restarts and after its node was lost.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

lab_start
drive_make n1 a1 64M
agent_join n1
approve_all 1
suite_add
serial=$(json '.items[0].serial' drive ls)
run_is() { [ "$(json .state run show "$1")" = "$2" ]; }
drive_is() { [ "$(json .occupancy drive show "$serial")" = "$1" ]; }

# protect SECONDS STATUS: it ends within about that time, with that exit code.
protect() {
	local status=0 begin=$SECONDS
	cli drive protect "$serial" --reason "goes back to its owner" --timeout "$1s" 2>"$lab/said" || status=$?
	[ $status = "$2" ] || die "protect ended with $status: $(cat "$lab/said")"
	[ $((SECONDS - begin)) -le $(($1 + 5)) ] || die "protect took $((SECONDS - begin)) s"
}

note "the wait outlives a restart of the controller"
kill -STOP "${agent_pid[n1]}"
c=$(campaign_submit small@1)
r=$(json '.items[0].id' run ls --campaign "$c")
wait_for 10 "$r is granted" run_is "$r" leased
protect 20 9 &
waiting=$!
wait_for 10 "the approval is withdrawn" eval '[ "$(json .admin drive show "$serial")" = unapproved ]'
controller_kill
controller_start
wait "$waiting" || die "the wait did not outlive the controller"
grep -q "may still be written to" "$lab/said" || die "not warned: $(cat "$lab/said")"

note "a controller that does not answer is not waited for beyond the timeout"
kill -STOP "$controller_pid"
protect 2 9
kill -CONT "$controller_pid"
grep -q "may still be written to" "$lab/said" || die "not warned: $(cat "$lab/said")"
kill -CONT "${agent_pid[n1]}"
protect 60 0

note "a drive that was approved again meanwhile is not called protected"
approve_all 1
kill -STOP "${agent_pid[n1]}"
c=$(campaign_submit small@1)
r=$(json '.items[0].id' run ls --campaign "$c")
wait_for 10 "$r is granted" run_is "$r" leased
protect 60 8 &
waiting=$!
wait_for 10 "the approval is withdrawn" eval '[ "$(json .admin drive show "$serial")" = unapproved ]'
cli drive approve "$serial" --serial "$serial"
again=$(campaign_submit small@1)
next=$(json '.items[0].id' run ls --campaign "$again")
kill -CONT "${agent_pid[n1]}"
wait "$waiting" || die "it was called protected"
grep -Eq "d1 was approved again meanwhile; ($next uses it|campaigns may use it)" "$lab/said" || die "not told: $(cat "$lab/said")"
wait_for 30 "$next has the drive" eval '[ "$(json .run drive show "$serial")" = "$next" ]'
protect 60 0
[ "$(cli drive show "$serial" -o json | jq .run)" = null ] || die "protect ended before the drive was free"

note "a drive that is fenced is not called protected"
approve_all 1
c=$(campaign_submit small@1)
r=$(json '.items[0].id' run ls --campaign "$c")
acked() { [ "$(json .attempt.acked_seq run show "$r")" -ge 3 ]; }
wait_for 30 "the first records" acked
agent_kill n1
mv "$lab/n1/runs" "$lab/n1-runs"
agent_start n1
wait_for 60 "the drive is fenced" drive_is fenced
protect 10 1
grep -q "is fenced and may still be written to" "$lab/said" || die "not warned: $(cat "$lab/said")"
grep -q "drive release" "$lab/said" || die "not told what to do: $(cat "$lab/said")"
