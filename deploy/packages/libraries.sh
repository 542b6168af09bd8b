#!/bin/bash
# Compiles the libraries that a wheel brings along, into .build/packages/bundled: what a machine without root may
# lack. They are Debian's sources, with its patches for security, in the versions that the tools were compiled with, and
# without what would draw in further libraries: Kerberos and LDAP, HTTP/2, TLS of the server.
# OpenSSL, zlib and expat stay the system's, which keeps them up to date and knows the certificates to trust.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$PWD/.build/packages/bundled
work=$PWD/.build/packages/libraries
log=$work/log
version() { dpkg-query -W -f '${source:Version}' "$1"; }
sources=("postgresql-15=$(version libpq-dev)" "curl=$(version libcurl4-openssl-dev)" "libmicrohttpd=$(version libmicrohttpd-dev)")
others=$(for package in libc6-dev libssl-dev libwslay1 libzstd1; do version $package; done)
stamp="${sources[*]} $others $(sha256sum <"$0")"
if [[ -e $out/stamp && $(<"$out/stamp") == "$stamp" ]]; then exit; fi
rm -rf "$out"
mkdir -p "$out"
source deploy/packages/sources.sh
debian_sources "$work" "${sources[@]}"

export CFLAGS="-O2 -fPIC -fstack-protector-strong -D_FORTIFY_SOURCE=2 -ffile-prefix-map=$work=."
export LDFLAGS='-Wl,-z,relro -Wl,-z,now -Wl,--as-needed'
# Debian's patches touch the sources of configure, which is there already.
generated=(AUTOCONF=: AUTOMAKE=: ACLOCAL=: AUTOHEADER=:)
compile() {
  "$@" >>"$log" 2>&1 || { tail -n 20 "$log" >&2; echo "libraries.sh: $1 failed in $PWD; see $log" >&2; exit 1; }
}

cd "$work/postgresql-15"
compile ./configure --with-ssl=openssl --without-readline --without-zlib --without-icu --disable-rpath --sysconfdir=/etc/postgresql-common
compile make -s -C src/backend generated-headers
compile make -s -C src/interfaces/libpq all
cp src/interfaces/libpq/libpq.so.5 "$out/"

cd "$work/curl"
# Without a bundle of its own it trusts what the system's OpenSSL trusts.
compile ./configure --with-openssl --without-ca-bundle --without-ca-path --with-ca-fallback --disable-static \
  --disable-{dict,file,ftp,gopher,imap,ldap,ldaps,mqtt,pop3,rtsp,smb,smtp,telnet,tftp,ntlm,tls-srp,manual,dependency-tracking} \
  --without-{zlib,brotli,zstd,nghttp2,libidn2,libpsl,librtmp,libssh2,gssapi}
compile make -s -C lib libcurl.la "${generated[@]}"
cp lib/.libs/libcurl.so.4 "$out/"

cd "$work/libmicrohttpd"
compile ./configure --disable-{https,doc,examples,curl,static,dependency-tracking}
compile make -s -C src/microhttpd libmicrohttpd.la "${generated[@]}"
cp src/microhttpd/.libs/libmicrohttpd.so.12 "$out/"

cp /usr/lib/x86_64-linux-gnu/{libwslay.so.1,libzstd.so.1} "$out/"
strip "$out"/*.so.*
for library in "$out"/*.so.*; do
  newest=$(objdump -T "$library" | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -n 1)
  if [[ $(printf '%s\n' "$newest" GLIBC_2.34 | sort -V | tail -n 1) != GLIBC_2.34 ]]; then
    echo "libraries.sh: $library asks for $newest, but may ask for GLIBC_2.34 at most; see objdump -T" >&2
    exit 1
  fi
done
echo "$stamp" >"$out/stamp"
rm -rf "$work"
