# Functions for the system tests, which need root and loop devices. Source it first:
#
#   . "${srcdir:-.}/tests/system/lib.sh"
#
# Everything a test makes lies below $dir and goes away at its end, however it ends: loop
# devices are attached to files in $dir only. A test that cannot run here says why and ends
# with 77.

# shellcheck shell=sh
set -eu

build=${SSDLAB_BUILD:-build}
runner=${SSDLAB_RUNNER:-$build/runner/ssdlab-runner}
helper=${SSDLAB_TEST_HELPER:-$build/tests/system/helper}
dir=
undo=

skip()
{
	echo "skipped: $*"
	exit 77
}

fail()
{
	echo "FAILED: $*" >&2
	exit 1
}

say()
{
	echo "- $*"
}

# later COMMAND: to be done when the test ends, the last one first. Paths hold no blanks.
later()
{
	undo="$*; $undo"
}

# A failure here must not hide the rest.
cleanup()
{
	status=$?
	set +e
	eval "$undo"
	if [ -n "$dir" ]; then rm -rf "$dir"; fi
	exit "$status"
}

# background PID: a process of this test's that must not outlive it.
background()
{
	later "kill $1 2>/dev/null; wait $1 2>/dev/null"
}

# within SECONDS COMMAND...: tries it until it succeeds; fails when it does not in time.
within()
{
	tries=$(($1 * 20))
	shift
	until "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || fail "did not happen in time: $*"
		sleep 0.05
	done
}

need_tool()
{
	for t in "$@"; do
		command -v "$t" >/dev/null || skip "$t is not installed"
	done
}

# Begins a test: checks what all of them need and makes $dir.
begin()
{
	PATH=$PATH:/usr/sbin:/sbin
	[ "$(id -u)" = 0 ] || skip "needs root"
	need_tool losetup mount sha256sum
	[ -e /dev/loop-control ] || skip "there are no loop devices"
	[ -x "$runner" ] || skip "$runner is not built"
	dir=$(mktemp -d "${TMPDIR:-/var/tmp}/ssdlab-system-XXXXXX")
	trap cleanup EXIT
	trap 'exit 1' INT TERM HUP
	mkdir "$dir/state" "$dir/state/fence" "$dir/runs"
}

# Makes $dir/NAME, MIB large, of zeros.
make_file()
{
	truncate -s "$2M" "$dir/$1"
}

