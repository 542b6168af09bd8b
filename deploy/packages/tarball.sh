#!/bin/bash
# Makes .build/packages/quake-VERSION-linux-x86_64.tar.xz, which runs from any folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
export LC_ALL=C
version=$(.build/release/quake-query --version | awk '{print $2}')
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
deploy/packages/program.sh portable '$ORIGIN/../lib/quake'
work=.build/packages
name=quake-$version-linux-x86_64
rm -rf "$work/$name" "$work"/quake-*-linux-x86_64.tar.xz
# Few distributions have wslay. The libmicrohttpd of RHEL 9 lacks a function, and that of all draws in GnuTLS, which takes
# 0.4 MB of each tool on Debian 13.
deploy/packages/libraries.sh libmicrohttpd
deploy/packages/files.sh portable "$work/$name" "$work/bundled/libmicrohttpd.so.12" /usr/lib/x86_64-linux-gnu/libwslay.so.1
mkdir -p "$work/$name/share/doc/quake"
install -m 755 deploy/packages/run "$work/$name/run"
install -D -m 755 deploy/run.sh "$work/$name/share/quake/run.sh"
install -m 644 -t "$work/$name/share/quake" deploy/quake-*.service deploy/quake-*.timer deploy/quake-*.conf
cp LICENSE README.md CHANGELOG.md "$work/$name/share/doc/quake/"
for package in libwslay1 libmicrohttpd12 libsimdjson14 libinih1 libstdc++6; do
  cp "/usr/share/doc/$package/copyright" "$work/$name/share/doc/quake/copyright-$package"
done
cp "$(dirname "$(readlink -f "$(type -p swiftc)")")/../share/swift/LICENSE.txt" "$work/$name/share/doc/quake/copyright-swift"
SOURCE_DATE_EPOCH=$epoch deploy/packages/inventory.py generic "$version" "$work/$name" \
  "$work/$name/share/doc/quake/quake.spdx.json"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+w --mtime="@$epoch" -cf - "$name" \
  | xz -9 -T 1 >"$work/$name.tar.xz"
echo "$work/$name.tar.xz: $(stat -c %s "$work/$name.tar.xz") bytes"
