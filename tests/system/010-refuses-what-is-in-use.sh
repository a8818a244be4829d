#!/bin/sh
# A drive that anything uses is refused, with the reason, and not a byte of it changes.
. "${srcdir:-.}/tests/system/lib.sh"
begin
need_tool mkfs.ext4 mkswap swapon unshare

make_loop mounted 16
mkfs.ext4 -q -F "$loop"
mount_on "$loop" "$dir/m1"
refused "$loop" "$loop is mounted on $dir/m1"

say "a mount point with a blank in its name"
make_loop blank 16
mkfs.ext4 -q -F "$loop"
mkdir "$dir/m 5"
mount -o ro "$loop" "$dir/m 5"
later umount_soon "'$dir/m 5'"
refused "$loop" "$loop is mounted on $dir/m 5"

make_loop elsewhere 16
mkfs.ext4 -q -F "$loop"
mkdir "$dir/m2"
mkfifo "$dir/ready"
unshare -m sh -c "mount --make-rprivate / && mount -o ro $loop $dir/m2 && echo >$dir/ready &&
	exec sleep 60" &
background $!
read -r _ <"$dir/ready"
refused "$loop" "$loop is mounted on $dir/m2 (mount namespace of pid"

make_loop swap 16
chmod 0600 "$dir/swap"
mkswap -q "$loop" 2>/dev/null
if swapon "$loop" 2>/dev/null; then
	later swapoff "$loop"
	refused "$loop" "$loop is swap space"
else
	say "not tried: swapon is not possible here"
fi

make_loop exclusive 8
mkfifo "$dir/hold"
"$helper" hold "$loop" <"$dir/hold" >"$dir/held" &
background $!
exec 3>"$dir/hold"
within 10 grep -q held "$dir/held"
refused "$loop" "$loop is in use: it or a part of it"
exec 3>&-

make_loop written 8
sh -c "exec sleep 60 <>$loop" &
writer=$!
background "$writer"
writer_is_ready() { readlink "/proc/$writer/fd/0" | grep -q loop; }
within 10 writer_is_ready
refused "$loop" "$loop is open for writing in process $writer (sleep)"

# kept HOW WORDS: the helper keeps a drive and then a file that way, both refused.
kept()
{
	make_loop "$1" 8
	make_file "$1-file" 8
	for kept in "$loop" "$dir/$1-file"; do
		mkfifo "$dir/keep"
		"$helper" "$1" "$kept" <"$dir/keep" >"$dir/held" &
		background $!
		keeper=$!
		exec 3>"$dir/keep"
		within 10 grep -q held "$dir/held"
		refused "$kept" "$kept is $2 in process $keeper (helper)"
		bench_refused "$kept" "$kept is $2 in process $keeper (helper)"
		exec 3>&-
		wait "$keeper"
		rm "$dir/keep"
	done
}

say "ways to write without a descriptor"
kept map "mapped for writing"
if [ "$(cat /proc/sys/kernel/io_uring_disabled 2>/dev/null)" = 2 ]; then
	say "not tried: io_uring is switched off here"
else
	kept ring "registered with io_uring"
fi

say "a file behind a loop device, and two devices over one file"
make_loop shared 8
first=$loop
refused "$dir/shared" "the loop device $first is over $dir/shared"
attach "$dir/shared"
refused "$loop" "the loop device $first is over the same file as $loop"

make_file readonly 8
attach "$dir/readonly" -r
refused "$loop" "$loop is read-only"

say "below a file system, two layers down"
make_loop base 64
base=$loop
mkfs.ext4 -q -F "$base"
mount_on "$base" "$dir/m3" rw
truncate -s 16M "$dir/m3/inner"
attach "$dir/m3/inner"
mkfs.ext4 -q -F "$loop"
mount_on "$loop" "$dir/m4" rw
"$helper" reasons "$base" "$dir/m4" >"$dir/reasons"
grep -q "$base is mounted on $dir/m3; $base lies beneath $dir/m4" "$dir/reasons" ||
	fail "$(cat "$dir/reasons")"

say "the disk with the root file system (looked at, not tried)"
root=$(findmnt -n -o SOURCE /)
if [ -b "$root" ] && dd if="$root" of=/dev/null bs=512 count=1 status=none 2>/dev/null; then
	"$helper" reasons "$root" / >"$dir/reasons"
	grep -q "is mounted on /" "$dir/reasons" || fail "$(cat "$dir/reasons")"
	grep -q "lies beneath /" "$dir/reasons" || fail "$(cat "$dir/reasons")"
else
	say "not tried: $root cannot be read here"
fi
