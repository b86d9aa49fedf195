#!/bin/sh
# nightly.sh JOB DIR MASTERS [FILE or option of load...]: today's load into DIR/<date>, then into HBase.
#
# Whatever fails, start it again: a load that is there is not made twice, and `apply` goes on where its
# journal ends.  $SALTMILL and $DAY stand for the program and the date, in tests and for yesterday's.
set -eu
job=$1 loads=$2 masters=$3
shift 3
saltmill=${SALTMILL:-saltmill}
day=${DAY:-$(date +%F)}
out=$loads/$day
mkdir -p "$loads"
exec 9>"$loads/.lock"
flock -n 9 || { echo "nightly: another run is at work" >&2; exit 1; }
last=$(find "$loads" -maxdepth 1 -name '????-??-??' ! -name "$day" | sort | tail -n 1)

# Status 3 is published too: with rejects, which an option allowed.
load() {
	"$saltmill" load "$job" --quiet -o "$out" "$@" || [ $? -eq 3 ]
}

if [ ! -e "$out" ]; then
	if [ -z "$last" ]; then # the first night: the table may not be there yet
		load "$@"
	else # the night before is in HBase first; an empty export does not pass for a night's data
		"$saltmill" apply "$last" --hbase "$masters" --create --quiet
		load --hbase "$masters" --min-rows 1 --previous "$last" "$@"
	fi
fi
"$saltmill" apply "$out" --hbase "$masters" --create --check
