#!/bin/sh
# layers.sh: do the rooms keep their walls?  ROOMS and LIBRARIES are the tables of the Makefile.
#
# A file includes headers of its own room and the doors (include/) that its room opens or may use.
# Each door belongs to one room, a contract includes what its room may, rooms use each other in no
# circle, nor do headers include each other in one; a library's header stands only where its table
# says; and no two files have one name.
set -u
files=$(ls include/*.h pipeline/*/*.[ch] splitter/*.[ch])
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# shellcheck disable=SC2086
grep -HE '^#include [<"]' $files | FILES=$files awk '
function say(text) { print "layers: " text }
function room_of(file,    p) {
	split(file, p, "/")
	if (p[1] == "include")
		return owner[substr(p[2], 1, length(p[2]) - 2)]
	return p[1] == "pipeline" ? p[2] : p[1]
}
BEGIN {
	n = split(ENVIRON["ROOMS"], line, "\n")
	for (i = 1; i <= n; i++) {
		if (split(line[i], part, /[:|]/) < 3)
			continue
		known[part[1]] = 1
		m = split(part[2], door, " ")
		for (j = 1; j <= m; j++) {
			owners[door[j]]++
			owner[door[j]] = part[1]
			may[part[1], door[j]] = 1
		}
		m = split(part[3], door, " ")
		for (j = 1; j <= m; j++) {
			may[part[1], door[j]] = 1
			used[part[1] " " door[j]] = 1
		}
	}
	n = split(ENVIRON["LIBRARIES"], line, "\n")
	for (i = 1; i <= n; i++) {
		m = split(line[i], part, " ")
		header = substr(part[1], 1, length(part[1]) - 1)
		library[header] = 1
		for (j = 2; j <= m; j++)
			place[header, part[j]] = 1
	}
	n = split(ENVIRON["FILES"], all, "\n")
	for (i = 1; i <= n; i++) {
		exists[all[i]] = 1
		name = all[i]
		sub(/.*\//, "", name)
		if (name in named)
			say(all[i] " has the name of " named[name])
		named[name] = all[i]
		name = all[i]
		if (sub(/^include\//, "", name) && sub(/\.h$/, "", name) && owners[name] != 1)
			say(all[i] " is the door of " owners[name] + 0 " rooms, expected one")
		else if (!(room_of(all[i]) in known))
			say(all[i] ": no room " room_of(all[i]) " in the table")
	}
	for (u in used) {
		split(u, part, " ")
		if (!(part[2] in owner))
			say("room " part[1] " may use " part[2] ".h, which no room opens")
		print "edge", part[1], owner[part[2]]
	}
}
{
	file = $0
	sub(/:#include.*/, "", file)
	name = $0
	sub(/.*#include [<"]/, "", name)
	sub(/[>"].*/, "", name)
	folder = file
	sub(/[^\/]*$/, "", folder)
	short = file
	sub(/^pipeline\//, "", short)
	if ($0 ~ /#include </) {
		if ((name in library) && !((name, short) in place))
			say(file " may not include <" name ">")
		next
	}
	bare = name
	sub(/\.h$/, "", bare)
	target = name !~ /\// && folder != "include/" && ((folder name) in exists) ? folder name : "include/" name
	if (file ~ /\.h$/ && (target in exists))
		print "header", file, target
	if (target == folder name && folder != "include/")
		next
	if ((room_of(file), bare) in may)
		next
	say(file " may not include " name)
}' >"$out"
[ -s "$out" ] || exit 1
grep '^layers' "$out" >&2 && exit 1
sed -n 's/^header //p' "$out" | tsort >/dev/null || {
	echo "layers: headers include each other in a circle" >&2
	exit 1
}
sed -n 's/^edge //p' "$out" | tsort >/dev/null || {
	echo "layers: the rooms use each other in a circle" >&2
	exit 1
}
