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
# saltmill(3) is the chapter of the guide
build/saltmill help guide library --format man |
	sed '1s/.*/.TH SALTMILL 3 "" saltmill/; s/^saltmill\\-library /libsaltmill /' >"$root/share/man/man3/saltmill.3"
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
