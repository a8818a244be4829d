#!/bin/sh
# What cannot be written is told: an answer to a full or closed stdout, and a journal that goes away
# during the load.
. "${srcdir:-.}/tests/system/lib.sh"
begin

make_loop data 16

# lost: the runner has ended with 1 and said that stdout could not be written.
lost()
{
	[ "$code" = 1 ] || fail "exit code $code, wanted 1: $(cat "$dir/err")"
	grep -qx 'ssdlab-runner: stdout could not be written' "$dir/err" || fail "$(cat "$dir/err")"
}

say "an answer that goes nowhere"
"$runner" bench "$loop" --allow-write --read 50 --time 300ms --verify "$dir/journal" >/dev/null
for command in "bench $loop --time 100ms" "bench $loop --time 100ms -o json" "bench --help" --help --version \
	"verify $loop --journal $dir/journal" "verify $loop --journal $dir/journal -o json"; do
	code=0
	# shellcheck disable=SC2086 # words
	"$runner" $command >/dev/full 2>"$dir/err" || code=$?
	lost
	code=0
	# shellcheck disable=SC2086 # words
	"$runner" $command >&- 2>"$dir/err" || code=$?
	lost
done

writes()
{
	awk '{ print $5 }' "/sys/block/${loop#/dev/}/stat"
}

writes_since()
{
	[ "$(writes)" -gt "$1" ]
}

# during COMMAND...: a load with a journal, and the command in the midst of it; sets $code.
during()
{
	before=$(writes)
	"$runner" bench "$loop" --allow-write --read 30 --time 20s --in-flight 16 --verify "$dir/journal" \
		>"$dir/out" 2>"$dir/err" &
	pid=$!
	background "$pid"
	within 10 writes_since "$before"
	"$@"
	code=0
	wait "$pid" || code=$?
	[ "$code" = 1 ] || fail "$*: exit code $code, wanted 1: $(cat "$dir/out" "$dir/err")"
}

say "a journal that is cut"
during truncate -s 12288 "$dir/journal"
grep -q '/journal: the journal was cut while it was in use' "$dir/err" || fail "$(cat "$dir/err")"
rm "$dir/journal"

say "a journal that is deleted"
during rm "$dir/journal"
grep -q '/journal: the journal was deleted while it was in use' "$dir/err" || fail "$(cat "$dir/err")"
grep -q '^verify *[0-9]* sectors good, 0 bad' "$dir/out" || fail "$(cat "$dir/out")"
