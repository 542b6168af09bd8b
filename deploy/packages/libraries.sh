#!/bin/bash
# Compiles libraries that packages bring along, into .build/packages/bundled. They are Debian's sources, with its patches
# for security, in the versions that the tools were compiled with, and without what would draw in further libraries:
# Kerberos and LDAP, HTTP/2, TLS of the server.
#   libraries.sh LIBRARY...     libpq, libcurl, libmicrohttpd
set -euo pipefail
cd "$(dirname "$0")/../.."
bundled=$PWD/.build/packages/bundled
work=$PWD/.build/packages/libraries
script=$PWD/deploy/packages/libraries.sh
mkdir -p "$bundled"
version() { dpkg-query -W -f '${source:Version}' "$1"; }
source deploy/packages/sources.sh

export CFLAGS="-O2 -fPIC -fstack-protector-strong -D_FORTIFY_SOURCE=2 -ffile-prefix-map=$work=."
export LDFLAGS='-Wl,-z,relro -Wl,-z,now -Wl,--as-needed'
# Debian's patches touch the sources of configure, which is there already.
generated=(AUTOCONF=: AUTOMAKE=: ACLOCAL=: AUTOHEADER=:)
compile() {
  "$@" >>"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; echo "libraries.sh: $1 failed in $PWD; see $work/log" >&2; exit 1; }
}

libpq() {
  compile ./configure --with-ssl=openssl --without-readline --without-zlib --without-icu --disable-rpath --sysconfdir=/etc/postgresql-common
  compile make -s -C src/backend generated-headers
  compile make -s -C src/interfaces/libpq all
  cp src/interfaces/libpq/libpq.so.5 "$bundled/"
}

libcurl() {
  # Without a bundle of its own it trusts what the system's OpenSSL trusts.
  compile ./configure --with-openssl --without-ca-bundle --without-ca-path --with-ca-fallback --disable-static \
    --disable-{dict,file,ftp,gopher,imap,ldap,ldaps,mqtt,pop3,rtsp,smb,smtp,telnet,tftp,ntlm,tls-srp,manual,dependency-tracking} \
    --without-{zlib,brotli,zstd,nghttp2,libidn2,libpsl,librtmp,libssh2,gssapi}
  compile make -s -C lib libcurl.la "${generated[@]}"
  cp lib/.libs/libcurl.so.4 "$bundled/"
}

libmicrohttpd() {
  compile ./configure --disable-{https,doc,examples,curl,static,dependency-tracking}
  compile make -s -C src/microhttpd libmicrohttpd.la "${generated[@]}"
  cp src/microhttpd/.libs/libmicrohttpd.so.12 "$bundled/"
}

source_of() {
  case $1 in
    libpq) echo "postgresql-15=$(version libpq-dev)" ;;
    libcurl) echo "curl=$(version libcurl4-openssl-dev)" ;;
    libmicrohttpd) echo "libmicrohttpd=$(version libmicrohttpd-dev)" ;;
    *) echo "libraries.sh: unknown library $1" >&2; exit 64 ;;
  esac
}
stamp() { echo "$(source_of "$1") $(version libc6-dev) $(version libssl-dev) $(sha256sum <"$script")"; }

missing=() sources=()
for library in "$@"; do
  if [[ -e $bundled/$library.stamp && $(<"$bundled/$library.stamp") == "$(stamp "$library")" ]]; then continue; fi
  rm -f "$bundled/$library".*
  missing+=("$library")
  sources+=("$(source_of "$library")")
done
(( ${#missing[@]} )) || exit 0
debian_sources "$work" "${sources[@]}"
for library in "${missing[@]}"; do
  source=$(source_of "$library")
  (cd "$work/${source%%=*}" && "$library")
  strip "$bundled/$library".so.*
  stamp "$library" >"$bundled/$library.stamp"
done
rm -rf "$work"
