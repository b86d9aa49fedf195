#!/bin/sh
# fuzz.sh SECS TARGET... runs built fuzz targets (build/fuzz/TARGET), with one target on each processor. A target runs
# for SECS seconds or until it finds a fault. Prints one line for each target.
#
# New inputs stay in build/fuzz/new/TARGET, and findings in build/fuzz/found/TARGET.
set -u
cd "$(dirname "$0")/../.." || exit 1
out=build/fuzz

one() { # SECS TARGET
	mkdir -p $out/new/"$2" $out/found/"$2" tests/fuzz/corpus/"$2"
	seeds=
	if [ -f tests/fuzz/seeds_"$2".py ]; then
		python3 tests/fuzz/seeds_"$2".py $out/seeds/"$2" && seeds=$out/seeds/$2 || return 1
	fi
	$out/"$2" -max_total_time="$1" -timeout=20 -rss_limit_mb=3000 -print_final_stats=1 \
		-artifact_prefix=$out/found/"$2"/ $out/new/"$2" tests/fuzz/corpus/"$2" $seeds >$out/"$2".log 2>&1
	status=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' $out/"$2".log)
	covered=$(grep -o ' cov: [0-9]*' $out/"$2".log | tail -n 1)
	printf '%-10s %10s runs,%s, %s\n' "$2" "${runs:-0}" "${covered:- cov: 0}" \
		"$([ $status -eq 0 ] && echo "nothing found" || echo "FOUND: $out/$2.log")"
	return $status
}

if [ "$1" = one ]; then
	one "$2" "$3"
	exit
fi
secs=$1
shift
printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} tests/fuzz/fuzz.sh one "$secs" {}
