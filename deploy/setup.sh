#!/usr/bin/env bash
# Installs the missing Debian packages that Quake needs, and those that are named, as root or with sudo. Otherwise prints
# the command that does, and fails.
#   setup.sh [PACKAGE...]
set -euo pipefail

packages=(libpq-dev libcurl4-openssl-dev libsimdjson-dev libmicrohttpd-dev libinih-dev libexpat1-dev
  libssl-dev libwslay-dev libzstd-dev zlib1g-dev pkg-config postgresql openssl time "$@")

if ! command -v swift >/dev/null; then
  echo "could not find the program \"swift\"" >&2
  echo "hint: Install Swift 6.2 or later: https://www.swift.org/install/linux" >&2
  exit 69
fi

missing=()
for package in "${packages[@]}"; do
  # Any PostgreSQL server will do, packaged or not.
  if [[ $package == postgresql ]] && { [[ -n ${QUAKE_PG_BIN:-} ]] || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; }; then
    continue
  fi
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -eq 0 ]] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "cannot install packages: this is not a Debian system" >&2
  echo "hint: Install what Debian calls ${missing[*]}." >&2
  exit 69
fi
root=()
if [[ $(id -u) -ne 0 ]]; then
  if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
    root=(sudo)
  else
    echo "cannot install packages: neither root nor sudo" >&2
    echo "hint: Ask an administrator to run: apt-get update && apt-get install -y ${missing[*]}" >&2
    exit 77
  fi
fi
echo "installing ${missing[*]}" >&2
# Keep Debian from starting a server: Quake starts its own.
"${root[@]}" mkdir -p /etc/postgresql-common
if [[ ! -e /etc/postgresql-common/createcluster.conf ]]; then
  trap '"${root[@]}" rm -f /etc/postgresql-common/createcluster.conf' EXIT
  echo 'create_main_cluster = false' | "${root[@]}" tee /etc/postgresql-common/createcluster.conf >/dev/null
fi
"${root[@]}" apt-get update -qq
"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
  "${missing[@]}" >&2
