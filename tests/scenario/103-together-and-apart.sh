#!/bin/bash
# Runs that start together begin at one instant on two nodes; runs that go apart never share one.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

lab_start
drive_make n1 a1 64M
drive_make n2 a2 64M
agent_join n1
agent_join n2
approve_all 2
suite_add

# campaign MEMBER: on all drives, with MEMBER set; prints its id.
campaign() {
	local serials
	serials=$(json '[.items[] | {serial}]' drive ls)
	jq -n --arg member "$1" --argjson drives "$serials" \
		'{ssdlab: "campaign/v1", name: $member, suite: "small@1", $drives, workloads: ["4k-random-read"]} + {($member): true}' \
		>"$lab/campaign.json"
	cli campaign submit "$lab/campaign.json" --yes
}

# Both nodes share this machine's clock, so their offsets are known to be none: what is measured must say so.
note "each node's clock is measured"
clocks_known() { [ "$(json '[.items[] | select(.clock_doubt_ns != null)] | length' node ls)" = 2 ]; }
wait_for 60 "both clocks are known" clocks_known
json '.items[] | .clock_ahead_ns <= .clock_doubt_ns and .clock_ahead_ns >= -.clock_doubt_ns' node ls | grep -q false &&
	die "a clock is farther off than its doubt: $(cli node ls -o json)"

note "runs that start together begin at one instant"
c=$(campaign together)
begun() { [ "$(json '.starts[0].begun' campaign show "$c")" = 2 ]; }
wait_for 120 "both have begun" begun
json '.starts[0] | .runs == 2 and .skew_ns >= 0 and .doubt_ns >= 0' campaign show "$c" >/dev/null ||
	die "not as expected: $(cli campaign show "$c" -o json)"
# The runners of one machine wait for one instant of one clock: they differ by what it takes to wake up.
json '.starts[0].skew_ns < 2000000000' campaign show "$c" >/dev/null ||
	die "they began far apart: $(cli campaign show "$c" -o json)"
note "$(json '.starts[0] | "apart by \(.skew_ns) ns, +- \(.doubt_ns) ns"' campaign show "$c")"
cli campaign show "$c" | grep -q "how far apart they began" || die "not shown"
r=$(json '.items[0].id' run ls --campaign "$c")
json '.attempt.start.lag_ns != null' run show "$r" >/dev/null || die "the lag is not told: $(cli run show "$r" -o json)"
wait_for 120 "the campaign is done" campaign_state "$c" "done"

note "all of their drives or none"
serial=$(json '.items[0].serial' drive ls)
cli node drain n2 --reason "a test" >/dev/null
c=$(campaign together)
blocked() { json '[.items[].blockers[].code] | sort == ["campaign.together", "node.draining"]' run ls --campaign "$c"; }
wait_for 30 "both wait" blocked
[ "$(json .occupancy drive show "$serial")" = idle ] || die "$serial was taken"
cli node resume n2 >/dev/null
wait_for 120 "the campaign is done" campaign_state "$c" "done"

note "runs that go apart do not share a node"
drive_make n1 a3 64M
kill -HUP "${agent_pid[n1]}" # looks at its drives now, not in half a minute
approve_all 3
c=$(campaign apart)
wait_for 180 "the campaign is done" campaign_state "$c" "done"
[ "$(sql "SELECT count(*) FROM attempt a JOIN attempt b ON a.node_id = b.node_id AND a.id < b.id
	JOIN run r ON r.id = a.run_id JOIN run s ON s.id = b.run_id AND s.campaign_id = r.campaign_id
	WHERE r.campaign_id = ${c#c} AND b.granted_ns < a.exited_ns")" = 0 ] || die "two ran at once on a node"
controller_stop
nothing_lost
