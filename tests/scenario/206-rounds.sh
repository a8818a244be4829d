#!/bin/bash
# PTS-like tests from the campaign to the verdicts: a runner that is killed in the middle goes on with the next
# round, no record is lost, and every round is there.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

lab_start
drive_make n1 a 64M
agent_join n1
approve_all 1

tests_of() {
	[ "$(api GET "/api/v1/runs/$run/rounds")" = 200 ] || die "no rounds: $(cat "$lab/answer")"
	jq -er "$1" "$lab/answer"
}

note "the plan tells what the suite takes at most"
jq -n --argjson drives "$(json '[.items[] | {serial}]' drive ls)" \
	'{ssdlab: "campaign/v1", name: "plan", suite: "snia-pts-quick@1", $drives}' >"$lab/campaign.json"
json '.warnings[] | select(contains("all rounds"))' campaign plan "$lab/campaign.json" >/dev/null
[ "$(json '.drives[0].write_bytes | tonumber' campaign plan "$lab/campaign.json")" -gt $((10 * 64 << 20)) ] ||
	die "the plan forgets purge and preconditioning"

campaign=$(campaign_submit snia-pts-quick@1)
run=$(json '.items[0].id' run ls --campaign "$campaign")

rounds_at_least() {
	[ "$(tests_of "[.items[] | select(.test == \"$1\") | .list[]] | length")" -ge "$2" ]
}

note "the runner is killed in the middle of a round"
wait_for 60 "a round of IOPS" rounds_at_least iops 1
killed=
for p in /proc/[0-9]*/cmdline; do
	if { tr '\0' ' ' <"$p"; } 2>/dev/null | grep -q "ssdlab-runner run .*$lab/"; then
		killed=${p#/proc/}
		killed=${killed%/cmdline}
		kill -9 "$killed"
	fi
done
[ -n "$killed" ] || die "there is no runner"

wait_for 220 "campaign $campaign is done" campaign_state "$campaign" "done"
nothing_lost
[ "$(sql "SELECT count(*) FROM attempt")" = 1 ] || die "the run needed a second attempt"
[ "$(sql "SELECT state FROM attempt")" = sealed ] || die "the attempt is not sealed"
grep -q runner.restart "$lab/n1.log" || die "the agent did not start the runner again"

note "every round is there, and one is void for that"
tests_of '.items[] | select(.rounds != (.list | length) or [.list[].round] != [range(1; .rounds + 1)])
	| .test' && die "rounds are missing"
[ "$(tests_of '[.items[] | .list[] | select(.void != null) | select(.void | contains("started again"))] | length')" = 1 ] ||
	die "no round is void for the runner's end, or several are: $(tests_of '[.items[].list[].void]')"
[ "$(tests_of '[.items[] | .test] | length')" = 26 ] || die "tests are missing"

note "each test has its verdict, with the figures that led to it"
[ "$(tests_of '[.items[] | select(.verdict == "not_judged")] | length')" = 18 ] || die "verdicts of tests without tracking"
[ "$(tests_of '[.items[] | select(.verdict == "steady" or .verdict == "not_reached")] | length')" = 8 ] ||
	die "verdicts of tests with tracking: $(tests_of '[.items[] | [.test, .verdict]]')"
tests_of '.items[] | select(.verdict == "steady") | .tracking[]
	| select(.range_ratio > 0.2 or .slope_ratio > 0.1 or (.values | length) != 5) | .cell' &&
	die "steady, and is not"
tests_of '.items[] | select(.first_round != null and .last_round - .first_round == 4) | .tracking[]
	| select(.mean == null or .range_ratio == null or .slope_ratio == null or .intercept == null) | .cell' &&
	die "a window without its figures"

note "results are the means of the window, for all cells"
[ "$(tests_of '[.items[] | select(.test == "iops") | .cells[] | select(.iops > 0 and .rounds >= 1)] | length')" = 56 ] ||
	[ "$(tests_of '.items[] | select(.test == "iops") | .first_round')" = null ] || die "cells of IOPS are missing"
sql "SELECT DISTINCT kind FROM ledger" | grep -q purge || die "the drive was not purged"
cli run show "$run" >"$lab/shown"
for text in 'Steady state' 'Results of latency' 'READ 65 %' 'is void'; do
	grep -q "$text" "$lab/shown" || die "run show does not say \"$text\": $(cat "$lab/shown")"
done

note "response times are measured at operating points that were chosen while it ran"
[ "$(tests_of '[.items[] | select(.choice != null) | .choice.pick] | join(" ")')" = "max mid min" ] ||
	die "choices are missing: $(tests_of '[.items[].choice]')"
tests_of '.items[] | select(.choice != null) | select(if .choice.cell == null then .ended_by != "no_choice" or .rounds != 0
	else .choice.in_flight as $n | .rounds != 1 or any(.cells[]; .in_flight != $n) end) | .test' &&
	die "a point that was not measured as it was chosen: $(tests_of '[.items[] | select(.choice != null)]')"
if tests_of '.items[] | select(.test == "dirth-matrix") | .first_round' >/dev/null; then
	[ "$(tests_of '.items[] | select(.test == "dirth-min") | .choice.cell')" = dirth-matrix/t1-q1 ] || die "another min"
	grep -q "dirth-min: min is dirth-matrix/t1-q1: 1 worker, 1 I/O in flight" "$lab/shown" ||
		die "run show does not say what was chosen"
fi

note "what polls the health of a drive is left out where there is none, and said so by plan and run"
jq -n --argjson drives "$(json '[.items[] | {serial}]' drive ls)" '{ssdlab: "campaign/v1", name: "polls",
	suite: "targeted-quick@1", workloads: ["read-under-write", "health-polling"], $drives}' >"$lab/campaign.json"
json '.warnings[] | select(contains("without a log of their health") and endswith(": health-polling"))' \
	campaign plan "$lab/campaign.json" >/dev/null || die "the plan does not say what is left out"
campaign=$(cli campaign submit "$lab/campaign.json" --yes)
wait_for 60 "campaign $campaign is done" campaign_state "$campaign" "done"
run=$(json '.items[0].id' run ls --campaign "$campaign")
[ "$(tests_of '.items[] | select(.test == "health-polling") | [.left_out_for, (.left_out | length), (.cells | length)] | join(" ")')" = \
	"health 4 0" ] || die "health-polling was measured, or not told: $(tests_of '.items[1]')"
[ "$(tests_of '.items[] | select(.test == "read-under-write") | .cells | length')" = 5 ] || die "the other test is not whole"
cli run show "$run" | grep -q "^health-polling  *left out" ||
	die "the verdict of a test that was left out is another: $(cli run show "$run")"
cli run show "$run" | grep -q "health-polling: left out as the drive has no log of its health to poll: alone, poll-1s" ||
	die "run show does not say it: $(cli run show "$run")"
[ "$(json '.progress | "\(.points_done) of \(.points_total)"' run show "$run")" = "6 of 6" ] || die "points of $run"
jq '.workloads = ["health-polling"]' "$lab/campaign.json" >"$lab/alone.json"
cli campaign plan "$lab/alone.json" 2>&1 | grep -q "no log of its health" || die "a campaign of nothing is not refused"

note "cells are ranked as cells, and never with what is not scaled"
[ "$(json '.suite' rank --workload latency/r0-4k --suite snia-pts-quick@1)" = snia-pts-quick@1 ] || die "no ranking"
[ "$(json '.items | length' rank --workload latency/r0-4k --suite snia-pts-quick@1)" = 1 ] || die "the drive has no rank"
