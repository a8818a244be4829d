#!/bin/bash
# Runs the same load through fio and through ssdlab-runner bench, one after the other, and
# prints the ratio of each pair and the median of all: IOPS, median latency (submission to
# completion on both sides), processor time per I/O of the whole program without its start (threads
# that the kernel adds to it for the I/O of some drives count, too). Ratios above 1 mean that ours has more.
#
#   engine-vs-fio.sh [-n PAIRS] [-t SECONDS] [-d DEPTH] [-r RATE|half] [-f default|tuned]
#                    [-e uring|null] [-m MINIMUM] [TARGET|file]
#
# TARGET is a device or file with data in it, and is only read. Without one, a zram device
# of 1 GiB is made (root); with `file`, or without root, a file of 256 MiB. -f tuned gives fio
# registered files and buffers and batches of 32. -r offers a rate (Poisson on both sides), half
# of what we reach without one with `half`; fio may miss a Poisson rate by a half, so it is asked
# for less when it reaches more, and in each pair we are offered what fio reached. -e null compares the engines without a device. -m fails
# when the median ratio of IOPS is lower. RUNNER names the program under test.
set -eu

pairs=5 seconds=3 depth=128 rate='' settings=default engine=uring minimum=0
usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d'; exit 2; }
while getopts n:t:d:r:f:e:m: o; do
	case $o in
	n) pairs=$OPTARG ;;
	t) seconds=$OPTARG ;;
	d) depth=$OPTARG ;;
	r) rate=$OPTARG ;;
	f) settings=$OPTARG ;;
	e) engine=$OPTARG ;;
	m) minimum=$OPTARG ;;
	*) usage ;;
	esac
done
shift $((OPTIND - 1))
runner=${RUNNER:-runner/ssdlab-runner}
command -v fio >/dev/null || { echo "skipped: fio is not installed"; exit 77; }

work=$(mktemp -d "${BENCH_DIR:-/var/tmp}/ssdlab-bench.XXXXXX")
zram=
cleanup() {
	rm -rf "$work"
	[ -n "$zram" ] || return 0
	# What looks at new devices may have it open for a moment.
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		echo "$zram" 2>/dev/null >/sys/class/zram-control/hot_remove && return 0
		sleep 0.2
	done
	echo "$target could not be removed"
}
trap cleanup EXIT

target=${1:-}
if [ "$engine" = null ]; then
	target=null
elif [ -z "$target" ] && [ -w /sys/class/zram-control/hot_remove ]; then
	zram=$(cat /sys/class/zram-control/hot_add)
	target=/dev/zram$zram
	echo 1G >"/sys/block/zram$zram/disksize"
	dd if=/dev/urandom of="$target" bs=1M count=1024 oflag=direct status=none
elif [ -z "$target" ] || [ "$target" = file ]; then
	target=$work/data
	dd if=/dev/urandom of="$target" bs=1M count=256 status=none
fi

fio_args=(--name=x "--filename=$target" --ioengine=io_uring --rw=randread --bs=4k --direct=1
	--thread --time_based "--runtime=$seconds" "--iodepth=$depth" --readonly
	--lat_percentiles=1 --clat_percentiles=0 --output-format=json)
case $engine in
uring) ;;
null) fio_args=(--name=x --ioengine=null --size=1g "${fio_args[@]:3}") ;;
*) usage ;;
esac
case $settings in
default) ;;
tuned)
	fio_args+=(--registerfiles --fixedbufs --iodepth_batch_submit=32
		--iodepth_batch_complete_max=32)
	;;
*) usage ;;
esac
our_args=("$target" --block 4KiB --read 100 --access random --in-flight "$depth"
	--engine "$engine" --time "${seconds}s" -o json)
# spent FILE COMMAND...: the seconds of processor time that it takes; what it prints goes to FILE.
spent() {
	local TIMEFORMAT='%U %S' out=$1
	shift
	{ time "$@" >"$out" 2>"$work/err"; } 2>&1 | awk '{ print $1 + $2 }'
}

