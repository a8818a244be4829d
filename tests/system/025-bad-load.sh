#!/bin/sh
# Loads that cannot be on their target are refused in one sentence, with nothing written;
# a drive that goes away ends its load with the kind of the failure and the place.
. "${srcdir:-.}/tests/system/lib.sh"
begin

# refuses CODE TEXT ARGUMENT...: bench ends with that exit code, that text in its one
# sentence, and no result.
refuses()
{
	want=$1 text=$2
	shift 2
	code=0
	"$runner" bench "$@" >"$dir/out" 2>"$dir/err" || code=$?
	[ "$code" = "$want" ] || fail "exit code $code of bench $*: $(cat "$dir/err")"
	[ ! -s "$dir/out" ] || fail "bench $* has a result"
	[ "$(grep -c '^ssdlab-runner: ' "$dir/err")" = 1 ] || fail "not one sentence: $(cat "$dir/err")"
	grep -q -- "$text" "$dir/err" || fail "wanted \"$text\", got: $(cat "$dir/err")"
	say "$(head -n 1 "$dir/err" | cut -d ' ' -f 2-)"
}

head -c 8388608 /dev/urandom >"$dir/image"
cp "$dir/image" "$dir/copy"
attach "$dir/image" --sector-size=4096
for engine in uring sync fio; do
	if [ $engine = fio ] && ! command -v fio >/dev/null; then continue; fi
	set -- --engine $engine --in-flight 1 --allow-write --read 0
	head -c 2048 /dev/urandom >"$dir/tiny"
	refuses 2 'holds 2048 bytes, which is less than one block of 4KiB' "$dir/tiny" "$@"
	refuses 2 'a block of 512B is no multiple of the logical block of the drive, 4KiB' "$loop" --block 512B "$@"
	refuses 2 'a block of 6KiB is no multiple' "$loop" --block 6KiB "$@"
	refuses 2 'needs one block for each worker' "$loop" --block 8MiB "$@" --workers 2 --in-flight 2
	refuses 2 '200 workers cannot share 100' "$loop" "$@" --workers 200 --in-flight 100
	grep -q 'at most 100 workers, or at least 200 I/Os' "$dir/err" || fail "no cure: $(cat "$dir/err")"
done
: >"$dir/empty"
refuses 2 'holds 0 bytes' "$dir/empty"
refuses 2 '--in-flight: "0" is not' "$loop" --in-flight 0
refuses 2 '--in-flight: "5000" is not' "$loop" --in-flight 5000
refuses 2 'need more than 8GiB' "$loop" --in-flight 4096 --block 4MiB
refuses 2 'is the target itself' "$loop" --read 0 --allow-write --verify "$loop"
for operation in trim write-zeroes flush; do
	refuses 2 'the operation is write or write-fua' "$loop" --read 50 --allow-write --operation $operation \
		--verify "$dir/journal"
done
refuses 2 'would find a place to write' "$loop" --read 0 --allow-write --distribution zipf:5 --in-flight 64 \
	--verify "$dir/journal"
if [ -e "$dir/journal" ]; then fail "a refused load has left its journal"; fi
refuses 2 'neither a block device nor a file' /dev/null
refuses 3 'No such file' "$dir/missing"
refuses 5 'would destroy the data' "$loop" --read 99
cmp -s "$dir/image" "$dir/copy" || fail "a refused load has written"
"$runner" bench "$loop" --in-flight 4096 --time 100ms >"$dir/out" || fail "4096 in flight: exit code $?"

say "a read-only drive is read and not written"
cp "$dir/copy" "$dir/protected"
attach "$dir/protected" --read-only
refuses 5 'is read-only' "$loop" --read 0 --allow-write
"$runner" bench "$loop" --time 100ms >"$dir/out" || fail "exit code $?"

say "a region past the end of the drive"
make_loop short 8
write_program 1 "$loop" "" "$(workload w 0 100 4096)"
sed -i 's/"length_bytes":"4194304"/"length_bytes":"8392704"/' "$dir/runs/1/program.json"
start_runner 1 "$loop"
[ "$code" = 0 ] || fail "exit code $code"
case $(result_of 1) in
*'"class":"recipe"'*'the region ends behind the drive'*) ;;
*) fail "got $(result_of 1)" ;;
esac
tr -d '\0' <"$dir/short" | cmp -s - /dev/null || fail "something was written"

# vanishes READ FIELD KINDS: the drive loses all its blocks once it has done I/O (FIELD of
# its statistics). Its load ends long before its time, with these kinds of failures.
vanishes()
{
	cp "$dir/copy" "$dir/vanishing.$1"
	attach "$dir/vanishing.$1"
	done_ios() { awk '{ print $'"$2"' }' "/sys/block/${loop#/dev/}/stat"; }
	before=$(done_ios "$@")
	"$runner" bench "$loop" --read "$1" --allow-write --time 1h -o json >"$dir/out" 2>"$dir/err" &
	pid=$!
	background "$pid"
	some_done() { [ "$(done_ios "$@")" -gt $((before + 100)) ]; }
	within 20 some_done "$@"
	# Writes on their way would make the file longer again.
	kill -STOP "$pid"
	is_empty()
	{
		truncate -s 0 "$dir/vanishing.$1"
		losetup -c "$loop"
		[ "$(blockdev --getsize64 "$loop")" = 0 ]
	}
	within 20 is_empty "$1"
	kill -CONT "$pid"
	code=0
	wait "$pid" || code=$?
	[ "$code" = 1 ] || fail "exit code $code: $(cat "$dir/err")"
	grep -q '"state":"failed","reason":"more I/Os failed than are allowed"' "$dir/out" || fail "$(cat "$dir/out")"
	grep -qE "\"($3)\":\"[1-9]" "$dir/out" || fail "none of $3: $(cat "$dir/out")"
	grep -q '"first":{"errno":[0-9]*,"text":"[^"]*","offset_bytes":"[0-9]*"}' "$dir/out" || fail "no place: $(cat "$dir/out")"
	say "$(grep -o '"errors":.*"first":{[^}]*}' "$dir/out")"
}

say "a drive that vanishes"
vanishes 100 1 'short|media'
vanishes 0 5 'space|media'
