#!/bin/sh
# nightly.sh JOB DIR MASTERS [FILE or option of load...]   load new files as DIR/<date>, and apply the load to HBase
# nightly.sh status DIR                                    list the loads in DIR, and which are in HBase
#
# After any failure, start it again. Files that a load in DIR contains are skipped, late files become a load of their
# own, and a file that changed after its load is an error (`--replace` loads it again). `apply` continues where it
# stopped. Exit status 3: the newest load is published, but some events were rejected, as --max-rejects allows.
#
# SALTMILL   the program (saltmill)
# DAY        the date (today)
# KEEP       remove loads that are in HBase and older than this, like 30d (keep all)
# TEXTFILE   write metrics to this file, for the textfile collector of node_exporter (none)
set -eu
saltmill=${SALTMILL:-saltmill}
if [ "$1" = status ]; then
	exec "$saltmill" loads --ledger "$2"
fi
job=$1 loads=$2 masters=$3
shift 3
mkdir -p "$loads"
exec 9>"$loads/.lock"
flock -n 9 || { echo "nightly: $loads/.lock: another run holds it" >&2; exit 1; }

measure() {
	[ -z "${TEXTFILE:-}" ] || "$saltmill" loads --ledger "$loads" --textfile "$TEXTFILE" >/dev/null || :
}
trap measure EXIT

# The journal of a load that is in HBase ends with this line.
is_applied() {
	case $(tail -n 1 "$1.saltmill-apply" 2>/dev/null) in finished*) ;; *) return 1 ;; esac
}

# First the loads of earlier nights that did not get into HBase, oldest first.
last=
for load in "$loads"/????-??-??*; do
	case $load in *.saltmill-*) continue ;; esac
	if [ -e "$load/manifest.json" ]; then
		is_applied "$load" || "$saltmill" apply "$load" --hbase "$masters" --create --quiet
		last=$load
	fi
done

day=${DAY:-$(date +%F)}
out=$loads/$day n=2
while [ -e "$out" ]; do
	out=$loads/$day.$(printf %02d "$n") n=$((n + 1))
done
case " $* " in
*" --state"*) ;; # a topic: its state folder knows what was loaded
*) set -- --ledger "$loads" "$@" ;;
esac
if [ -n "$last" ]; then # later nights: use the regions of the table, and refuse an empty export
	set -- --hbase "$masters" --min-rows 1 --previous "$last" "$@"
fi
status=0
"$saltmill" load "$job" --quiet -o "$out" "$@" || status=$?
[ "$status" = 0 ] || [ "$status" = 3 ] || exit "$status"
if [ -e "$out" ]; then
	"$saltmill" apply "$out" --hbase "$masters" --create --check
fi
[ -z "${KEEP:-}" ] || "$saltmill" loads --ledger "$loads" --keep "$KEEP" >/dev/null
exit "$status"