# Both print: IOPS, median latency in ns, processor ns per I/O.
run_fio() {
	local cpu
	cpu=$(spent "$work/fio" fio "${fio_args[@]}")
	awk -v seconds="$seconds" -v cpu="$cpu" -v start="$fio_start" '
		function value() { v = $0; sub(/.*: */, "", v); sub(/,$/, "", v); return v + 0 }
		/"read" : \{/ { inside = 1 }
		/"write" : \{/ { inside = 0 }
		inside && /"iops" :/ && iops == "" { iops = value() }
		inside && /"50.000000" :/ && p50 == "" { p50 = value() }
		END { printf "%.1f %.0f %.1f\n", iops, p50, (cpu - start) / seconds / iops * 1e9 }' "$work/fio"
}
run_ours() {
	local cpu
	cpu=$(spent "$work/ours" "$runner" bench "${our_args[@]}" "$@")
	sed -n 's/.*"iops":\([0-9.]*\).*"service":{"n":"\([0-9]*\)",[^}]*"lat_p50_ns":\([0-9.]*\).*/\1 \3 \2/p' "$work/ours" |
		awk -v cpu="$cpu" -v start="$our_start" '{ printf "%.1f %.0f %.1f\n", $1, $2, (cpu - start) / $3 * 1e9 }'
}
fio_start=$(spent "$work/fio" fio "${fio_args[@]}" --time_based=0 --number_ios=1)
our_start=$(spent "$work/ours" "$runner" bench "${our_args[@]}" --time 1ms)
ask_fio() { fio_args=("${full_args[@]}" "--rate_iops=$1" --rate_process=poisson); }
full_args=("${fio_args[@]}")
if [ "$rate" = half ]; then
	half=$(run_ours | awk '{ printf "%.0f", $1 / 2 }')
	ask_fio "$half"
	rate=$(run_fio | awk -v half="$half" '{ printf "%.0f", ($1 > half ? half * half / $1 : half) }')
fi
[ -z "$rate" ] || ask_fio "$rate"
median() { sort -g | awk '{ x[NR] = $1 } END { print NR % 2 ? x[(NR + 1) / 2] : (x[NR / 2] + x[NR / 2 + 1]) / 2 }'; }

printf '%s, 4 KiB random read, %s in flight%s, %s s each; fio %s\n' \
	"$target" "$depth" "${rate:+, $rate/s asked of fio}" "$seconds" "$settings"
printf '%4s %11s %11s %6s  %9s %9s %6s  %8s %8s %6s\n' \
	pair 'fio IOPS' 'our IOPS' ratio 'fio p50' 'our p50' ratio 'fio ns' 'our ns' ratio
for i in $(seq "$pairs"); do
	if [ -n "$rate" ]; then
		f=$(run_fio) o=$(run_ours --rate "${f%% *}/s")
	elif [ $((i % 2)) = 1 ]; then
		f=$(run_fio) o=$(run_ours)
	else
		o=$(run_ours) f=$(run_fio)
	fi
	echo "$f $o" | awk -v i="$i" '{
		printf "%4d %11.0f %11.0f %6.3f  %9d %9d %6.3f  %8.0f %8.0f %6.3f\n",
			i, $1, $4, $4 / $1, $2, $5, $5 / $2, $3, $6, $6 / $3 }' | tee -a "$work/pairs"
done
iops=$(awk '{ print $4 }' "$work/pairs" | median)
printf 'median ratio: IOPS %.3f, p50 %.3f, processor time per I/O %.3f\n' "$iops" \
	"$(awk '{ print $7 }' "$work/pairs" | median)" "$(awk '{ print $10 }' "$work/pairs" | median)"
if awk -v x="$iops" -v m="$minimum" 'BEGIN { exit !(x < m) }'; then
	echo "below the minimum of $minimum"
	exit 1
fi
