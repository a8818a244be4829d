#!/bin/bash
# The whole suite of a review, scaled down, on a virtual drive: each workload's ramp is there with every fact of its
# curve, and the run is sealed with what it ran on, how the drive was, and what is to be held against its points.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

lab_start
drive_make n1 a 64M
agent_join n1
approve_all 1

suite=storagereview-2021-quick@1
campaign=$(campaign_submit "$suite")
run=$(json '.items[0].id' run ls --campaign "$campaign")
wait_for 1500 "campaign $campaign is done" campaign_state "$campaign" "done"

note "nothing is lost, and the attempt is sealed"
nothing_lost
[ "$(sql "SELECT count(*) || ' ' || min(state) FROM attempt")" = "1 sealed" ] || die "not one sealed attempt"

note "20 workloads have their maximum and 12 loads"
cli api GET "/api/v1/runs/$run/points" >"$lab/points.json"
jq -e '[.items[] | select(.workload != "fill")] | length == 260 and (group_by(.workload) | length == 20 and
	all(.[]; ([.[] | .load_percent] | sort) == [null, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120]))' \
	"$lab/points.json" >/dev/null || die "points are missing"
jq -e 'all(.items[]; .state == "done" and .iops > 0 and .service.lat_mean_ns > 0 and .service.lat_max_ns > 0)' \
	"$lab/points.json" >/dev/null || die "points without figures"
jq -e 'all(.items[] | select(.flags | length > 0); (.reasons | length) == (.flags | length))' "$lab/points.json" \
	>/dev/null || die "a flag has no reason"

note "each curve tells its facts, or why there is none"
cli api GET "/api/v1/curves?run=$run" >"$lab/curves.json"
jq -e '.scaled and (.workloads | length == 20)' "$lab/curves.json" >/dev/null || die "not 20 curves, marked as scaled"
jq -e 'all(.workloads[]; .first.load_percent == 10 and .peak.iops > 0 and .peak.service.lat_mean_ns > 0 and
	(.fall == null or .fall.percent >= 0) and (.best == null) == (.best_reason != "") and (.fall == null) == (.fall_reason != "") and
	(.knee == null) == (.knee_reason != "") and ([.lines[].latency] | unique) == ["mean", "p99", "p99.9"] and
	all(.lines[]; .state == "found" or .state == "all" or .state == "none" or .reason != ""))' "$lab/curves.json" \
	>/dev/null || die "facts are missing"
[ "$(cli curve "$run" --facts | grep -c . || true)" -ge 20 ] || die "the facts are not shown"

note "the run tells what it ran on, how the drive was before and after, and what it went through"
json '.environment.hash | length > 0' run show "$run" >/dev/null || die "no environment"
cli run show "$run" >"$lab/show.txt"
grep -q "^none: virtual" "$lab/show.txt" || die "that a virtual drive has no health is not told"
grep -q "$suite" "$lab/show.txt" || die "the suite is not told"
grep -qi "scaled" "$lab/show.txt" || die "that the suite is scaled is not told"
sql "SELECT DISTINCT kind FROM ledger" | grep -q fill || die "the drive's ledger lacks the fill"

note "its figures have a ranking, among scaled ones only"
cli rank --workload sql --suite "$suite" -o json >"$lab/rank.json"
jq -e '.suite == "'"$suite"'" and (.items | length == 1)' "$lab/rank.json" >/dev/null || die "the drive has no rank"
