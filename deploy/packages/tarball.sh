#!/bin/bash
# Makes .build/packages/quake-VERSION-linux-x86_64.tar.xz, which runs from any folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=$(.build/release/quake-query --version | awk '{print $2}')
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
deploy/packages/program.sh portable '$ORIGIN/../lib/quake'
work=.build/packages
name=quake-$version-linux-x86_64
rm -rf "$work/$name" "$work"/quake-*-linux-x86_64.tar.xz
deploy/packages/files.sh portable "$work/$name"
install -D -m 644 "$(readlink -f /usr/lib/x86_64-linux-gnu/libwslay.so.1)" "$work/$name/lib/quake/libwslay.so.1"
mkdir -p "$work/$name/share/doc/quake"
cp LICENSE README.md CHANGELOG.md "$work/$name/share/doc/quake/"
cp /usr/share/doc/libwslay1/copyright "$work/$name/share/doc/quake/copyright-wslay"
cp /usr/share/doc/libsimdjson14/copyright "$work/$name/share/doc/quake/copyright-simdjson"
cp /usr/share/doc/libinih1/copyright "$work/$name/share/doc/quake/copyright-inih"
SOURCE_DATE_EPOCH=$epoch deploy/packages/inventory.py generic "$version" "$work/$name" \
  "$work/$name/share/doc/quake/quake.spdx.json"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+w --mtime="@$epoch" -cf - "$name" \
  | xz -9 -T 1 >"$work/$name.tar.xz"
echo "$work/$name.tar.xz: $(stat -c %s "$work/$name.tar.xz") bytes"
