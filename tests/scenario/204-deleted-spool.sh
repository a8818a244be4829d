#!/bin/bash
# Somebody deletes the folder of an attempt on its node while its runner is at work: the run still comes to an end.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

lab_start
drive_make n1 a1 64M
agent_join n1
approve_all 1
suite_add
acked() { [ "$(json .attempt.acked_seq run show "$r")" -ge 3 ]; }
ended() { json '.state | select(. == "done" or . == "failed")' run show "$r"; }
delete_under() {
	c=$(campaign_submit small@1)
	r=$(json '.items[0].id' run ls --campaign "$c")
	wait_for 30 "the first records" acked
	attempt=$(sql "SELECT max(id) FROM attempt WHERE run_id = ${r#r}")
	rm -rf "$lab/n1/runs/$attempt${1:-}"
}

note "the run of a runner that goes on has an end"
delete_under
wait_for 90 "$r has ended" ended
free() { [ "$(json '.items[0].occupancy' drive ls)" = idle ]; }
wait_for 10 "the drive is free" free

note "the run of a runner that goes on has an end when records are lost that were not sent"
delete_under /none
agent_kill n1
bytes() { cat "$lab/n1/runs/$attempt"/spool/*.seg | wc -c; }
sent=$(bytes)
unsent() { [ "$(bytes)" -gt "$sent" ]; }
wait_for 30 "records that nobody sends" unsent
rm -r "$lab/n1/runs/$attempt/spool"
agent_start n1
wait_for 90 "$r has ended" ended
wait_for 10 "the drive is free" free
grep -q "spool.lost attempt=$attempt " "$lab/n1.log" || die "what is lost is not told"

note "the run of a runner that dies is tried again"
delete_under
pid=$(sed -n "s/.*runner.start attempt=$attempt .* pid=\([0-9]*\) .*/\1/p" "$lab/n1.log")
kill -9 "$pid"
wait_for 60 "$r is done" campaign_state "$c" "done"
[ "$(sql "SELECT count(*) FROM attempt WHERE run_id = ${r#r}")" = 2 ] || die "$r was not tried twice"
[ "$(sql "SELECT count(*) FROM attempt WHERE state <> 'sealed'")" = 0 ] || die "an attempt is not sealed"
