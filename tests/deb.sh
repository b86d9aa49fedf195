#!/bin/sh
# deb.sh PROGRAM VERSION LIBRARIES makes build/saltmill_VERSION_ARCH.deb with program, pages, completions, units and
# examples
set -eu
cd "$(dirname "$0")/.."
program=$1 version=$2 libraries=$3
command -v dpkg-shlibdeps >/dev/null || {
	echo "deb: dpkg-shlibdeps is not here: apt-get install dpkg-dev" >&2
	exit 1
}
[ "$("$program" --version)" = "saltmill $version" ] || {
	echo "deb: $program is of another version than $version: make clean, make" >&2
	exit 1
}
root=build/deb/saltmill
control=build/deb/debian
umask 022
rm -rf build/deb
mkdir -p "$root/DEBIAN" "$control"
tests/install.sh "$program" "$root/usr"
share=$root/usr/share
strip --strip-unneeded -R .comment -R .note "$root/usr/bin/saltmill"
gzip -9n "$share"/man/man1/*.1 "$share"/man/man5/*.5 "$share"/man/man7/*.7
mkdir -p "$share/zsh/vendor-completions" "$root/usr/lib/systemd/system" "$root/etc/saltmill"
mv "$share/zsh/site-functions/_saltmill" "$share/zsh/vendor-completions/"
rmdir "$share/zsh/site-functions"
install -m 644 conf/service/*.service conf/service/*.timer "$root/usr/lib/systemd/system"
doc=$share/doc/saltmill
rm "$doc/LICENSE"
cat >"$doc/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: saltmill

Files: *
Copyright: 2026 the saltmill authors
License: Apache-2.0
 On Debian systems the full text is in /usr/share/common-licenses/Apache-2.0.
END
date=$(git log -1 --format=%aD 2>/dev/null || date -R)
changes=conf/CHANGELOG.md
grep -qx "## $version" "$changes" || {
	echo "deb: $changes tells nothing of $version" >&2
	exit 1
}
# all versions get the date of the newest version, because only git knows the other dates
awk -v by=" -- saltmill authors <packages@saltmill.invalid>  $date" '
	/^## / { if (open) print "\n" by "\n"; open = 1
		 print "saltmill (" $2 ") unstable; urgency=medium\n"; next }
	open && NF { print "  " $0 }
	END { print "\n" by }' "$changes" | gzip -9n >"$doc/changelog.gz"
mkdir -p "$share/lintian/overrides" # an example uses the character set of its source system
echo 'saltmill: national-encoding [usr/share/doc/saltmill/examples/erp.csv]' >"$share/lintian/overrides/saltmill"
tests/spdx.sh "$root/usr/bin/saltmill" "$version" >"$doc/saltmill.spdx"
# Finds the packages of the libraries that the program links, and of the libraries that it loads (include/late.h).
# For the second kind, dpkg-shlibdeps reads a library that links all functions of late_*.c, except liblzo2's.
for o in "${program%/*}"/pipeline/base/late_*.o; do nm -g --defined-only "$o"; done |
	awk '$2 == "T" && $3 !~ /^late_|^lzo/ { print "extern char " $3 "[]; char *of_" $3 " = " $3 ";" }' >build/deb/late.c
# shellcheck disable=SC2086
${CC:-cc} -shared -fPIC -Wl,-soname,late.so -o build/deb/late.so build/deb/late.c $libraries
printf 'Source: saltmill\nPackage: saltmill\nArchitecture: any\n' >"$control/control"
shlibs=$(cd build/deb && dpkg-shlibdeps -O -e saltmill/usr/bin/saltmill -e late.so 2>../deb.log) || {
	cat build/deb.log >&2
	exit 1
}
depends=${shlibs#shlibs:Depends=}
[ -n "$depends" ] || {
	echo "deb: dpkg-shlibdeps names no packages" >&2
	exit 1
}
cat >"$root/DEBIAN/control" <<END
Package: saltmill
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: saltmill authors <packages@saltmill.invalid>
Installed-Size: $(du -sk "$root" | cut -f1)
Depends: $depends
Recommends: tzdata
Suggests: liblzo2-2
Section: database
Priority: optional
Description: bulk loader for HBase
 Reads events from CSV, JSON lines, Avro and Arrow files or Kafka topics, builds
 salted, time-reversed row keys, cuts the key space into balanced regions, and
 writes sorted, compressed HFiles that HBase loads as they are, with the script
 that creates the table. It needs neither a Java runtime nor a cluster.
END
cat >"$root/DEBIAN/postinst" <<'END'
#!/bin/sh
set -e
if [ "$1" = configure ] && ! getent passwd saltmill >/dev/null; then
	useradd --system --user-group --home-dir /var/lib/saltmill --shell /usr/sbin/nologin saltmill
fi
END
chmod 755 "$root/DEBIAN/postinst"
find "$root" -type d -exec chmod 755 {} +
dpkg-deb --root-owner-group --build "$root" build >&2