# discard_taken LOOP: somebody set the limit of its discard to 0. A loop device keeps that, whatever is
# attached to it next, so that no test of trims can be done with it.
discard_taken()
{
	queue=/sys/block/${1#/dev/}/queue
	[ "$(cat "$queue/discard_max_hw_bytes")" != 0 ] && [ "$(cat "$queue/discard_max_bytes")" = 0 ]
}

# attach FILE [OPTION]: a loop device over a file in $dir; its path goes to $loop.
attach()
{
	# The kernel makes the ones from 64 on when they are named.
	number=64
	tries=100
	while [ $tries -gt 0 ]; do
		tries=$((tries - 1))
		# Another test may take the free one between look and use, many of them many times.
		if loop=$(losetup -f --show ${2:+"$2"} "$1" 2>"$dir/losetup"); then
			while discard_taken "$loop" && [ $number -lt 96 ]; do
				losetup -d "$loop"
				loop=/dev/loop$number
				number=$((number + 1))
				losetup ${2:+"$2"} "$loop" "$1" 2>"$dir/losetup" || continue 2
			done
			later losetup -d "$loop"
			return 0
		fi
		sleep 0.05
	done
	skip "no loop device can be attached: $(cat "$dir/losetup")"
}

# Makes a new file NAME of MIB and a loop device over it.
make_loop()
{
	make_file "$1" "$2"
	attach "$dir/$1"
}

# What was just closed may still be on its way.
umount_soon()
{
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		umount "$1" 2>/dev/null && return 0
		sleep 0.1
	done
	umount "$1"
}

# mount_on DEVICE DIRECTORY [OPTIONS]: read-only unless told otherwise.
mount_on()
{
	mkdir -p "$2"
	mount -o "${3:-ro}" "$1" "$2"
	later umount_soon "$2"
}

# Mounts a tmpfs on a directory, of that size.
small_disk()
{
	mkdir -p "$1"
	mount -t tmpfs -o size="$2" none "$1" || skip "no tmpfs can be mounted"
	later umount_soon "$1"
}

# The measured times of all programs here, and the load.
times='"maximum_warmup_ns":"100000000","maximum_measure_ns":"300000000","warmup_ns":"0","measure_ns":"200000000","arrivals":"poisson","load_percent":[50,120]'

# workload ID READ RANDOM BLOCK: a step of a program.
workload()
{
	printf '{"step":"workload","workload":{"id":"%s","read_percent":%s,"random_percent":%s,"block_bytes":%s,"in_flight":16,"workers":1},"ramp":{%s}}' \
		"$1" "$2" "$3" "$4" "$times"
}

# write_program RUN PATH SERIAL STEPS: makes $dir/runs/RUN with its program and sets the
# fence of the drive to the program's. SERIAL: as told by the drive when empty.
write_program()
{
	mkdir "$dir/runs/$1"
	if [ -n "$3" ]; then
		"$helper" drive "$2" "$3" >"$dir/identity"
	else
		"$helper" drive "$2" >"$dir/identity"
	fi
	key=$(tail -n 1 "$dir/identity")
	echo 7 >"$dir/state/fence/$key"
	cat >"$dir/runs/$1/program.json" <<END
{"ssdlab":"program/v1","run":"12","attempt":"$1","fence":"7","seed":"1","max_errors":${max_errors:-50},
"drive":$(head -n 1 "$dir/identity"),
"region":{"offset_bytes":"${region_offset:-0}","length_bytes":"${region_length:-4194304}"},
"data":{"compress_percent":${compress:-0},"dedupe_percent":${dedupe:-0}},
"steps":[$4]}
END
}

# start_runner RUN PATH: runs it; its exit code goes to $code.
start_runner()
{
	code=0
	"$runner" run --dir "$dir/runs/$1" --state-dir "$dir/state" --drive "$2" \
		2>"$dir/runs/$1/runner.log" || code=$?
}

# Prints the RESULT of a run, and checks that it is the last record and that every
# sequence number is there once.
result_of()
{
	"$helper" spool "$dir/runs/$1/spool" >"$dir/runs/$1/records" ||
		fail "the spool of run $1 cannot be read"
	awk '$1 != NR { bad = 1 } END { exit bad }' "$dir/runs/$1/records" ||
		fail "the sequence numbers of run $1 have a hole"
	tail -n 1 "$dir/runs/$1/records" | sed -n 's/^[0-9]* result //p'
}

digest()
{
	sha256sum "$1" | cut -d ' ' -f 1
}

runs=0

# refused PATH TEXT [SERIAL]: a program that writes everywhere must be refused with that
# text, and no byte of the drive may change. PREPARE, when set, is called with the
# directory of the run before it starts.
refused()
{
	runs=$((runs + 1))
	write_program "$runs" "${identify_as:-$1}" "${3:-}" \
		"{\"step\":\"fill\",\"passes\":1,\"block_bytes\":131072,\"in_flight\":8},$(workload w 0 100 4096)"
	if [ -n "${prepare:-}" ]; then "$prepare"; fi
	before=$(digest "$1")
	start_runner "$runs" "$1"
	result=$(result_of "$runs")
	[ "$code" = 0 ] || fail "exit code $code: $(cat "$dir/runs/$runs/runner.log")"
	[ "$(digest "$1")" = "$before" ] || fail "bytes of $1 have changed"
	case $result in
	*'"state":"failed","class":"safety"'*"$2"*) say "refused: $2" ;;
	*) fail "wanted a refusal with \"$2\", got: $result" ;;
	esac
}

# bench_writes TARGET: a load by hand that writes everywhere; its exit code goes to $code.
bench_writes()
{
	code=0
	"$runner" bench "$1" --block 4KiB --read 0 --access random --in-flight 4 --time 100ms \
		--allow-write >"$dir/bench.out" 2>"$dir/bench.err" || code=$?
}

# bench_refused TARGET TEXT: such a load must be refused with that text, and no byte of the
# target may change.
bench_refused()
{
	before=$(digest "$1")
	bench_writes "$1"
	[ "$(digest "$1")" = "$before" ] || fail "bench has changed bytes of $1"
	[ "$code" = 5 ] || fail "wanted exit code 5 of bench, got $code: $(cat "$dir/bench.err")"
	grep -qF -- "$2" "$dir/bench.err" ||
		fail "wanted a refusal with \"$2\", got: $(cat "$dir/bench.err")"
	say "refused: $2"
}

# bench_allowed TARGET: such a load must write.
bench_allowed()
{
	before=$(digest "$1")
	bench_writes "$1"
	[ "$code" = 0 ] || fail "bench of $1 ended with $code: $(cat "$dir/bench.err")"
	[ "$(digest "$1")" != "$before" ] || fail "bench wrote nothing to $1"
}
