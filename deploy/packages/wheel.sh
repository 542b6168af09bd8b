#!/bin/bash
# Makes .build/packages/quake_tools-VERSION-py3-none-manylinux_2_34_x86_64.whl: the files of the tarball, and the
# libraries that a machine may lack on which nobody can become root.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=$(.build/release/quake-query --version | awk '{print $2}')
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
deploy/packages/program.sh portable '$ORIGIN/../lib/quake'
deploy/packages/libraries.sh libpq libcurl libmicrohttpd
work=.build/packages
root=$work/wheel
rm -rf "$root"
deploy/packages/files.sh portable "$root" "$work"/bundled/{libpq.so.5,libcurl.so.4,libmicrohttpd.so.12} /usr/lib/x86_64-linux-gnu/{libwslay.so.1,libzstd.so.1}
# The tools print their manual pages and completions; pip would leave the folders of these behind.
rm -r "$root/share"

clang -Os -fPIE -pie -Wall -s -fstack-protector-strong -Wl,-z,relro -Wl,-z,now deploy/packages/launcher.c -o "$work/launcher"
find "$root/bin" -type l | while read -r link; do
  [[ $(readlink "$link") == quake ]] || { echo "wheel.sh: $link does not lead to quake" >&2; exit 1; }
  cp --remove-destination "$work/launcher" "$link"
done

licences=$work/wheel-licences
rm -rf "$licences"
install -D -m 644 -t "$licences" LICENSE
cp "$(dirname "$(readlink -f "$(type -p swiftc)")")/../share/swift/LICENSE.txt" "$licences/swift"
for package in libsimdjson14 libinih1 libstdc++6 libwslay1 libzstd1 libpq5 libcurl4 libmicrohttpd12; do
  cp "/usr/share/doc/$package/copyright" "$licences/$package"
done
deploy/packages/inventory.py pypi "$version" "$root" "$work/wheel.spdx.json"
deploy/packages/wheel.py "$version" "$root" "$licences" "$work/wheel.spdx.json" "$work"
