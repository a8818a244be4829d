#!/bin/sh
# A partition is no drive, and a drive with a partition in use is not free.
. "${srcdir:-.}/tests/system/lib.sh"
begin
need_tool mkfs.ext4 addpart delpart

make_loop disk 32
addpart "$loop" 1 2048 32768 2>/dev/null || skip "no partitions can be made on $loop"
later delpart "$loop" 1
within 5 test -b "${loop}p1"

say "a partition with nothing on it is read by hand, never written"
bench_refused "${loop}p1" "name the whole disk, $loop"
"$runner" bench "${loop}p1" --read 100 --time 100ms >"$dir/out" 2>&1 || fail "$(cat "$dir/out")"

mkfs.ext4 -q -F "${loop}p1"

identify_as=$loop
refused "${loop}p1" "is a partition, not a whole drive"
mount_on "${loop}p1" "$dir/m"
refused "$loop" "${loop}p1 is mounted on $dir/m"
