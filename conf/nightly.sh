#!/bin/sh
# nightly.sh JOB DIR MASTERS [FILE...]: today's load into DIR/<date>, then into HBase.
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
if [ ! -e "$out" ]; then
	if [ -z "$last" ]; then # the first night: the table is not there yet
		"$saltmill" load "$job" "$@" --quiet -o "$out"
	else # the night before is in HBase first; an empty export does not pass for a night's data
		"$saltmill" apply "$last" --hbase "$masters" --create --quiet
		"$saltmill" load "$job" "$@" --quiet -o "$out" --hbase "$masters" --min-rows 1 --previous "$last" ||
			[ $? -eq 3 ] # published, with rejects that --max-rejects allows
	fi
fi
"$saltmill" apply "$out" --hbase "$masters" --create --check
