#!/bin/bash
# Bad input is a problem document with a pointer and a cure, a 4xx status, the exit code of the design, and stores nothing.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

lab_start
drive_make n1 a1 64M
drive_make n1 b1 64M
agent_join n1
wait_for 30 "two drives are seen" drives_seen 2
suite_add
mapfile -t serials < <(json '.items[].serial' drive ls)
cli drive approve "${serials[0]}" --serial "${serials[0]}" >/dev/null
good=${serials[0]}
unapproved=${serials[1]}

# refused STATUS POINTER TEXT BODY [PATH]
refused() {
	local want=$1 pointer=$2 text=$3 body=$4 path=${5:-/api/v1/campaigns} status
	status=$(api POST "$path" "$body")
	[ "$status" = "$want" ] || die "want $want, got $status for ${body:0:100}: $(head -c 400 "$lab/answer")"
	jq -e '.type and .title and .status and .detail' "$lab/answer" >/dev/null ||
		die "not a problem document: $(head -c 400 "$lab/answer")"
	[ -z "$pointer" ] || jq -e --arg p "$pointer" '.errors[0].pointer == $p' "$lab/answer" >/dev/null ||
		die "want pointer $pointer: $(cat "$lab/answer")"
	grep -qF -- "$text" "$lab/answer" || die "want \"$text\" in $(cat "$lab/answer")"
}

campaign() {
	jq -nc --arg s "$good" "{ssdlab: \"campaign/v1\", name: \"x\", suite: \"small@1\", drives: [{serial: \$s}]} $1"
}

