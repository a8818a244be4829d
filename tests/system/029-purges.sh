#!/bin/sh
# A purge erases the whole drive by the strongest method that it offers, says why not by a stronger one, what was
# read back, and ends when told to.
. "${srcdir:-.}/tests/system/lib.sh"
begin
need_tool cmp

# 24 MiB without a byte that is zero
seq -w 1 5000000 | tr '\n' ' ' | head -c 25165824 >"$dir/before"
head -c 25165824 /dev/zero >"$dir/zeros"

mkdir "$dir/ram"
mount -t ramfs none "$dir/ram" || skip "no ramfs can be mounted"
later umount_soon "$dir/ram"

# has TEXT: the records of the run have it.
has()
{
	grep -qF -- "$1" "$dir/runs/$run/records" || fail "no $1 in run $run: $(cat "$dir/runs/$run/records")"
}

# purged RUN PATH METHOD: that run purges the drive by that method, and all of it is zeros.
purged()
{
	run=$1
	write_program "$run" "$2" "" '{"step":"identify"},{"step":"purge"}'
	start_runner "$run" "$2"
	case $(result_of "$run") in
	*'"state":"done"'*) ;;
	*) fail "got $(result_of "$run")" ;;
	esac
	has '"method":"'"$3"'"'
	has '"event":"purge.start"'
	has '"event":"purge.end"'
	has '"method":"sanitize","why":"a virtual drive has no such command"'
	has '"method":"format","why":"a virtual drive has no such command"'
	has '"read_back":{"block_bytes":4096,"blocks":256,"zero":256,"held_data":256,"unchanged":0}'
	cmp "$2" "$dir/zeros" || fail "the purge has left data"
	say "$3 leaves nothing"
}

cp "$dir/before" "$dir/a"
attach "$dir/a"
loop_a=$loop
purged 1 "$loop" discard
has '"written_bytes":"0"'
[ "$(stat -c %b "$dir/a")" -lt 100 ] || fail "a discard has kept $(stat -c %b "$dir/a") blocks of the file"

# A file in a ramfs knows no discard, so neither does a loop device over it.
cp "$dir/before" "$dir/ram/b"
attach "$dir/ram/b"
purged 2 "$loop" zero
has '"method":"discard","why":"the drive knows no discard"'
has '"written_bytes":"25165824"'

cp "$dir/before" "$dir/c"
purged 3 "$dir/c" discard

# What comes behind it runs on the purged drive.
run=4
loop=$loop_a
dd if="$dir/before" of="$loop" bs=1M oflag=direct status=none
write_program 4 "$loop" "" "{\"step\":\"purge\"},{\"step\":\"fill\",\"passes\":1,\"block_bytes\":131072,\"in_flight\":8}"
start_runner 4 "$loop"
case $(result_of 4) in
*'"state":"done"'*'"points":1'*) say "a fill comes behind it" ;;
*) fail "got $(result_of 4)" ;;
esac

# A fill that is not needed is skipped; one sector that somebody else writes is enough for it to be needed.
left() { grep '"event":"drive.left"' "$dir/runs/$1/records" | sed -n 's/.*"witness":"\([^"]*\)".*/\1/p'; }
[ -n "$(left 4)" ] || fail "run 4 does not say how it left the drive: $(cat "$dir/runs/4/records")"
# fill_unless RUN WITNESS: a fill that is not needed when the drive looks like that.
fill_unless()
{
	run=$1
	write_program "$1" "$loop" "" "{\"step\":\"fill\",\"passes\":1,\"block_bytes\":131072,\"in_flight\":8,\"unless\":{\"run\":\"4\",\"witness\":\"$2\"}}"
	start_runner "$1" "$loop"
	result_of "$1" >"$dir/result"
}
was=$(digest "$loop")
fill_unless 14 "$(left 4)"
has '"event":"prepare.skipped"'
has '"points":0'
[ "$(digest "$loop")" = "$was" ] || fail "a fill that was skipped has changed the drive"
[ "$(left 14)" = "$(left 4)" ] || fail "reading changes how the drive looks: $(left 14) after $(left 4)"
dd if=/dev/zero of="$loop" bs=512 seek=7777 count=1 conv=notrunc oflag=direct status=none
fill_unless 15 "$(left 14)"
has '"event":"prepare.repeated"'
has '1 sectors were written to it'
has '"points":1'
say "a fill is skipped while nobody else writes"

# Told to stop in the middle: 2 GiB of zeroes take longer than it takes to say so.
truncate -s 2G "$dir/ram/d"
dd if="$dir/before" of="$dir/ram/d" bs=1M seek=2024 conv=notrunc status=none
attach "$dir/ram/d"
written() { awk '{ print $7 }' "/sys/block/${loop#/dev/}/stat"; }
was=$(written)
began() { [ "$(written)" -gt "$was" ]; }
run=5
write_program 5 "$loop" "" '{"step":"purge"}'
"$runner" run --dir "$dir/runs/5" --state-dir "$dir/state" --drive "$loop" 2>"$dir/runs/5/runner.log" &
pid=$!
background "$pid"
within 20 began
"$helper" ask "$dir/runs/5" '{"do":"stop","why":"sr needs the bench"}' >/dev/null
wait "$pid" || fail "exit code $?"
case $(result_of 5) in
*'"state":"cancelled","class":null,"reason":"sr needs the bench"'*) ;;
*) fail "got $(result_of 5)" ;;
esac
has '"state":"stopped","took_ns"'
has '"read_back":null'
dd if="$loop" bs=1M skip=2024 status=none | cmp - "$dir/before" || fail "it went on after it was told to stop"
say "ends when told to"

# Nothing is purged that is not the drive.
runs=5
cp "$dir/before" "$dir/e"
attach "$dir/e"
write_program 6 "$loop" other '{"step":"purge"}'
start_runner 6 "$loop"
case $(result_of 6) in
*'"state":"failed","class":"safety"'*"this is another drive"*) say "another drive is left alone" ;;
*) fail "got $(result_of 6)" ;;
esac
cmp "$loop" "$dir/before" || fail "bytes of another drive have changed"
