#!/bin/sh
# layers.sh checks that every file includes only the headers that it may include.
#
# WINGS and LIBRARIES are the tables of the Makefile. A file may include headers of its own folder, and the headers that
# its room and lower rooms of its wing open. It may also include the doors (include/) of the wings that its wing may
# use. Each shared header belongs to one room. Wings do not use each other in a circle, and use every wing that the
# table names. Headers do not include each other in a circle. Only the files in a library's table include its header. No two files have the same name.
set -u
files=$(ls include/*.h pipeline/*/*.[ch] pipeline/*/*/*.[ch] splitter/*.[ch])
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# shellcheck disable=SC2086
grep -HE '^#include [<"]' $files | FILES=$files awk '
function say(text) { print "layers: " text }
function folder_of(file) { sub(/\/[^\/]*$/, "", file); return file }
function wing_in(file,    p) { # of a file that no room opens
	split(file, p, "/")
	return p[1] == "pipeline" ? p[2] : p[1]
}
function room_in(file,    p, n) {
	n = split(file, p, "/")
	return p[1] == "pipeline" && n == 4 ? p[3] : wing_in(file)
}
BEGIN {
	n = split(ENVIRON["WINGS"], line, "\n")
	for (i = 1; i <= n; i++) {
		if (split(line[i], part, /[|]/) < 3)
			continue
		wing = part[1]
		gsub(/ /, "", wing)
		m = split(part[2], use, " ")
		for (j = 1; j <= m; j++)
			uses[wing, use[j]] = named_use[wing " " use[j]] = 1
		m = split(part[3], room, /\)/)
		for (j = 1; j < m; j++) {
			split(room[j], half, "(")
			name = half[1]
			gsub(/ /, "", name)
			height[wing, name] = j
			k = split(half[2], opened, " ")
			for (h = 1; h <= k; h++) {
				owners[opened[h]]++
				owner_wing[opened[h]] = wing
				owner_room[opened[h]] = name
			}
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
		file = all[i]
		exists[file] = 1
		name = file
		sub(/.*\//, "", name)
		if (name in named)
			say(file " has the name of " named[name])
		named[name] = file
		bare = name
		sub(/\.h$/, "", bare)
		# a door, or a header in the folder of a wing that has rooms
		if (file ~ /\.h$/ && (folder_of(file) == "include" || bare in owners)) {
			if (owners[bare] != 1)
				say(file " is opened by " owners[bare] + 0 " rooms, expected 1")
			wing_of[file] = owner_wing[bare]
			room_of[file] = owner_room[bare]
		} else {
			wing_of[file] = wing_in(file)
			room_of[file] = room_in(file)
		}
		if (!((wing_of[file], room_of[file]) in height))
			say(file ": no room " room_of[file] " of wing " wing_of[file] " in the table")
	}
	for (o in owners)
		if (!((o ".h") in named))
			say("the table opens " o ".h, which does not exist")
	for (u in named_use)
		print "edge", u
}
{
	file = $0
	sub(/:#include.*/, "", file)
	name = $0
	sub(/.*#include [<"]/, "", name)
	sub(/[>"].*/, "", name)
	short = file
	sub(/^pipeline\//, "", short)
	if ($0 ~ /#include </) {
		if ((name in library) && !((name, short) in place))
			say(file " may not include <" name ">")
		next
	}
	wing = wing_of[file]
	own = folder_of(file) == "include" ? "" : folder_of(file) "/" name
	if (name !~ /\// && (own in exists))
		target = own
	else if (name ~ /\//)
		target = index(name, wing "/") == 1 && split(name, p, "/") == 2 ? "pipeline/" name : ""
	else
		target = "include/" name
	if (!(target in exists)) {
		say(file " may not include " name)
		next
	}
	if (file ~ /\.h$/)
		print "header", file, target
	if (target == own && !(target in room_of && wing_of[target] == wing && room_of[target] != room_of[file]))
		next
	if (wing_of[target] == wing) {
		if (height[wing, room_of[target]] <= height[wing, room_of[file]])
			next
	} else if (folder_of(target) == "include") {
		used[wing " " wing_of[target]] = 1
		if ((wing, wing_of[target]) in uses)
			next
	}
	say(file " may not include " name)
}
END {
	for (u in named_use)
		if (!(u in used)) {
			split(u, p, " ")
			say("wing " p[1] " may use " p[2] ", and uses nothing of it")
		}
}' >"$out"
[ -s "$out" ] || exit 1
status=0
grep '^layers' "$out" >&2 && status=1
sed -n 's/^header //p' "$out" | tsort >/dev/null || {
	echo "layers: headers include each other in a circle" >&2
	status=1
}
sed -n 's/^edge //p' "$out" | tsort >/dev/null || {
	echo "layers: the wings use each other in a circle" >&2
	status=1
}
exit $status
