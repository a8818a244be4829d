#!/bin/sh
# While the spool is full the run goes on; nothing is lost once there is room again.
. "${srcdir:-.}/tests/system/lib.sh"
begin

make_loop a 16
times='"maximum_warmup_ns":"0","maximum_measure_ns":"3000000000","warmup_ns":"0","measure_ns":"3000000000","arrivals":"fixed","load_percent":[50]'
write_program 1 "$loop" "" "$(workload 4k-random-read 100 100 4096)"
small_disk "$dir/runs/1/spool" 1M
dd if=/dev/zero of="$dir/runs/1/spool/filler" bs=4k count=225 status=none
"$runner" run --dir "$dir/runs/1" --state-dir "$dir/state" --drive "$loop" \
	2>"$dir/runs/1/runner.log" &
pid=$!
background "$pid"
within 20 grep -q outbox.stuck "$dir/runs/1/runner.log"
say "full: $(grep outbox.stuck "$dir/runs/1/runner.log")"
# Some samples must wait before there is room.
some_wait() { "$helper" ask "$dir/runs/1" '{"do":"status"}' | grep -q '"point":2'; }
within 20 some_wait
rm "$dir/runs/1/spool/filler"
wait "$pid" || fail "exit code $?: $(cat "$dir/runs/1/runner.log")"
result_of 1 | grep -q '"state":"done"' || fail "got $(result_of 1)"
[ "$(grep -c '^[0-9]* sample ' "$dir/runs/1/records")" -ge 6 ] || fail "samples are missing"
if grep -q ' gap ' "$dir/runs/1/records"; then fail "there are gaps"; fi
grep -q outbox.free "$dir/runs/1/runner.log" || fail "recovery was not told"

times='"maximum_warmup_ns":"0","maximum_measure_ns":"300000000","warmup_ns":"0","measure_ns":"300000000","arrivals":"fixed","load_percent":[]'

# told_to_end RUN KIB: the run ends while so much of its spool is taken, and is told to give up;
# its exit code goes to $code.
told_to_end()
{
	write_program "$1" "$loop" "" "$(workload 4k-random-read 100 100 4096)"
	small_disk "$dir/runs/$1/spool" 1M
	dd if=/dev/zero of="$dir/runs/$1/spool/filler" bs=1k count="$2" status=none 2>/dev/null || true
	"$runner" run --dir "$dir/runs/$1" --state-dir "$dir/state" --drive "$loop" \
		2>"$dir/runs/$1/runner.log" &
	pid=$!
	background "$pid"
	within 20 grep -q run.end "$dir/runs/$1/runner.log"
	kill -TERM "$pid"
	code=0
	wait "$pid" || code=$?
}

say "samples that find no room become a gap when the runner is told to end"
told_to_end 2 900
[ "$code" = 0 ] || fail "exit code $code: $(cat "$dir/runs/2/runner.log")"
result_of 2 | grep -q '"state":"done"' || fail "got $(result_of 2)"
grep -q ' gap .*"samples":' "$dir/runs/2/records" || fail "no gap: $(cat "$dir/runs/2/records")"
grep -q '^[0-9]* point ' "$dir/runs/2/records" || fail "no point"

say "a result that finds no room is an error"
told_to_end 3 1024
[ "$code" = 1 ] || fail "exit code $code: $(cat "$dir/runs/3/runner.log")"
grep -q run.unsettled "$dir/runs/3/runner.log" || fail "not told"