refused 400 /repaets 'did you mean \"repeats\"' "$(campaign '+ {repaets: 3}')"
refused 400 /repeats 'whole number' "$(campaign '+ {repeats: "3"}')"
refused 400 /max_errors 'must not be null' "$(campaign '+ {max_errors: null}')"
refused 400 /prepare/purge 'must not be null' "$(suite_small | jq -c '.prepare.purge = null | .version = 2')" /api/v1/suites
refused 400 /name 'without control characters' "$(campaign '+ {name: "a\u009bb"}')"
refused 400 /name 'without control characters' "$(campaign '+ {name: "a\u202eb"}')"
refused 400 /name missing "$(campaign '| del(.name)')"
refused 404 /drives/0 'no drive' "$(campaign '+ {drives: [{serial: "NOSUCH"}]}')"
refused 409 /drives/1 'ssdlab drive approve' "$(campaign "+ {drives: [{serial: \$s}, {serial: \"$unapproved\"}]}")"
refused 404 /suite 'no-such@1' "$(campaign '+ {suite: "no-such@1"}')"
refused 400 /drives/0 'minimum' "$(campaign '+ {suite: "four-corners@1"}')"
refused 400 '' 'not valid JSON' '{"name": '
refused 400 '' 'not valid JSON' '{"a": 1, "a": 2}'
refused 400 /workloads/1 'already in the list' "$(campaign '+ {workloads: ["4k-random-read", "4k-random-read"]}')"
jq -e '.errors[0].fix' "$lab/answer" >/dev/null || die "no fix for a repeated workload"
refused 413 '' '16 levels' "$(printf '[%.0s' $(seq 100))$(printf ']%.0s' $(seq 100))"
jq -e '.errors[0] | .pointer == "" and .fix != null' "$lab/answer" >/dev/null || die "no place or fix: $(cat "$lab/answer")"
refused 400 /region 'percentage' "$(suite_small | jq -c '.region = "25" | .version = 2')" /api/v1/suites
refused 400 /workloads/0/block 'is not a size' "$(suite_small | jq -c '.workloads[0].block = "4K" | .version = 2')" /api/v1/suites

note "a join token that nobody could read is not made, and one that was lost is told"
code=0
cli node enroll n7 >&- 2>"$lab/err" || code=$?
[ "$code" = 1 ] || die "a closed stdout ended with $code: $(cat "$lab/err")"
grep -q 'stdout is closed' "$lab/err" || die "a closed stdout: $(cat "$lab/err")"
code=0
cli node show n7 >/dev/null 2>&1 || code=$?
[ "$code" = 3 ] || die "n7 was enrolled all the same: $code"
code=0
cli node enroll n7 >/dev/full 2>"$lab/err" || code=$?
[ "$code" = 1 ] || die "a full stdout ended with $code: $(cat "$lab/err")"
grep -q 'the join token is lost' "$lab/err" || die "a full stdout: $(cat "$lab/err")"
cli node enroll n7 2>/dev/null | grep -q '/join?name=n7&token=' || die "n7 got no second token"

note "2 MiB are refused, and the client sees it"
head -c 2097152 /dev/zero | tr '\0' 'x' >"$lab/big"
status=$(curl -sk -o "$lab/answer" -w '%{http_code}' -H 'Content-Type: application/json' -H 'Expect:' \
	-H "Authorization: Bearer $(cat "$lab/controller/admin.token")" --data-binary @"$lab/big" \
	"https://127.0.0.1:$http_port/api/v1/campaigns") || true
[ "$status" = 413 ] || die "2 MiB answered with $status"

note "a TLS handshake that is begun and does not go on is closed"
exec 5<>"/dev/tcp/127.0.0.1/$http_port"
printf '\x16\x03\x01\x02\x00\x01' >&5
timeout 25 cat <&5 >/dev/null || die "it was still open after 25 s"
exec 5>&-

note "without a token, with a wrong one, with another content type"
status=$(curl -sk -o "$lab/answer" -w '%{http_code}' -H 'Content-Type: application/json' -d '{}' \
	"https://127.0.0.1:$http_port/api/v1/campaigns")
[ "$status" = 401 ] || die "no token answered with $status"
status=$(curl -sk -o "$lab/answer" -w '%{http_code}' -H 'Content-Type: text/plain' -d '{}' \
	-H "Authorization: Bearer $(cat "$lab/controller/admin.token")" "https://127.0.0.1:$http_port/api/v1/campaigns")
[ "$status" = 415 ] || die "text/plain answered with $status"

note "the client's exit codes"
exits() {
	local want=$1 got=0
	shift
	cli "$@" >"$lab/out" 2>&1 </dev/null || got=$?
	[ "$got" = "$want" ] || die "want exit $want, got $got from: $* ($(cat "$lab/out"))"
}
campaign '+ {drives: [{serial: "NOSUCH"}]}' >"$lab/x.json"
exits 3 campaign submit "$lab/x.json" --yes
campaign "+ {drives: [{serial: \"$unapproved\"}]}" >"$lab/x.json"
exits 5 campaign submit "$lab/x.json" --yes
campaign '+ {repaets: 3}' >"$lab/x.json"
exits 2 campaign submit "$lab/x.json" --yes
printf 'ssdlab: campaign/v1\nname: x\nname: y\n' >"$lab/x.yaml"
exits 2 campaign lint "$lab/x.yaml"
grep -q 'x.yaml:3' "$lab/out" || die "no line of the duplicate key: $(cat "$lab/out")"
exits 3 run show r999
exits 2 run sho
SSDLAB_TOKEN_FILE=/dev/null exits 4 campaign submit "$lab/x.json" --yes
exits 5 drive approve "$unapproved" --serial wrong

note "the serial of a drive that was resized means the one that is there; a command asks which"
truncate -s 128M "$lab/n1-drives/b1"
[ ${#loops[@]} = 0 ] || losetup -c "${loops[1]}"
kill -HUP "${agent_pid[n1]}"
known_twice() { json '[.items[].observed] | sort == ["absent", "present", "present"]' drive ls; }
wait_for 20 "the drive is known anew" known_twice
campaign "+ {drives: [{serial: \"$unapproved\"}]}" >"$lab/x.json"
exits 5 campaign submit "$lab/x.json" --yes
grep -q 'not approved' "$lab/out" || die "another drive was meant: $(cat "$lab/out")"
campaign "+ {drives: [{serial: \"$unapproved\", capacity: \"64MB\"}]}" >"$lab/x.json"
exits 3 campaign submit "$lab/x.json" --yes
exits 2 drive approve "$unapproved" --serial "$unapproved"
grep -q 'use an id: d2 (67.1 MB, absent), d3 (134 MB, unapproved)' "$lab/out" || die "it does not say which: $(cat "$lab/out")"

note "nothing was stored"
[ "$(sql 'SELECT count(*) FROM campaign')" = 0 ] || die "a campaign was stored"
[ "$(sql 'SELECT count(*) FROM run')" = 0 ] || die "a run was stored"
[ "$(sql "SELECT count(*) FROM suite WHERE name = 'small'")" = 1 ] || die "a suite was stored"

note "no plain HTTP beyond loopback"
if "$build/controller/ssdlab-controller" --config /dev/null --state-dir "$lab/other" --tls no --http-address 0.0.0.0 \
	--http-port 0 --data-port "$((data_port + 2))" 2>"$lab/out"; then die "it started"; fi
grep -q 'tls' "$lab/out" || die "the error does not say what to set: $(cat "$lab/out")"
