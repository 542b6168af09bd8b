#!/bin/bash
# Tries the packages where nothing of the project is, in fresh machines of Debian, and packs once more what
# "make tarball deb" packed, which must give the same bytes. As root; roots.sh lists what that needs.
#   test.sh [RELEASE...]
set -euo pipefail
cd "$(dirname "$0")/../.."
(( $# )) || set -- bookworm trixie
packages=.build/packages
version=$(.build/release/quake-query --version | awk '{print $2}')
tarball=$packages/quake-$version-linux-x86_64.tar.xz
deb=$packages/quake-tools_${version}_$(dpkg --print-architecture).deb

sums=$(sha256sum "$tarball" "$deb")
deploy/packages/tarball.sh
deploy/packages/deb.sh
sha256sum --check --quiet <<<"$sums"
echo "packed again: the same bytes"

deploy/packages/next-release.sh "$packages/next"
for release in "$@"; do
  deploy/packages/test-tarball.sh "$tarball" "$release"
  deploy/packages/test-deb.sh "$deb" "$packages"/next/quake-tools_*.deb "$release"
done
