#!/bin/bash
# A fio job file with fixed rates becomes a suite; its runs offer them as they are, and every screen tells rates, not shares.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

lab_start
drive_make n1 a1 64M
drive_make n1 a2 64M
agent_join n1
approve_all 2
cat >"$lab/rates.fio" <<'JOBS'
[global]
ioengine=io_uring
iodepth=4
direct=1
time_based
runtime=1
[paced]
rw=randrw
rwmixread=50
rate_iops=200
JOBS
cli campaign convert --name paced -o json "$lab/rates.fio" >"$lab/paced.json" 2>"$lab/left" || die "not carried: $(cat "$lab/left")"
# two rates in one suite, as of a list of vdbench
jq '.workloads[0].rates_iops = [100, 400] | .scaled = true' "$lab/paced.json" >"$lab/suite.json"
cli suite add "$lab/suite.json" >"$lab/added"
[ "$(cat "$lab/added")" = paced@1 ] || die "added: $(cat "$lab/added")"

# shows TEXT COMMAND...: one of its lines has the text.
shows() {
	local text=$1
	shift
	cli "$@" >"$lab/shown" 2>&1 || true
	grep -qE "$text" "$lab/shown" || die "ssdlab $* does not say \"$text\": $(cat "$lab/shown")"
}

note "suite and plan tell rates and what they write"
shows 'IOPS OFFERED' suite show paced@1
mapfile -t serials < <(json '.items[].serial' drive ls)
jq -n --arg a "${serials[0]}" --arg b "${serials[1]}" '{ssdlab: "campaign/v1", name: "paced", suite: "paced@1",
	drives: [{serial: $a}, {serial: $b}]}' >"$lab/campaign.json"
# 500 I/Os a second in all, half of them writes of 4 KiB, on two drives
[ "$(json '.rate_bytes' campaign plan "$lab/campaign.json")" = 2048000 ] || die "plan: $(cli campaign plan "$lab/campaign.json")"
shows '2.05 MB at the rates' campaign plan "$lab/campaign.json"

note "two points a run, without a maximum"
c=$(cli campaign submit "$lab/campaign.json" --yes)
wait_for 120 "$c is done" campaign_state "$c" "done"
mapfile -t runs < <(json '.items | sort_by(.id) | .[].id' run ls --campaign "$c")
[ "$(json '.progress | "\(.points_done) of \(.points_total)"' run show "${runs[0]}")" = "2 of 2" ] || die "points of ${runs[0]}"
[ "$(api GET "/api/v1/runs/${runs[0]}/points")" = 200 ] || die "no points: $(cat "$lab/answer")"
jq -e '[.items[] | [.load_percent, .offered_iops]] == [[null, 100], [null, 400]]' "$lab/answer" >/dev/null ||
	die "points: $(cat "$lab/answer")"

note "curve, compare and rank tell the rate and no peak"
shows '^no peak: rates were offered' curve "${runs[0]}"
shows '^ +2 +rate +400 ' curve "${runs[0]}"
shows 'IOPS at the highest rate .* of 400 IOPS offered' compare "${runs[0]}" "${runs[1]}"
shows 'by IOPS at the highest rate, 400 IOPS offered' rank --workload paced --metric iops@rate
shows 'fix: runs have fixed rates: add --metric iops@rate' rank --campaign "$c"
[ "$(json '.items | length' rank --workload paced)" = 0 ] || die "a rate has a peak: $(cat "$lab/out")"
shows '^first: .* IOPS of 100 offered' curve "${runs[0]}"
shows '^paced +first .* 100 IOPS' curve "${runs[0]}" --facts
nothing_lost
