#!/bin/sh
# A run ends soon when it is told to: over the socket as cancelled, by a signal as a failure that can be tried again.
. "${srcdir:-.}/tests/system/lib.sh"
begin

times='"maximum_warmup_ns":"0","maximum_measure_ns":"60000000000","warmup_ns":"0","measure_ns":"60000000000","arrivals":"fixed","load_percent":[50]'

has_sample()
{
	"$helper" spool "$dir/runs/$1/spool" 2>/dev/null | grep -q '^[0-9]* sample '
}

# in_background RUN: starts a run that would take a minute and waits for its first sample.
in_background()
{
	write_program "$1" "$loop" "" "$(workload 4k-random-read 100 100 4096)"
	"$runner" run --dir "$dir/runs/$1" --state-dir "$dir/state" --drive "$loop" \
		2>"$dir/runs/$1/runner.log" &
	pid=$!
	background "$pid"
	within 20 has_sample "$1"
}

# ended RUN STATE CLASS REASON: the run ends with exit code 0 and that result.
ended()
{
	wait "$pid" || fail "exit code $?"
	case $(result_of "$1") in
	*'"state":"'"$2"'","class":'"$3"',"reason":"'"$4"'"'*) say "$2: $4" ;;
	*) fail "got $(result_of "$1")" ;;
	esac
	grep -q '"state":"stopped"' "$dir/runs/$1/records" || fail "no stopped point"
}

# stopped ENGINE SIGNAL: a load by hand ends soon, with what it found until then and exit code 7.
stopped()
{
	before=$(reads)
	"$runner" bench "$loop" --engine "$1" --in-flight 2 --workers 1 --time 60s -o json >"$dir/out" 2>"$dir/err" &
	pid=$!
	background "$pid"
	within 20 began
	code=0
	kill "-$2" "$pid"
	wait "$pid" || code=$?
	[ "$code" = 7 ] || fail "exit code $code of a stopped bench --engine $1: $(cat "$dir/err")"
	grep -q '"state":"stopped"' "$dir/out" || fail "not told: $(cat "$dir/out")"
	say "bench --engine $1 ended by SIG$2"
}
reads() { awk '{ print $1 }' "/sys/block/${loop#/dev/}/stat"; }
began() { [ "$(reads)" -gt $((before + 1000)) ]; }

make_loop a 16
stopped uring TERM
stopped uring INT
if command -v fio >/dev/null; then stopped fio TERM; fi
in_background 1
status=$("$helper" ask "$dir/runs/1" '{"do":"status"}')
case $status in
*'"state":"running","step":1,"workload":"4k-random-read","point":1,"load_percent":null,'*) ;;
*) fail "status: $status" ;;
esac
"$helper" ask "$dir/runs/1" '{"do":"stop","why":"sr needs the bench"}' >/dev/null
ended 1 cancelled null "sr needs the bench"

in_background 2
kill -TERM "$pid"
ended 2 failed '"infra"' "runner was told to end by SIGTERM, as at a shutdown"

say "a runner that was killed leaves the drive, and a second start says so"
in_background 3
kill -KILL "$pid"
wait "$pid" || true
start_runner 3 "$loop"
result_of 3 | grep -q '"class":"infra","reason":"this attempt was started before' ||
	fail "got $(result_of 3)"
in_background 4
kill -INT "$pid"
ended 4 failed '"infra"' "runner was told to end by SIGINT"
