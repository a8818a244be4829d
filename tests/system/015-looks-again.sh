#!/bin/sh
# Before each step the drive is looked at again: when somebody has begun to use it by another way, the
# exclusive claim does not know, and nothing more is written.
. "${srcdir:-.}/tests/system/lib.sh"
begin

times='"maximum_warmup_ns":"0","maximum_measure_ns":"3000000000","warmup_ns":"0","measure_ns":"100000000","arrivals":"fixed","load_percent":[]'

has_sample()
{
	"$helper" spool "$dir/runs/1/spool" 2>/dev/null | grep -q '^[0-9]* sample '
}

make_loop a 16
write_program 1 "$loop" "" "$(workload 4k-random-read 100 100 4096),$(workload 4k-random-write 0 100 4096)"
"$runner" run --dir "$dir/runs/1" --state-dir "$dir/state" --drive "$loop" 2>"$dir/runs/1/runner.log" &
pid=$!
background "$pid"
within 20 has_sample
attach "$dir/a"
mkfs.ext4 -q "$loop"
mount_on "$loop" "$dir/mnt" ro,noload
before=$(digest "$dir/a")
wait "$pid" || fail "exit code $?"
case $(result_of 1) in
*'"state":"failed","class":"safety"'*"is over the same file"*) say "$(result_of 1 | sed 's/.*"reason"://')" ;;
*) fail "got $(result_of 1)" ;;
esac
[ "$(digest "$dir/a")" = "$before" ] || fail "bytes have changed"
grep -q '"points":1,' "$dir/runs/1/records" || fail "not one point was measured: $(cat "$dir/runs/1/records")"
