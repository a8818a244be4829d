#!/bin/sh
# A drive that fails too many I/Os ends the run as failed(drive).
. "${srcdir:-.}/tests/system/lib.sh"
begin

small_disk "$dir/small" 2M
truncate -s 64M "$dir/small/sparse"
attach "$dir/small/sparse"
write_program 1 "$loop" "" '{"step":"fill","passes":1,"block_bytes":131072,"in_flight":8}'
start_runner 1 "$loop"
[ "$code" = 0 ] || fail "exit code $code"
result=$(result_of 1)
case $result in
*'"state":"failed","class":"drive","reason":"fill: '*'I/Os failed than are allowed: '*', the first at byte '*) echo "$result" ;;
*) fail "got $result" ;;
esac
grep -q ' point .*"state":"failed"' "$dir/runs/1/records" || fail "no failed point"

say "a run ends by errors only as its campaign says"
max_errors=100000
write_program 2 "$loop" "" '{"step":"fill","passes":1,"block_bytes":131072,"in_flight":8}'
start_runner 2 "$loop"
result_of 2 | grep -q '"state":"done"' || fail "got $(result_of 2)"
grep -q ' point .*"errors":\["0","[1-9]' "$dir/runs/2/records" || fail "no errors were counted"
