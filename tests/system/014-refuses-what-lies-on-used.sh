#!/bin/sh
# What a device shows may belong to somebody further down: the file or device behind a loop,
# the devices that a mapped one is made of.
. "${srcdir:-.}/tests/system/lib.sh"
begin
need_tool mkfs.ext4 mkswap swapon

# start_writer PATH: a process that has it open for writing, $writer.
start_writer()
{
	sh -c "exec sleep 60 <>$1" &
	writer=$!
	background "$writer"
	within 10 grep -q sleep "/proc/$writer/comm"
}

end_writer()
{
	kill "$writer"
	wait "$writer" || true
}

say "free all the way down"
make_loop base 32
base=$loop
bench_allowed "$base"
dd if=/dev/zero of="$base" bs=1M count=4 oflag=direct status=none
attach "$base" --offset=8M
upper=$loop
bench_allowed "$upper"
attach "$upper" --offset=8M
top=$loop
bench_allowed "$top"
bench_refused "$base" "the loop device $upper is over $base"

say "held or written further down"
mkfifo "$dir/hold"
"$helper" hold "$base" <"$dir/hold" >"$dir/held" &
background $!
exec 3>"$dir/hold"
within 10 grep -q held "$dir/held"
bench_refused "$top" "beneath it, $base is claimed by another program"
exec 3>&-
start_writer "$base"
bench_refused "$top" "beneath it, $base is open for writing in process $writer (sleep)"
end_writer

attach "$base" --offset=24M
bench_refused "$top" "beneath it, the loop device $loop is over $base"

say "data or its use further down"
make_loop data 64
mkfs.ext4 -q -F "$loop"
data=$loop
attach "$data" --offset=20M
bench_refused "$loop" "beneath it, $data carries a signature of ext4"
mount_on "$data" "$dir/m" rw
bench_refused "$loop" "beneath it, $data is mounted on $dir/m"
attach "$loop" --offset=1M
bench_refused "$loop" "beneath it, $data is mounted on $dir/m"
make_file m/image 16
attach "$dir/m/image"
bench_allowed "$loop"

make_loop swap 32
chmod 0600 "$dir/swap"
mkswap -q "$loop" 2>/dev/null
swap=$loop
attach "$swap" --offset=16M
if swapon "$swap" 2>/dev/null; then
	later swapoff "$swap"
	bench_refused "$loop" "beneath it, $swap is swap space"
else
	say "not tried: swapon is not possible here"
fi

say "a file behind a loop device"
make_file image 32
attach "$dir/image" --offset=16M
bench_allowed "$loop"
start_writer "$dir/image"
bench_refused "$loop" "beneath it, $dir/image is open for writing in process $writer (sleep)"
end_writer
mkfs.ext4 -q -F "$dir/image" 8M
bench_refused "$loop" "beneath it, $dir/image carries a signature of ext4"
rm "$dir/image"
bench_refused "$loop" "what lies beneath $loop cannot be looked at"

say "a partition behind a loop device"
make_loop disk 32
disk=$loop
if addpart "$disk" 1 2048 32768 2>/dev/null; then
	later delpart "$disk" 1
	within 5 test -b "${disk}p1"
	attach "${disk}p1"
	bench_refused "$loop" "beneath it, ${disk}p1 is a partition"
else
	say "not tried: no partitions can be made on $disk"
fi

say "a mapped device"
make_loop mapped 32
mapped=$loop
name=ssdlab-test-$$
if command -v dmsetup >/dev/null &&
	dmsetup create "$name" --table "0 16384 linear $mapped 32768" 2>"$dir/dm"; then
	later dmsetup remove --retry "$name"
	within 5 test -b "/dev/mapper/$name"
	map=/dev/mapper/$name
	bench_allowed "$map"
	# Twice -F: once more for what the mapped device holds.
	mkfs.ext4 -q -F -F "$mapped" 8M
	bench_refused "$map" "beneath it, $mapped carries a signature of ext4"
	attach "$mapped" --offset=24M
	bench_refused "$map" "beneath it, the loop device $loop is over $mapped"
else
	say "not tried: no device can be mapped here"
fi
