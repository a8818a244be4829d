#!/bin/sh
# What bench --verify has written is checked while it runs, after a kill -9, and by verify;
# a flipped byte, an old block and two swapped blocks are found at their offsets.
. "${srcdir:-.}/tests/system/lib.sh"
begin
need_tool blockdev cmp dd

make_loop data 64
sectors=$(($(blockdev --getsize64 "$loop") / 512))

# load OPTION...: writes and reads with a journal; its output goes to $dir/out.
load()
{
	"$runner" bench "$loop" --allow-write --block 16KiB --in-flight 16 --verify "$dir/journal" "$@" \
		>"$dir/out" 2>"$dir/err"
}

# clean: verify finds nothing wrong.
clean()
{
	"$runner" verify "$loop" --journal "$dir/journal" >"$dir/out" 2>"$dir/err" ||
		fail "$(cat "$dir/out" "$dir/err")"
}

# known SECTORS: so many are good, and all others of the device are unknown.
known()
{
	grep -q "^verify *$1 sectors good, 0 bad, $((sectors - $1)) unknown\$" "$dir/out"
}

# found TEXT: verify fails with 1 and says that.
found()
{
	code=0
	"$runner" verify "$loop" --journal "$dir/journal" >"$dir/out" 2>"$dir/err" || code=$?
	[ "$code" = 1 ] || fail "exit code $code, wanted 1: $(cat "$dir/out" "$dir/err")"
	grep -q "$1" "$dir/out" || fail "wanted \"$1\": $(cat "$dir/out")"
	say "$1"
}

# block NUMBER: reads 4 KiB of the device; put_block NUMBER FILE writes them.
block()
{
	dd if="$loop" bs=4096 skip="$1" count=1 iflag=direct status=none
}
put_block()
{
	dd if="$2" of="$loop" bs=4096 seek="$1" count=1 oflag=direct conv=notrunc status=none
}

# fill COMMAND...: writes in order until the command succeeds.
fill()
{
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		load --read 0 --access sequential --time 1s || fail "$(cat "$dir/out" "$dir/err")"
		clean
		if "$@"; then return 0; fi
	done
	fail "20 loads did not write all of $loop"
}

overwritten()
{
	block 100 >"$dir/now"
	! cmp -s "$dir/good" "$dir/now"
}

say "none of it"
load --read 100 --time 100ms || fail "$(cat "$dir/out" "$dir/err")"
clean
known 0 || fail "$(cat "$dir/out")"

say "all of it, once"
fill known "$sectors"
load --read 50 --time 1s --workers 2 || fail "$(cat "$dir/out" "$dir/err")"
grep -q ' sectors good, 0 bad,' "$dir/out" || fail "$(cat "$dir/out")"
clean

say "killed while it writes"
for _ in 1 2 3; do
	"$runner" bench "$loop" --allow-write --block 16KiB --in-flight 16 --read 20 --time 60s \
		--verify "$dir/journal" >/dev/null 2>&1 &
	pid=$!
	background "$pid"
	block 0 >"$dir/before"
	changed()
	{
		block 0 >"$dir/now"
		! cmp -s "$dir/before" "$dir/now"
	}
	within 60 changed
	kill -9 "$pid"
	wait "$pid" 2>/dev/null || true
	clean
	say "$(head -n 1 "$dir/out")"
done
load --read 50 --time 1s || fail "$(cat "$dir/out" "$dir/err")"
clean

say "another drive, and the same one under another name"
mine=$loop
cp "$dir/data" "$dir/twin"
attach "$dir/twin"
code=0
"$runner" verify "$loop" --journal "$dir/journal" >"$dir/out" 2>"$dir/err" || code=$?
[ "$code" = 2 ] || fail "exit code $code, wanted 2: $(cat "$dir/out" "$dir/err")"
grep -q 'the journal is of drive data-[0-9a-f-]*, and this is drive twin-' "$dir/err" || fail "$(cat "$dir/err")"
code=0
load --read 50 --time 1s || code=$?
[ "$code" = 2 ] || fail "exit code $code, wanted 2: $(cat "$dir/out" "$dir/err")"
losetup -d "$mine"
undo=$(echo "$undo" | sed "s|losetup -d $mine; ||") # it may be another's from now on
attach "$dir/data"
clean

say "a flipped byte"
block 100 >"$dir/good"
cp "$dir/good" "$dir/bad"
printf 'x' | dd of="$dir/bad" bs=1 seek=700 conv=notrunc status=none
if cmp -s "$dir/good" "$dir/bad"; then
	printf 'y' | dd of="$dir/bad" bs=1 seek=700 conv=notrunc status=none
fi
put_block 100 "$dir/bad"
found "byte $((100 * 4096 + 700)): flipped: expected 0x.*, seen 0x7[89]\$"
code=0
for _ in 1 2 3 4 5 6 7 8 9 10; do
	load --read 100 --access sequential --time 1s || code=$?
	[ "$code" = 0 ] || break
done
[ "$code" = 1 ] || fail "bench did not fail: $(cat "$dir/out" "$dir/err")"
grep -q "byte $((100 * 4096 + 700)): flipped" "$dir/out" || fail "$(cat "$dir/out")"
put_block 100 "$dir/good"
clean

say "swapped blocks"
block 200 >"$dir/other"
put_block 100 "$dir/other"
put_block 200 "$dir/good"
found "byte $((100 * 4096)): misplaced: expected offset $((100 * 4096)), seen offset $((200 * 4096))"
put_block 100 "$dir/good"
put_block 200 "$dir/other"
clean

say "an old block"
fill overwritten
put_block 100 "$dir/good"
found "byte $((100 * 4096)): \(stale\|torn\): expected generation [0-9]*, seen generation [0-9]*"
