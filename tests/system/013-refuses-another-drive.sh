#!/bin/sh
# Only the drive of the program, under its newest lease, and only once.
. "${srcdir:-.}/tests/system/lib.sh"
begin
need_tool flock

make_loop a 8
refused "$loop" "its serial is" other-serial

a=$loop
make_file b 8
identify_as=$loop
refused "$dir/b" 'its kind is \"file\", not \"loop\"'
identify_as=
loop=$a

newer() { echo 8 >"$dir/state/fence/$key"; }
prepare=newer
refused "$loop" "is 8, this program has 7: its lease is not the newest"
older() { echo 6 >"$dir/state/fence/$key"; }
prepare=older
refused "$loop" "is 6, this program has 7"
none() { rm "$dir/state/fence/$key"; }
prepare=none
refused "$loop" "no fence token is known here"
nonsense() { echo x >"$dir/state/fence/$key"; }
prepare=nonsense
refused "$loop" "holds no fence token"
prepare=

say "the file behind it is gone"
make_loop gone 8
lost() { rm "$dir/gone"; }
prepare=lost
refused "$loop" "the file behind $loop was deleted, renamed or replaced"
prepare=

say "the lock of another runner"
mkdir -p "$dir/state/lock"
loop=$a
write_program lock "$loop" "" '{"step":"identify"}'
exec 9>"$dir/state/lock/$key"
flock 9
refused "$loop" "another runner holds the drive"
exec 9>&-

say "a loop device over a device"
identify_as=$dir/b
lower=$loop
attach "$lower"
refused "$loop" "is a loop over $lower, which is not a regular file"

say "what is no drive at all"
start_runner_on()
{
	runs=$((runs + 1))
	write_program "$runs" "$dir/b" "" '{"step":"identify"}'
	start_runner "$runs" "$1"
	result_of "$runs" | grep -q "$2" || fail "$1: $(result_of "$runs")"
}
start_runner_on /dev/null '"class":"safety","reason":"/dev/null: .*neither a block device'
start_runner_on "$dir" '"class":"safety","reason":".*neither a block device'
start_runner_on "$dir/none" '"class":"infra","reason":"open .*No such file'
free=$(losetup -f)
start_runner_on "$free" '"class":"safety","reason":".*'"$free has no file behind it"
