#!/bin/bash
# agreement.sh [REPEATS]: the same loads measured three ways on the same loop device: as points of a campaign, by `ssdlab-runner
# bench`, and by fio. The loads: as much as goes through with 16 in flight, and half of that offered at random times. Interleaved;
# prints the median and range of each way and whether the ranges overlap, which is what "equal within the noise that repeats show"
# means here. Root. The lab lies on the disk of /var/tmp unless SSDLAB_LAB_DIR says otherwise, its spool and database too.
#
# Nothing else runs while a campaign measures: a loop that asked for its state each 100 ms once took a third of its IOPS and made
# its p99 four times as long on a machine of two cores (docs/evidence/agreement.txt).
# shellcheck source=../scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"
repeats=${1:-5}
[ "$(id -u)" = 0 ] || skip "needs root for a loop device"
command -v fio >/dev/null || skip "needs fio"

lab_start
drive_make n1 a1 256M
agent_join n1
approve_all 1
device=${loops[0]}
suite=$(suite_small | jq -c '.name = "agree" | .minimum_capacity = "64MiB" |
	.ramp.maximum = {warmup: "1s", measure: "4s"} | .ramp.point = .ramp.maximum | .ramp.load = ["50%"] |
	.workloads = [{id: "4k-random-read", read: "100%", access: "random", block: "4KiB", in_flight: 16}]')
[ "$(api POST /api/v1/suites "$suite")" = 201 ] || die "suite refused: $(cat "$lab/answer")"

idle() { [ "$(json '.items[0].occupancy' drive ls)" = idle ]; }

# Each way appends lines "LOAD WAY IOPS mean_ns p99_ns", latencies from submission to completion.
by_campaign() {
	local c r
	c=$(campaign_submit agree@1)
	cli campaign watch "$c" >/dev/null 2>&1 || die "campaign $c failed"
	r=$(json '.items[0].id' run ls --campaign "$c")
	wait_for 10 "the drive is idle" idle
	cli api GET "/api/v1/runs/$r/points?workload=4k-random-read" >"$lab/points"
	rate=$(jq '.items[] | select(.load_percent != null) | .offered_iops' "$lab/points")
	jq -r '.items[] | "\(if .load_percent == null then "maximum" else "half" end) campaign \(.iops) \(.service.lat_mean_ns) " +
		"\(.service.lat_p99_ns)"' "$lab/points" >>"$lab/figures"
}

# by_bench LOAD [OPTIONS...]
by_bench() {
	local load=$1
	shift
	"$build/runner/ssdlab-runner" bench "$device" --block 4KiB --read 100 --access random --in-flight 16 \
		--warmup 1s --time 4s -o json "$@" |
		jq -r '"'"$load"' bench \(.iops) \(.service.lat_mean_ns) \(.service.lat_p99_ns)"' >>"$lab/figures"
}

# by_fio LOAD [OPTIONS...]
by_fio() {
	local load=$1
	shift
	fio --name=agree --filename="$device" --direct=1 --ioengine=io_uring --rw=randread --bs=4k --iodepth=16 \
		--thread --registerfiles --fixedbufs --time_based --ramp_time=1 --runtime=4 --size=64m --randrepeat=0 \
		--norandommap --lat_percentiles=1 --clat_percentiles=0 --output-format=json "$@" |
		jq -r '.jobs[0].read | "'"$load"' fio \(.iops) \(.lat_ns.mean) \(.lat_ns.percentile["99.000000"])"' \
			>>"$lab/figures"
}

for i in $(seq "$repeats"); do
	by_campaign
	by_bench maximum
	by_fio maximum
	by_bench half --rate "$rate/s"
	by_fio half --rate_iops="${rate%.*}" --rate_process=poisson
	echo "repeat $i of $repeats" >&2
done

awk '
# Sorts the values of one column of one way of one load into v; their number.
function sorted(load, way, col,    n, i, j, t) {
	n = 0
	for (i = 1; i <= NR; i++) if (l[i] == load && w[i] == way) v[++n] = x[i, col]
	for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] < v[j - 1]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
	return n
}
function verdict(k) { return lo[1] <= hi[k] && lo[k] <= hi[1] ? "overlap" : "DIFFER" }
{ l[NR] = $1; w[NR] = $2; for (c = 3; c <= 5; c++) x[NR, c] = $c }
END {
	split("maximum half", loads, " "); split("campaign bench fio", ways, " "); split("- - IOPS mean_ns p99_ns", names, " ")
	for (a = 1; a <= 2; a++) for (c = 3; c <= 5; c++) {
		for (k = 1; k <= 3; k++) {
			n = sorted(loads[a], ways[k], c); lo[k] = v[1]; hi[k] = v[n]; mid = v[int((n + 1) / 2)]
			printf "%-8s %-8s %-9s median %12.0f  range %12.0f .. %12.0f\n", loads[a], names[c], ways[k], mid, lo[k], hi[k]
		}
		printf "%-8s %-8s campaign and bench %s, campaign and fio %s\n", loads[a], names[c], verdict(2), verdict(3)
	}
}' "$lab/figures"
