#!/bin/sh
# Reads of what was never written measure memory: bench says so, for files and loop devices.
. "${srcdir:-.}/tests/system/lib.sh"
begin

# warned TARGET: whether bench, reading the target, warns of holes.
warned()
{
	"$runner" bench "$1" --time 100ms >"$dir/out" 2>"$dir/err" || fail "$(cat "$dir/err")"
	grep -q "reads of holes touch no medium" "$dir/err"
}

make_loop data 8
truncate -s 0 "$dir/data"
truncate -s 8M "$dir/data"
warned "$dir/data" || fail "no warning of a file with holes"
warned "$loop" || fail "no warning of a loop device over a file with holes"
dd if=/dev/urandom of="$dir/data" bs=1M count=8 conv=notrunc,fsync status=none
if warned "$dir/data"; then fail "a warning of a file without holes"; fi
if warned "$loop"; then fail "a warning of a loop device over a file without holes"; fi

say "a loop device over the written part of a file"
truncate -s 16M "$dir/data"
warned "$loop" && fail "a warning of a hole behind the end of the device"
attach "$dir/data" --offset=8M
warned "$loop" || fail "no warning of a loop device over the hole of a file"
