#!/bin/sh
# A drive with a signature of anything is refused, with its name, and keeps every byte.
. "${srcdir:-.}/tests/system/lib.sh"
begin
need_tool mkfs.ext4 mkswap

make_loop plain 16
mkfs.ext4 -q -F -L precious "$loop"
refused "$loop" "signature of ext4 (filesystem) labelled"

make_loop swap 16
mkswap -q "$loop" 2>/dev/null
refused "$loop" "signature of swap"

# put FILE OFFSET BYTES: in printf's notation.
put()
{
	# shellcheck disable=SC2059
	printf "$3" | dd of="$dir/$1" bs=1 seek="$2" conv=notrunc status=none
}

make_file dos 16
put dos 446 '\0\1\1\0\203\17\40\7\0\10\0\0\0\20\0\0'
put dos 510 '\125\252'
attach "$dir/dos"
refused "$loop" "partition table (dos)"

make_file luks 16
put luks 0 'LUKS\272\276\0\1'
attach "$dir/luks"
refused "$loop" "signature of crypto_LUKS (crypto)"

# The checksum is wrong: what is left of a damaged volume counts as well.
make_file lvm 16
put lvm 512 'LABELONE\1\0\0\0\0\0\0\0\0\0\0\0\40\0\0\0LVM2 001'
attach "$dir/lvm"
refused "$loop" "signature of LVM2_member (raid)"

make_file xfs 16
put xfs 0 'XFSB\0\0\20\0'
attach "$dir/xfs"
refused "$dir/plain" "is over $dir/plain; $dir/plain carries a signature of ext4"

if command -v sfdisk >/dev/null; then
	make_file gpt 16
	echo 'label: gpt' | sfdisk -q "$dir/gpt"
	attach "$dir/gpt"
	refused "$loop" "partition table (gpt)"
	say "only the copy at the end is left"
	make_file gpt2 16
	echo 'label: gpt' | sfdisk -q "$dir/gpt2"
	dd if=/dev/zero of="$dir/gpt2" bs=1M count=1 conv=notrunc status=none
	attach "$dir/gpt2"
	refused "$loop" "partition table (gpt)"
else
	say "not tried: sfdisk is not installed"
fi

make_file file.img 16
mkfs.ext4 -q -F "$dir/file.img"
refused "$dir/file.img" "file.img carries a signature of ext4"
ln -s file.img "$dir/link"
identify_as=$dir/file.img
refused "$dir/link" "file.img carries a signature of ext4"
