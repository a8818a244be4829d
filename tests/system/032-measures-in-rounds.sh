#!/bin/sh
# The whole of snia-pts-quick on a loop device: every test comes to its verdict, and a runner that is killed in the
# middle of a round goes on with the next one.
. "${srcdir:-.}/tests/system/lib.sh"
begin
need_tool jq

make_loop drive 64
"$helper" steps "${srcdir:-.}/etc/suites/snia-pts-quick-1.json" "$loop" >"$dir/steps" ||
	fail "the suite does not fit the drive"
region_length=$(tail -n 1 "$dir/steps")
write_program 1 "$loop" "" "$(head -n 1 "$dir/steps" | sed 's/^\[//; s/\]$//')"

# events NAME: the events of that name so far.
events()
{
	"$helper" spool "$dir/runs/1/spool" | sed -n "s/^[0-9]* event \(.*\"event\":\"$1\".*\)$/\1/p"
}

second_round_has_begun()
{
	events point.start | jq -se 'any(.[]; .test == "throughput-1m" and .round == 2)' >/dev/null
}

"$runner" run --dir "$dir/runs/1" --state-dir "$dir/state" --drive "$loop" 2>"$dir/runs/1/first.log" &
pid=$!
background $pid
within 150 second_round_has_begun
kill -9 $pid
wait $pid 2>/dev/null || true
before=$("$helper" spool "$dir/runs/1/spool" | tail -n 1 | cut -d ' ' -f 1)
say "killed after record $before"

within 10 "$helper" hold "$loop" </dev/null >/dev/null 2>&1
start_runner 1 "$loop"
result=$(result_of 1)
[ "$code" = 0 ] || fail "exit code $code: $(tail -n 5 "$dir/runs/1/runner.log")"
case $result in
*'"state":"done"'*) ;;
*) fail "not done: $result" ;;
esac
[ "$(events run.resumed | jq .step)" = "$(events round.end | jq -s '[.[] | select(.void != null)
	| select(.void | contains("started again"))] | .[0].step')" ] || fail "it did not go on where it was cut"
say "it went on with the next round, and no number of a record is missing"

events steady >"$dir/ends"
[ "$(jq -s length "$dir/ends")" = 26 ] || fail "not every test has ended: $(jq -c '[.test, .verdict]' "$dir/ends")"
jq -se 'all(.[]; if (.tracking | length) > 0 then .verdict == "steady" or .verdict == "not_reached"
	else .verdict == "not_judged" end)' "$dir/ends" >/dev/null || fail "verdicts: $(jq -c '[.test, .verdict]' "$dir/ends")"
jq -se 'all(.[] | select(.verdict == "steady") | .tracking[]; .range_ratio <= 0.2 and .slope_ratio <= 0.1 and .mean > 0)' \
	"$dir/ends" >/dev/null || fail "steady, and is not"
# every round of every test is there once, and a cell of a round is a point
events round.end | jq -se 'group_by(.step) | all(.[]; [.[].round] == [range(1; length + 1)])' >/dev/null ||
	fail "rounds are missing"
cells=$("$helper" spool "$dir/runs/1/spool" | sed -n 's/^[0-9]* point //p' |
	jq -s '[.[] | select(.test == "iops" and .round == 1) | .cell] | length')
[ "$cells" = 56 ] || fail "$cells cells of IOPS in a round, not 56"
# each operating point is that of a cell of the matrix, and was measured so; or it says why there is none
"$helper" spool "$dir/runs/1/spool" | sed -n 's/^[0-9]* point //p' >"$dir/points"
for pick in max mid min; do
	jq -se --arg test "dirth-$pick" --slurpfile points "$dir/points" '.[] | select(.test == $test)
		| (.choice.cell == null and .ended_by == "no_choice" and .rounds == 0) or (.choice as $c
		| .rounds == 1 and any($points[]; .workload == $c.cell and .in_flight == $c.in_flight)
		and ([$points[] | select(.test == $test) | .in_flight == $c.in_flight and .workers == $c.workers]
		== [true, true]))' "$dir/ends" >/dev/null ||
		fail "dirth-$pick: $(jq -c --arg test "dirth-$pick" 'select(.test == $test)' "$dir/ends")"
	say "dirth-$pick: $(jq -r --arg test "dirth-$pick" 'select(.test == $test) | .choice.text' "$dir/ends")"
done
jq -se 'any(.[]; .test == "dirth-matrix" and .first_round == null) or any(.[]; .choice.cell == "dirth-matrix/t1-q1"
	and .choice.pick == "min")' "$dir/ends" >/dev/null || fail "the lowest demand is not one I/O"
say "$(jq -s '[.[] | select(.verdict == "steady")] | length' "$dir/ends") of 8 tests were steady"
