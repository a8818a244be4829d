#!/bin/sh
# What is trimmed or zeroed reads back as zeros and nothing else has changed, durable writes are
# there, flushes are counted: sync and io_uring leave the same.
. "${srcdir:-.}/tests/system/lib.sh"
begin
need_tool cmp

# 8 MiB without a byte that is zero
seq -w 1 2000000 | tr '\n' ' ' | head -c 8388608 >"$dir/before"
head -c 8388608 /dev/zero >"$dir/zeros"

mkdir "$dir/ram"
mount -t ramfs none "$dir/ram" || skip "no ramfs can be mounted"
later umount_soon "$dir/ram"

# load ENGINE OPTION...: one load of the device; its document goes to $dir/out.
load()
{
	engine=$1
	shift
	"$runner" bench "$loop" --engine "$engine" --workers 4 --in-flight 4 --time 500ms -o json "$@" \
		>"$dir/out" 2>"$dir/err"
}

# has TEXT: the document has it.
has()
{
	grep -q "$1" "$dir/out" || fail "no $1: $(cat "$dir/out" "$dir/err")"
}

# has_none TEXT
has_none()
{
	if grep -q "$1" "$dir/out"; then fail "$1 is there: $(cat "$dir/out")"; fi
}

# only_zeros_are_new: each block of 4 KiB is as it was or zeros, and some are.
only_zeros_are_new()
{
	cmp -l "$loop" "$dir/before" >"$dir/changed" || true
	[ -s "$dir/changed" ] || fail "nothing has changed"
	awk '$2 != 0 {exit 1} {n[int(($1 - 1) / 4096)]++}
		END {for (i in n) if (n[i] != 4096) exit 1}' "$dir/changed" ||
		fail "something else than whole blocks of zeros has changed"
}

for engine in sync uring; do
	for operation in trim write-zeroes; do
		cp "$dir/before" "$dir/$engine.$operation"
		attach "$dir/$engine.$operation"
		if load $engine --operation $operation --read 50 --rate 500/s; then
			fail "$operation without --allow-write"
		fi
		grep -q allow-write "$dir/err" || fail "got $(cat "$dir/err")"
		cmp "$loop" "$dir/before" || fail "a refused load has changed the drive"
		load $engine --operation $operation --read 50 --rate 500/s --allow-write ||
			fail "$(cat "$dir/err")"
		case $operation in
		trim) has '"trim_iops":' && has_none write_zeroes_iops ;;
		*) has '"write_zeroes_iops":' && has_none trim_iops ;;
		esac
		has '"write_iops":0.0'
		only_zeros_are_new
		# Every block once, and more: then all is zeros.
		one=
		if [ $operation = write-zeroes ]; then
			if load $engine --operation $operation --read 0 --allow-write; then
				fail "write-zeroes alone, 4 in flight"
			fi
			grep -q 'one after the other, so 4 in flight' "$dir/err" || fail "got $(cat "$dir/err")"
			one='--workers 1 --in-flight 1'
		fi
		# shellcheck disable=SC2086
		load $engine --operation $operation --read 0 --access sequential --block 64KiB --time 3s $one \
			--allow-write || fail "$(cat "$dir/err")"
		cmp "$loop" "$dir/zeros" || fail "$operation has left data"
		say "$engine: $operation leaves zeros where it was asked to"
	done
	# A file in a ramfs has neither. (A loop device that its discard was taken from by its queue's limit never
	# gets it back, whatever is attached to it next.) The kernel would write zeros itself.
	cp "$dir/before" "$dir/ram/$engine"
	attach "$dir/ram/$engine"
	[ "$(cat "/sys/block/${loop#/dev/}/queue/write_zeroes_max_bytes")" = 0 ] ||
		fail "a loop device over a ramfs has write-zeroes"
	if load $engine --operation trim --read 0 --allow-write; then fail "trims without discard"; fi
	grep -q 'the drive knows no trim' "$dir/err" || fail "got $(cat "$dir/err")"
	if load $engine --operation write-zeroes --read 50 --allow-write; then
		fail "write-zeroes without the command"
	fi
	grep -q 'the drive knows no write-zeroes' "$dir/err" || fail "got $(cat "$dir/err")"
	cmp "$loop" "$dir/before" || fail "a load that was refused has changed the drive"
	say "$engine: trims and write-zeroes of a drive without them are refused"
	cp "$dir/before" "$dir/$engine.flush"
	attach "$dir/$engine.flush"
	# A flush destroys nothing and needs no permission.
	load $engine --operation flush --read 0 || fail "$(cat "$dir/err")"
	has '"flush_iops":'
	has_none flush_bytes
	has '"iops":0.0'
	cmp "$loop" "$dir/before" || fail "a flush has changed the drive"
	say "$engine: flushes are counted and change nothing"
	load $engine --operation write-fua --read 0 --access sequential --block 64KiB --compress 100% --time 3s \
		--allow-write || fail "$(cat "$dir/err")"
	has_none all_iops
	has_none '"write_iops":0.0'
	if cmp -s "$loop" "$dir/before"; then fail "durable writes have left nothing"; fi
	say "$engine: durable writes are writes"
done
