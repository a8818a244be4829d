#!/bin/bash
# A campaign on four drives of two nodes goes from submission to ranking and comparison.
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

note "a suite tells where its parameters come from"
cli suite show storagereview-2021@1 >"$lab/suite.txt"
grep -Eq "^/workloads/sql/in_flight +derived +Little's law" "$lab/suite.txt" || die "the source of a depth is not told"
[ "$(grep -c '^/workloads/oracle ' "$lab/suite.txt")" = 1 ] || die "a workload is not called by its id"
grep -q "4KiB 45%, 8KiB 15%, 16KiB 25%, 32KiB 10%, 64KiB 5%" "$lab/suite.txt" || die "block sizes do not rise"

note "the plan says what will be erased before anything is stored"
c=$(campaign_submit small@1)
cli campaign plan "$lab/campaign.json" >"$lab/plan.txt"
grep -q "erases everything on" "$lab/plan.txt" || die "the plan does not warn"
grep -Eq "^writes 268 MB to purge and fill, and for at most .* for each GB/s" "$lab/plan.txt" ||
	die "the plan does not say what the bound on writes is made of: $(cat "$lab/plan.txt")"
wait_for 120 "campaign $c is done" campaign_state "$c" "done"
nothing_lost

note "every point of every run is there with its figures"
for r in $(json '.items[].id' run ls --campaign "$c"); do
	[ "$(json .state run show "$r")" = "done" ] || die "$r is not done"
	cli api GET "/api/v1/runs/$r/points" >"$lab/points.json"
	jq -e '[.items[] | select(.workload != "fill")] | length == 6' "$lab/points.json" >/dev/null ||
		die "$r does not have 6 points"
	jq -e 'all(.items[]; .state == "done" and .iops > 0 and .service.lat_mean_ns > 0)' "$lab/points.json" \
		>/dev/null || die "$r has points without figures"
	jq -e 'def up: if . > 1000 then (. / 100 | ceil) * 100 else (. / 10 | ceil) * 10 end;
		[.items[] | select(.workload != "fill")] | group_by(.workload) | all(
			(.[] | select(.load_percent == null) | .iops) as $maximum |
			.[] | select(.load_percent == 50) | .response.n > 0 and .offered_iops == ($maximum / 2 | up))' \
		"$lab/points.json" >/dev/null || die "$r was not offered half of its maximum, rounded up as vdbench does"
	jq -e '[.items[].load_percent] | index(100) != null and index(null) != null' "$lab/points.json" >/dev/null ||
		die "$r lacks the maximum or the 100 % point"
	jq -e 'all(.items[]; .compress_percent == 50 and .dedupe_percent == 20)' "$lab/points.json" >/dev/null ||
		die "a point of $r does not tell the data that the suite asks for"
done

note "each point has its seconds"
r=$(json '.items[0].id' run ls --campaign "$c")
cli api GET "/api/v1/runs/$r/series?point=2" | jq -e '.items | length >= 2 and (.[0].warmup == true)' >/dev/null ||
	die "no samples of point 2"
cli api GET "/api/v1/runs/$r/histogram?point=2&kind=service" | jq -e '.n > 0 and (.bins | length > 1)' >/dev/null ||
	die "no histogram of point 2"

note "what it ran on and how its drive is are told"
cli run show "$r" >"$lab/show.txt"
grep -Eq "^environment +[0-9a-f]{12}: Linux " "$lab/show.txt" || die "the environment is not told: $(cat "$lab/show.txt")"
grep -q "^none: virtual" "$lab/show.txt" || die "that a virtual drive has no health is not told"
hash=$(json .environment.hash run show "$r")
cli api GET "/api/v1/environments/$hash" >"$lab/environment.json"
jq -e '.manifest.versions | .runner == .agent' "$lab/environment.json" >/dev/null || die "the versions are not told"
[ "$(cli run ls --campaign "$c" -o json | jq -r '.items[].environment.hash' | sort -u | wc -l)" -le 2 ] ||
	die "runs of the same kind of drive on one machine have more than two environments"

note "rank orders four drives, compare shows two"
cli rank --workload 4k-random-read -o json >"$lab/rank.json"
jq -e '(.rankings[0].items // .items) | length == 4' "$lab/rank.json" >/dev/null || die "four drives were not ranked"
mapfile -t serials < <(json '.items[].serial' drive ls)
cli compare "${serials[0]}" "${serials[1]}" >"$lab/compare.txt"
grep -q "single run" "$lab/compare.txt" || die "one repeat a side must be called a single run"
grep -qi "virtual" "$lab/compare.txt" || die "virtual drives must be marked"

