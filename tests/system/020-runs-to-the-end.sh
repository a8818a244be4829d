#!/bin/sh
# A clean drive is measured to the end; nothing outside the region is written.
. "${srcdir:-.}/tests/system/lib.sh"
begin

region_offset=8388608
region_length=8388608

# only_region FILE COPY: all but the region is as it was, and the region is not.
only_region()
{
	cmp -s -n 8388608 "$1" "$2" || fail "bytes before the region have changed"
	cmp -s -i 16777216 "$1" "$2" || fail "bytes behind the region have changed"
	if cmp -s "$1" "$2"; then fail "the region was not written"; fi
}

head -c 33554432 /dev/urandom >"$dir/image"
cp "$dir/image" "$dir/copy"
attach "$dir/image"
write_program 1 "$loop" "" "{\"step\":\"identify\"},$(workload 4k-random-write 0 100 4096),$(workload 64k-sequential-write 0 0 65536),$(workload mixed 50 50 8192)"
start_runner 1 "$loop"
result=$(result_of 1)
echo "$result"
[ "$code" = 0 ] || fail "exit code $code: $(cat "$dir/runs/1/runner.log")"
case $result in
*'"state":"done","class":null,"reason":"","points":9,'*) ;;
*) fail "not done: $(cat "$dir/runs/1/runner.log")" ;;
esac
[ "$(grep -c ' point {' "$dir/runs/1/records")" = 9 ] || fail "not 9 points"
[ "$(grep -c '"event":"step.start"' "$dir/runs/1/records")" = 4 ] || fail "not 4 steps"
[ "$(grep -c '"event":"point.start"' "$dir/runs/1/records")" = 9 ] || fail "not 9 starts"
if grep -q ' gap ' "$dir/runs/1/records"; then fail "there are gaps"; fi
grep -q '"manifest":{.*"kind":"loop".*"scheduler":".*"event":"environment"' "$dir/runs/1/records" || fail "no environment"
only_region "$loop" "$dir/copy"
say "$(grep -c '^[0-9]* sample ' "$dir/runs/1/records") samples, region only"

say "the drive is free again, and the same attempt does not run twice"
start_runner 1 "$loop"
[ "$code" = 0 ] || fail "exit code $code"
[ "$(result_of 1)" = "$result" ] || fail "the spool has changed"

say "a fill covers the drive, and a file is a drive, too"
region_offset=0
make_file filled 9
write_program 2 "$dir/filled" "" "{\"step\":\"fill\",\"passes\":2,\"block_bytes\":131072,\"in_flight\":8},$(workload 4k-random-read 100 100 4096)"
start_runner 2 "$dir/filled"
result=$(result_of 2)
case $result in
*'"state":"done"'*'"points":5,'*) ;;
*) fail "not done: $result $(cat "$dir/runs/2/runner.log")" ;;
esac
[ "$(stat -c %s "$dir/filled")" = 9437184 ] || fail "the size of the file has changed"
gzip -c "$dir/filled" >"$dir/filled.gz"
[ "$(stat -c %s "$dir/filled.gz")" -gt 9437184 ] || fail "the fill can be compressed"

if [ -r /sys/class/zram-control/hot_add ]; then
	# The kernel lets go of what an io_uring had open a moment after its process is gone.
	remove_zram() { { echo "$1" >/sys/class/zram-control/hot_remove; } 2>/dev/null; }
	n=$(cat /sys/class/zram-control/hot_add)
	later "within 10 remove_zram $n"
	echo 16M >"/sys/block/zram$n/disksize"
	write_program 3 "/dev/zram$n" "" "{\"step\":\"identify\"},$(workload mixed 50 50 8192)"
	start_runner 3 "/dev/zram$n"
	case $(result_of 3) in
	*'"state":"done"'*) say "memory is a drive, too" ;;
	*) fail "not done: $(cat "$dir/runs/3/runner.log")" ;;
	esac
else
	say "not tried: there is no zram here"
fi
