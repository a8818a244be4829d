#!/bin/sh
# Who writes to a drive while it is measured is seen, and what the run runs on is told.
. "${srcdir:-.}/tests/system/lib.sh"
begin

# readings N: of the points of attempt N, one a line.
readings()
{
	sed -n 's/^[0-9]* point .*"readings":\({[^}]*\).*/\1/p' "$dir/runs/$1/records"
}

make_file alone 32
attach "$dir/alone"
write_program 1 "$loop" "" "{\"step\":\"identify\"},$(workload 4k-random-write 0 100 4096)"
start_runner 1 "$loop"
case $(result_of 1) in
*'"state":"done"'*) ;;
*) fail "not done: $(cat "$dir/runs/1/runner.log")" ;;
esac
grep -q '"manifest":{.*"kind":"loop".*"event":"environment"' "$dir/runs/1/records" || fail "no environment"
[ "$(grep -c '"source":"none","why":"virtual".*"event":"health"' "$dir/runs/1/records")" = 2 ] ||
	fail "the health is not told before and after"
[ "$(readings 1 | grep -c '"other_written_bytes":"0"')" = 3 ] ||
	fail "somebody is said to have written: $(readings 1)"
say "alone: $(readings 1 | head -n 1)"

# spooled RUN: its first record is on the disk.
spooled()
{
	grep -q . "$dir/runs/$1/spool/"*.seg 2>/dev/null
}

make_file shared 32
attach "$dir/shared"
write_program 2 "$loop" "" "{\"step\":\"identify\"},$(workload 4k-random-write 0 100 4096)"
# Not through the runner's exclusive claim: whoever does not ask for one may write all the same.
(
	within 30 spooled 2
	while [ ! -e "$dir/enough" ]; do
		dd if=/dev/zero of="$loop" bs=64k count=4 seek=400 oflag=direct conv=notrunc 2>/dev/null || true
	done
) &
background $!
start_runner 2 "$loop"
touch "$dir/enough"
case $(result_of 2) in
*'"state":"done"'*) ;;
*) fail "not done: $(result_of 2) $(cat "$dir/runs/2/runner.log")" ;;
esac
others=$(readings 2 | sed -n 's/.*"other_written_bytes":"\([0-9]*\)".*/\1/p' | sort -n | tail -n 1)
[ "$others" -gt 65536 ] || fail "nobody is said to have written: $(readings 2)"
say "another wrote $others bytes, and was seen"
