#!/bin/sh
# Fills and workloads write data that compress and repeat as the program says.
. "${srcdir:-.}/tests/system/lib.sh"
begin
need_tool zstd

# zstd_is PERCENT FILE [BYTES]: of the first bytes, zstd leaves that much, within 5 % of it.
zstd_is()
{
	all=${3:-$(stat -c %s "$2")}
	left=$(head -c "$all" "$2" | zstd -q -c | wc -c)
	[ "$((left * 2000))" -gt "$((all * $1 * 19))" ] && [ "$((left * 2000))" -lt "$((all * $1 * 21))" ] ||
		fail "zstd leaves $left of $all bytes, not $1 %"
	say "zstd leaves $left of $all bytes"
}

# writes RUN STEP: a run of one step writes to $dir/drive, with $compress and $dedupe, and its points say so.
writes()
{
	write_program "$1" "$dir/drive" "" "$2"
	start_runner "$1" "$dir/drive"
	case $(result_of "$1") in
	*'"state":"done"'*) ;;
	*) fail "run $1 is not done: $(cat "$dir/runs/$1/runner.log")" ;;
	esac
	grep ' point {' "$dir/runs/$1/records" >"$dir/points"
	[ -s "$dir/points" ] || fail "run $1 has no points"
	if grep -v "\"compress_percent\":$compress.0,\"dedupe_percent\":$dedupe.0," "$dir/points"; then
		fail "a point of run $1 does not tell its data"
	fi
}

fill='{"step":"fill","passes":1,"block_bytes":131072,"in_flight":8}'
make_file drive 8

say "a fill of which 60 % compress away"
compress=60 dedupe=0
writes 1 "$fill"
zstd_is 40 "$dir/drive"

say "a fill of which 25 % repeat"
compress=0 dedupe=25
writes 2 "$fill"
zstd_is 75 "$dir/drive"
different=$(od -An -v -tx1 -w4096 "$dir/drive" | sort -u | wc -l)
[ "$different" = 1536 ] || fail "$different of 2048 pieces are different, not 1536"

say "a fill of which nothing shrinks"
compress=0 dedupe=0
writes 3 "$fill"
zstd_is 100 "$dir/drive"

# The region is as large as the I/Os in flight: the first of them write all of it.
say "a workload over a part of it, of which 80 % compress away"
region_length=1048576
compress=80 dedupe=0
writes 4 "$(workload 64k-sequential-write 0 0 65536)"
zstd_is 20 "$dir/drive" 1048576
tail -c 7340032 "$dir/drive" >"$dir/rest"
zstd_is 100 "$dir/rest"
