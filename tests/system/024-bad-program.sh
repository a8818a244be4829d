#!/bin/sh
# What cannot even start leaves a result that says why, wherever it can.
. "${srcdir:-.}/tests/system/lib.sh"
begin

make_file a 8

# wants RUN TEXT: the run has ended with exit code 0 and a result with that text.
wants()
{
	start_runner "$1" "$dir/a"
	[ "$code" = 0 ] || fail "exit code $code: $(cat "$dir/runs/$1/runner.log")"
	case $(result_of "$1") in
	*"$2"*) say "$2" ;;
	*) fail "got $(result_of "$1")" ;;
	esac
}

write_program 1 "$dir/a" "" '{"step":"identify","path":"/dev/sda"}'
wants 1 '"class":"recipe","reason":"'"$dir/runs/1/program.json"', /steps/0/path: unknown member'

write_program 2 "$dir/a" "" '{"step":"identify"}'
rm "$dir/runs/2/program.json"
wants 2 '"class":"infra","reason":"open '"$dir"'/runs/2/program.json: No such file'

say "a socket that cannot be made"
write_program 3 "$dir/a" "" '{"step":"identify"}'
mkdir "$dir/runs/3/socket"
wants 3 '"class":"infra","reason":"make the socket in'

say "a spool that cannot be made, and wrong usage"
write_program 4 "$dir/a" "" '{"step":"identify"}'
: >"$dir/runs/4/spool"
start_runner 4 "$dir/a"
[ "$code" = 1 ] || fail "exit code $code"
code=0
"$runner" run --dir "$dir" 2>"$dir/log" || code=$?
[ "$code" = 2 ] || fail "exit code $code"
grep -q usage: "$dir/log" || fail "no usage"
