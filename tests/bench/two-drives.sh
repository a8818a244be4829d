#!/bin/bash
# Whether a second drive costs the first one anything: ssdlab-runner bench on one drive, then on two at the same time, each with one
# processor of its own for the worker and the kernel threads that do its I/O. Prints both sides and the ratio of each pair and the
# median; 2 is perfect. Makes two zram devices of 512 MiB (root).
#
#   two-drives.sh [-n PAIRS] [-t SECONDS] [-d DEPTH]
#
# RUNNER names the program under test.
set -eu

pairs=5 seconds=3 depth=128
while getopts n:t:d: o; do
	case $o in
	n) pairs=$OPTARG ;;
	t) seconds=$OPTARG ;;
	d) depth=$OPTARG ;;
	*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d'; exit 2 ;;
	esac
done
runner=${RUNNER:-runner/ssdlab-runner}
[ -w /sys/class/zram-control/hot_remove ] || { echo "skipped: needs root and zram"; exit 77; }
[ "$(nproc)" -ge 2 ] || { echo "skipped: needs two processors"; exit 77; }

drives=()
cleanup() {
	local d
	for d in "${drives[@]}"; do
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			echo "$d" 2>/dev/null >/sys/class/zram-control/hot_remove && break
			sleep 0.2
		done
	done
}
trap cleanup EXIT
for _ in 1 2; do
	d=$(cat /sys/class/zram-control/hot_add)
	drives+=("$d")
	echo 512M >"/sys/block/zram$d/disksize"
	dd if=/dev/urandom of="/dev/zram$d" bs=1M count=512 oflag=direct status=none
done
mapfile -t cpus < <(taskset -cp $$ | sed 's/.*: //' | tr , '\n' |
	awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }')

# one CPU DRIVE: its IOPS
one() {
	taskset -c "$1" "$runner" bench "/dev/zram$2" --block 4KiB --read 100 --access random \
		--in-flight "$depth" --time "${seconds}s" -o json | sed 's/.*"iops":\([0-9.]*\).*/\1/'
}
both() {
	{
		one "${cpus[0]}" "${drives[0]}" &
		one "${cpus[1]}" "${drives[1]}"
		wait
	} | awk '{ sum += $1 } END { print sum }'
}

echo "4 KiB random read, $depth in flight on each drive, $seconds s each"
printf '%4s %14s %14s %6s\n' pair 'IOPS of one' 'IOPS of two' ratio
for i in $(seq "$pairs"); do
	if [ $((i % 2)) = 1 ]; then
		a=$(one "${cpus[0]}" "${drives[0]}") b=$(both)
	else
		b=$(both) a=$(one "${cpus[0]}" "${drives[0]}")
	fi
	echo "$a $b" | awk -v i="$i" '{ printf "%4d %14.0f %14.0f %6.3f\n", i, $1, $2, $2 / $1 }'
done | awk '
	# Each line as it comes, and the ratios in order.
	{ print; fflush(); for (k = NR; k > 1 && x[k - 1] > $4; k--) x[k] = x[k - 1]; x[k] = $4 }
	END { printf "median ratio: %.3f\n", NR % 2 ? x[(NR + 1) / 2] : (x[NR / 2] + x[NR / 2 + 1]) / 2 }'
