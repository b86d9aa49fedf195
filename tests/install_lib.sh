#!/bin/sh
# install_lib.sh BUILD VERSION ROOT PREFIX LIBRARIES installs libsaltmill, its header, pkg-config file and manual page below ROOT. PREFIX is the
# place at run time, which differs from ROOT with DESTDIR.
set -eu
cd "$(dirname "$0")/.."
build=$1 version=$2 root=$3 prefix=$4 libraries=$5
install -D -m 644 pipeline/lib/saltmill.h "$root/include/saltmill.h"
install -D -m 755 "$build/libsaltmill.so.1" "$root/lib/libsaltmill.so.$version"
ln -sfn "libsaltmill.so.$version" "$root/lib/libsaltmill.so.1"
ln -sfn libsaltmill.so.1 "$root/lib/libsaltmill.so"
install -D -m 644 "$build/libsaltmill.a" "$root/lib/libsaltmill.a"
mkdir -p "$root/lib/pkgconfig" "$root/share/man/man3"
# saltmill(3) is the chapter of the guide, and its synopsis the prototypes of the header
build/saltmill help guide library --format man | awk '
	NR == FNR && /^SM_API/ { sub(/^SM_API /, ""); on = 1 }
	NR == FNR && on { gsub(/\t/, "    "); prototypes = prototypes $0 "\n"; on = !/;$/ }
	NR == FNR { next }
	FNR == 1 { $0 = ".TH SALTMILL 3 \"\" saltmill" }
	/^\.SH DESCRIPTION/ {
		print ".SH SYNOPSIS\n.nf\ncc FILE.c $(pkg\\-config \\-\\-cflags \\-\\-libs libsaltmill)\n"
		printf "#include <saltmill.h>\n\n%s.fi\n", prototypes
	}
	{ sub(/^saltmill\\-library /, "libsaltmill "); print }' pipeline/lib/saltmill.h - >"$root/share/man/man3/saltmill.3"
cat >"$root/lib/pkgconfig/libsaltmill.pc" <<END
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: libsaltmill
Description: HFiles and row keys of HBase
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -lsaltmill
Libs.private: $libraries -ldl
END
