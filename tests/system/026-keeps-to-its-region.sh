#!/bin/sh
# Whatever the region and the load, no byte outside of the region is written, trimmed or
# zeroed: the whole drive is compared with what it was. SYSTEM_SEED chooses other regions.
. "${srcdir:-.}/tests/system/lib.sh"
begin

seed=${SYSTEM_SEED:-20261130}
echo "SYSTEM_SEED=$seed"
x=$seed

# random LIMIT: the next number below it goes to $r.
random()
{
	x=$(((x * 1103515245 + 12345) % 2147483648))
	r=$(((x / 65536) * 32768))
	x=$(((x * 1103515245 + 12345) % 2147483648))
	r=$(((r + x / 65536) % $1))
}

seq -w 1 10000000 | head -c 33554432 >"$dir/before"
size=33554432
sector=512
# operations ID: a workload that trims and zeroes blocks of several sizes, and flushes.
operations()
{
	place='"align_bytes":0,"from_percent":0,"to_percent":100,"cursors":1,"distribution":{"kind":"uniform"}'
	sizes='[{"bytes":4096,"percent":60},{"bytes":24576,"percent":40}]'
	printf '{"step":"workload","workload":{"id":"%s","streams":[' "$1"
	printf '{"share_percent":50,"read_percent":20,"operation":"trim","random_percent":70,"read_blocks":%s,"write_blocks":%s,%s},' \
		"$sizes" "$sizes" "$place"
	printf '{"share_percent":40,"read_percent":0,"operation":"write-zeroes","random_percent":50,"read_blocks":[],"write_blocks":%s,%s},' \
		"$sizes" "$place"
	printf '{"share_percent":10,"read_percent":0,"operation":"flush","random_percent":100,"read_blocks":[],"write_blocks":[],%s}' \
		"$place"
	printf '],"in_flight":16,"workers":1},"ramp":{%s}}' "$times"
}

for run in 1 2 3 4 5 6; do
	if [ $run = 4 ]; then sector=4096; fi
	random $(((size - 1048576) / sector))
	region_offset=$((r * sector))
	random $(((size - region_offset - 131072) / sector))
	region_length=$((131072 + r * sector))
	end=$((region_offset + region_length))
	cp "$dir/before" "$dir/image.$run"
	attach "$dir/image.$run" --sector-size=$sector
	random 101
	share=$r
	random 4
	block=$((4096 << r))
	write_program $run "$loop" "" "$(workload random 0 100 $block),$(workload mixed "$share" 50 4096),$(workload sequential 30 0 65536),$(operations others)"
	sed -i "s/\"seed\":\"1\"/\"seed\":\"$x\"/" "$dir/runs/$run/program.json"
	start_runner $run "$loop"
	case $(result_of $run) in
	*'"state":"done"'*) ;;
	*) fail "not done: $(result_of $run) $(cat "$dir/runs/$run/runner.log")" ;;
	esac
	cmp -n "$region_offset" "$loop" "$dir/before" || fail "bytes before $region_offset have changed"
	cmp -i "$end" "$loop" "$dir/before" || fail "bytes behind $end have changed"
	if cmp -s "$loop" "$dir/before"; then fail "the region was not written"; fi
	say "region $region_offset to $end, blocks of $block, sectors of $sector: nothing else has changed"
done
