#!/bin/sh
# nightly.sh JOB DIR MASTERS [FILE or option of load...]: makes today's load in DIR/<date>, then hands it to HBase.
#
# After any failure, start it again: an existing load is not made twice, and `apply` continues where it stopped.
# $SALTMILL and $DAY replace the program and the date, for tests and for another day.
set -eu
job=$1 loads=$2 masters=$3
shift 3
saltmill=${SALTMILL:-saltmill}
day=${DAY:-$(date +%F)}
out=$loads/$day
mkdir -p "$loads"
exec 9>"$loads/.lock"
flock -n 9 || { echo "nightly: $loads/.lock: another run holds it" >&2; exit 1; }
last=$(find "$loads" -maxdepth 1 -name '????-??-??' ! -name "$day" | sort | tail -n 1)

# Status 3 also means published: there are rejects, which an option allowed.
load() {
	"$saltmill" load "$job" --quiet -o "$out" "$@" || [ $? -eq 3 ]
}

if [ ! -e "$out" ]; then
	if [ -z "$last" ]; then # the first night: the table may not exist yet
		load "$@"
	else # first hand over the night before; refuse an empty export
		"$saltmill" apply "$last" --hbase "$masters" --create --quiet
		load --hbase "$masters" --min-rows 1 --previous "$last" "$@"
	fi
fi
"$saltmill" apply "$out" --hbase "$masters" --create --check
