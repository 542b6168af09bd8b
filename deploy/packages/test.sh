#!/bin/bash
# Tries the packages where nothing of the project is, in fresh machines of Debian, and packs once more what
# "make tarball deb wheel" packed, which must give the same bytes. As root; roots.sh lists what that needs.
#   test.sh [RELEASE...]
set -euo pipefail
cd "$(dirname "$0")/../.."
(( $# )) || set -- bookworm trixie
packages=.build/packages
version=$(.build/release/quake-query --version | awk '{print $2}')
tarball=$packages/quake-$version-linux-x86_64.tar.xz
deb=$packages/quake-tools_${version}_$(dpkg --print-architecture).deb
wheel=$packages/quake_tools-$version-py3-none-manylinux_2_34_x86_64.whl

sums=$(sha256sum "$tarball" "$deb" "$wheel")
deploy/packages/tarball.sh
deploy/packages/deb.sh
deploy/packages/wheel.sh
sha256sum --check --quiet <<<"$sums"
echo "packed again: the same bytes"

deploy/packages/next-release.sh "$packages/next"
for release in "$@"; do
  deploy/packages/test-tarball.sh "$tarball" "$release"
  deploy/packages/test-deb.sh "$deb" "$packages"/next/quake-tools_*.deb "$release"
  deploy/packages/test-wheel.sh "$wheel" "$release"
done
