#!/bin/sh
# bench and bench --engine fio say the same things of one drive, in the same form.
. "${srcdir:-.}/tests/system/lib.sh"
begin
need_tool fio jq

head -c 16777216 /dev/urandom >"$dir/image"
attach "$dir/image"

# Whether both results have the same names, and the same types where fio tells something.
same_form()
{
	jq -en --slurpfile a "$1" --slurpfile b "$2" 'def names: [paths | map(tostring)] | sort;
		($a[0] | del(.errors.first)) as $x | ($b[0] | del(.errors.first)) as $y |
		($x | names) == ($y | names) and all($y | paths(. != null); . as $p |
			($x | getpath($p) | type) as $t | $t == "null" or $t == ($y | getpath($p) | type))' >/dev/null
}

# both OPTION...: the load by both, each compared with itself and with the other.
both()
{
	for engine in uring fio; do
		"$runner" bench "$loop" --allow-write --time 1s --seed 5 --in-flight 8 "$@" -o json \
			--engine $engine >"$dir/$engine" || fail "$engine: exit code $?"
		jq -e '.state == "done" and .iops > 0 and .errors.read == "0" and .errors.write == "0"
			and (.service.n | tonumber) == (.service.read.n | tonumber) + (.service.write.n | tonumber)
			and (.service.n | tonumber) > 0 and .service.lat_p50_ns <= .service.lat_max_ns
			and .service.lat_mean_ns <= .service.lat_max_ns' "$dir/$engine" >/dev/null ||
			fail "$engine: $(cat "$dir/$engine")"
	done
	same_form "$dir/uring" "$dir/fio" || fail "the forms differ: $(cat "$dir/uring" "$dir/fio")"
	for name in target length_bytes block_bytes read_percent random_percent in_flight workers \
		offered_iops arrivals warmup_ns measure_ns seed; do
		[ "$(jq ".$name" "$dir/uring")" = "$(jq ".$name" "$dir/fio")" ] || fail "$name differs"
	done
	jq -e '(.engine | test("^fio-[0-9.]+ io_uring")) and .in_flight_mean == null and .backlog_max == null
		and .response.n == "0"' "$dir/fio" >/dev/null || fail "$(cat "$dir/fio")"
	say "$*: $(jq -r .iops "$dir/uring" | cut -d . -f 1) IOPS, fio $(jq -r .iops "$dir/fio" | cut -d . -f 1)"
}

both --read 100
both --read 70 --workers 2 --warmup 200ms
both --read 0 --access sequential --block 64KiB
both --read 50 --rate 500/s

say "fio gets the drive, also where standard descriptors are closed"
"$runner" bench "$loop" --allow-write --engine fio --read 0 --time 100ms -o json <&- >"$dir/fio" 2>"$dir/err" || fail "$(cat "$dir/err")"
jq -e '.iops > 0' "$dir/fio" >/dev/null || fail "$(cat "$dir/fio")"
