#!/bin/bash
# kill -9 of the controller twice and of an agent once during a campaign changes nothing in what is stored.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

lab_start
for n in 1 2; do
	drive_make "n$n" "a$n" 64M
	drive_make "n$n" "b$n" 64M
	agent_join "n$n"
done
approve_all 4
suite_add

points_done() {
	[ "$(json '[.items[].progress.points_done] | add' run ls --campaign "$1")" -ge "$2" ]
}

note "an undisturbed campaign"
calm=$(campaign_submit small@1)
wait_for 120 "campaign $calm is done" campaign_state "$calm" "done"
expected=$(samples | cut -d '|' -f 2 | sort | uniq -c)

note "the same with three violent deaths"
c=$(campaign_submit small@1)
wait_for 60 "the first points" points_done "$c" 4
controller_kill
controller_start
agent_kill n1
wait_for 60 "more points" points_done "$c" 8
agent_start n1
controller_kill
controller_start
kill -HUP "$controller_pid" # a terminal that closes ends nothing
wait_for 120 "campaign $c is done" campaign_state "$c" "done"
nothing_lost

note "as many samples as without them"
[ "$(sql "SELECT count(*) FROM attempt")" = 8 ] || die "a run needed a second attempt"
seen=$(samples | cut -d '|' -f 2 | sort | uniq -c)
[ "$(echo "$expected" | awk '{print $2}')" = "$(echo "$seen" | awk '{print $2}')" ] ||
	die "samples per run: calm $expected, disturbed $seen"
