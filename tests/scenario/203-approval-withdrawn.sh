#!/bin/bash
# A drive whose approval is withdrawn is not written to any more: neither by a grant on its way, nor by a run, nor by a
# start that the end of the agent cut short.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

lab_start
drive_make n1 a1 64M
agent_join n1
approve_all 1
suite_add
serial=$(json '.items[0].serial' drive ls)
file=$lab/n1-drives/a1
content() { sync; sha256sum <"$file"; }
run_is() { [ "$(json .state run show "$1")" = "$2" ]; }
drive_is() { [ "$(json .occupancy drive show "$serial")" = "$1" ]; }

note "a grant that lies in the socket of a node that hangs is never started"
before=$(content)
kill -STOP "${agent_pid[n1]}"
c=$(campaign_submit small@1)
r=$(json '.items[0].id' run ls --campaign "$c")
wait_for 10 "$r is granted" run_is "$r" leased
status=0
cli drive protect "$serial" --reason "goes back to its owner" --timeout 6s 2>"$lab/said" || status=$?
[ $status = 9 ] || die "protect ended with $status without the word of the node: $(cat "$lab/said")"
grep -q "approval withdrawn; $r is being stopped" "$lab/said" || die "not told: $(cat "$lab/said")"
grep -q "may still be written to" "$lab/said" || die "not warned: $(cat "$lab/said")"
kill -CONT "${agent_pid[n1]}"
cli drive protect "$serial" --reason "again, to wait" 2>"$lab/said" || die "protect failed: $(cat "$lab/said")"
drive_is idle || die "protect ended before the drive was free"
wait_for 10 "$r is cancelled" run_is "$r" cancelled
json .reason run show "$r" | grep -q "approval of drive d1 was withdrawn" || die "no reason is given"
[ "$(content)" = "$before" ] || die "the drive was written to"
! grep "runner.start .*run=$r " "$lab/n1.log" || die "a runner was started"

note "a run is stopped, and its drive is free only when its runner has ended"
approve_all 1
c=$(campaign_submit small@1)
r=$(json '.items[0].id' run ls --campaign "$c")
acked() { [ "$(json .attempt.acked_seq run show "$r")" -ge 3 ]; }
wait_for 30 "the first records" acked
[ "$(api POST /api/v1/drives/d1/approve "{\"serial\": \"$serial\", \"mode\": \"readonly\"}")" = 200 ] ||
	die "readonly was refused: $(cat "$lab/answer")"
jq -e --arg r "$r" '.admin == "readonly" and .stopping == $r' "$lab/answer" >/dev/null ||
	die "the answer does not name the run: $(cat "$lab/answer")"
wait_for 30 "$r is cancelled" run_is "$r" cancelled
wait_for 10 "the drive is free" drive_is idle
! grep -qz "$lab/n1/runs" /proc/[0-9]*/cmdline 2>/dev/null || die "the drive is free while its runner lives"
before=$(content)

# The agent ends between its first agent.json and the birth of the runner: too short a moment to hit, so it is killed
# before it hears of the grant, and what it would have left is made of what an earlier attempt did leave.
model=$(find "$lab/n1/runs" -name agent.json | head -n 1)
[ -n "$model" ] || die "no attempt has left its agent.json"
cut_short() {
	local run=${1#r} row id fence dir
	row=$(sql "SELECT id, fence FROM attempt WHERE run_id = $run")
	id=${row%|*} fence=${row#*|} dir=$lab/n1/runs/$id
	[ ! -e "$dir" ] || die "the agent has heard of attempt $id"
	mkdir -m 700 "$dir"
	sql "SELECT program FROM attempt WHERE id = $id" >"$dir/program.json"
	jq --arg id "$id" --arg run "$run" --arg fence "$fence" '.attempt = $id | .run = $run | .fence = $fence |
		.state = "starting" | .pid = 0 | .stop_asked = false | .killed = false | .why = "" | .class = "" |
		.exit = null | .last_seq = "0" | .forgotten_ns = 0' "$model" >"$dir/agent.json"
}
grant_unheard() {
	kill -STOP "${agent_pid[n1]}"
	c=$(campaign_submit small@1)
	r=$(json '.items[0].id' run ls --campaign "$c")
	wait_for 10 "$r is granted" run_is "$r" leased
	agent_kill n1
	cut_short "$r"
}

note "a start that was cut short is not taken up when the approval was withdrawn meanwhile"
approve_all 1
grant_unheard
status=0
cli drive protect "$serial" --reason "goes back to its owner" --timeout 1s 2>"$lab/said" || status=$?
[ $status = 9 ] || die "protect ended with $status without the word of the node: $(cat "$lab/said")"
agent_start n1
wait_for 20 "$r is cancelled" run_is "$r" cancelled
wait_for 10 "the drive is free" drive_is idle
! grep "runner.start .*run=$r " "$lab/n1.log" || die "a runner was started"
[ "$(content)" = "$before" ] || die "the drive was written to"

note "it is taken up when it is still wanted, as the same attempt"
approve_all 1
grant_unheard
agent_start n1
wait_for 60 "campaign $c is done" campaign_state "$c" "done"
[ "$(sql "SELECT count(*) FROM attempt WHERE run_id = ${r#r}")" = 1 ] || die "$r needed a second attempt"
grep -q "attempt.unbegun .*run=$r " "$lab/n1.log" || die "the start was not cut short"