note "a file of vdbench becomes a suite, and a result of fio a foreign one to compare with"
cat >"$lab/sql.vdb" <<-'END'
	sd=sd1,lun=/dev/nowhere,threads=32
	wd=sql,sd=sd1,xfersize=8k,rdpct=97
	rd=sql,wd=sql,iorate=curve,curve=(10-120,10),elapsed=60,warmup=30
END
cli campaign convert "$lab/sql.vdb" >"$lab/sql.json" 2>"$lab/left.txt" || die "all of the load can be carried"
grep -q "^$lab/sql.vdb:1: lun=/dev/nowhere: " "$lab/left.txt" || die "a device that is left is not told"
! grep -q nowhere "$lab/sql.json" || die "a device was taken over"
[ "$(cli suite add "$lab/sql.json")" = sql@1 ] || die "the suite was not taken"
cli campaign convert -o yaml "$lab/sql.vdb" 2>/dev/null | cli suite add - | grep -qx sql@1 || die "the suite is another one as YAML"
cli suite show sql@1 | grep -Eq "^preparation +none$" || die "that it prepares nothing is not told"
! cli campaign lint "$lab/sql.json" 2>"$lab/lint.txt" || die "a suite is no campaign"
grep -q "ssdlab suite add" "$lab/lint.txt" || die "a suite is not told from a campaign"
sed "s/rdpct=97/rdpct=100/; s/sql/reads/g" "$lab/sql.vdb" >"$lab/reads.vdb"
cli campaign convert "$lab/reads.vdb" 2>/dev/null >"$lab/reads.json"
jq --arg suite "$(cli suite add "$lab/reads.json")" '.suite = $suite' "$lab/campaign.json" >"$lab/reads-campaign.json"
cli campaign plan "$lab/reads-campaign.json" >"$lab/reads.txt"
grep -q ": reads@1 on .*, writes nothing$" "$lab/reads.txt" || die "a plan that only reads does not say so: $(cat "$lab/reads.txt")"
echo 'rd=late,wd=sql,iorate=1000,elapsed=60,warmup=30,pause=5' >>"$lab/sql.vdb"
code=0
cli campaign convert "$lab/sql.vdb" >/dev/null 2>"$lab/left.txt" || code=$?
[ "$code" = 10 ] || die "a pause that is not carried gives exit code $code"
cat >"$lab/fio.json" <<-'END'
	{"fio version": "fio-3.33", "jobs": [{"jobname": "4k-random-read", "job options": {"ioengine": "libaio", "iodepth": "4"},
	"read": {"iops": 1000.0, "bw_bytes": 4096000, "lat_ns": {"N": 1000, "min": 100, "max": 9000, "mean": 4e6}},
	"write": {"iops": 0.0, "bw_bytes": 0, "lat_ns": {"N": 0, "min": 0, "max": 0, "mean": 0.0}}}]}
END
sed 's|"mean": 4e6}|&, "clat_ns": {"percentile": {"99.000000": 5000000}}|' "$lab/fio.json" >"$lab/clat.json"
cli import fio "$lab/clat.json" --subject "clat" 2>&1 >/dev/null | grep -q -- "--lat_percentiles=1" || die "how fio gives bins is not told"
x=$(cli import fio "$lab/fio.json" --subject "another bench" -o name 2>/dev/null)
[ "$x" = "$(cli import fio "$lab/fio.json" --subject "another bench" -o name 2>/dev/null)" ] || die "the same file was taken twice"
! cli import fio "$lab/fio.json" --subject "$(printf '%0999d' 0)" >"$lab/refused.txt" 2>"$lab/why.txt" || die "a long subject was taken"
[ ! -s "$lab/refused.txt" ] || die "an import that is refused prints $(cat "$lab/refused.txt")"
grep -qF "$lab/fio.json: " "$lab/why.txt" || die "the file that is refused is not told: $(cat "$lab/why.txt")"
cli compare "${serials[0]}" "$x" >"$lab/compare.txt"
grep -q "^B  foreign $x  another bench" "$lab/compare.txt" || die "a foreign side is not told"
grep -q "side B is foreign" "$lab/compare.txt" || die "there is no warning of a foreign side"
cli rank -o json >"$lab/rank.json"
! grep -q "another bench" "$lab/rank.json" || die "a foreign result was ranked"

note "history finds the runs by drive, node, suite, workload and time"
for filter in "serial=${serials[0]}" "node=n1" "suite=small@1" "workload=4k-random-read" "state=done" \
	"since=2020-01-01T00:00:00Z"; do
	cli api GET "/api/v1/runs?$filter" | jq -e '.items | length >= 1' >/dev/null || die "no run by $filter"
done
cli api GET "/api/v1/runs?until=2020-01-01T00:00:00Z" | jq -e '.items | length == 0' >/dev/null || die "until ignored"
