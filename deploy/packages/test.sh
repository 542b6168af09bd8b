#!/bin/bash
# Tries the tarball where nothing of the project is: in a root of Debian 12 and in one of Debian 13. The tools
# are run by an ordinary user. As root; needs debootstrap and Debian's mirror.
#   test.sh TARBALL [RELEASE...]
set -euo pipefail
tarball=$(readlink -f "$1")
shift
cache=/var/cache/quake-tests/roots
(( $# )) || set -- bookworm trixie
for release in "$@"; do
  base=$cache/$release
  if [[ ! -e $base/.complete ]]; then
    rm -rf "$base"
    debootstrap --variant=minbase --include=ca-certificates "$release" "$base" >/dev/null
    touch "$base/.complete"
  fi
  root=$(mktemp -d "/var/tmp/quake-$release.XXXXXX")
  trap 'umount "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT
  cp -a "$base/." "$root"
  chmod 755 "$root"
  mount -t proc proc "$root/proc"
  chroot "$root" bash -c 'apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q --yes --no-install-recommends \
    install libpq5 libcurl4 libexpat1 libmicrohttpd12 libssl3 libzstd1 zlib1g postgresql curl xz-utils' \
    >"$root/apt.log" 2>&1 || { tail -n 5 "$root/apt.log" >&2; exit 1; }
  chroot "$root" useradd --create-home someone
  cp "$tarball" "$root/home/someone/quake.tar.xz"
  chroot "$root" su - someone -c 'set -e
    tar -xf quake.tar.xz
    export PATH=$PWD/$(echo quake-*-linux-x86_64)/bin:$PATH
    quake-ingest run --once --quiet --feed simulated
    quake-query list -n 1
    quake-query list -n 1 | grep -q Simulated
    quake-serve --quiet --listen 127.0.0.1:18080 & server=$!
    curl -sS --fail --retry 30 --retry-connrefused --retry-delay 1 http://127.0.0.1:18080/ | grep -qi "<html"
    kill $server; wait $server
    quake quake-watch --from-start --no-follow | grep -q Simulated
    quake-admin server stop
    ls -A "$HOME/.local/share/quake" >/dev/null'
  umount "$root/proc"
  rm -rf --one-file-system "$root"
  echo "$release: passed"
done
