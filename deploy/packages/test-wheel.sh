#!/bin/bash
# Tries the wheel where nothing of the project is: as an ordinary user with a fresh virtual environment, in a root of
# Debian 12 and in one of Debian 13; first without PostgreSQL on the machine, then with it. As root; needs debootstrap,
# Debian's mirror and PyPI.
#   test-wheel.sh WHEEL [RELEASE...]
set -euo pipefail
wheel=$(readlink -f "$1")
shift
cache=/var/cache/quake-tests/roots
(( $# )) || set -- bookworm trixie

install_packages() {
  chroot "$root" bash -c 'apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q --yes --no-install-recommends \
    install "$@"' install "$@" >"$root/apt.log" 2>&1 || { tail -n 5 "$root/apt.log" >&2; exit 1; }
}

# What the user does. $1 is the extra, $2 the version of the server that must run.
as_user='set -eu
  python3 -m venv env
  find env | grep -v __pycache__ | sort >before
  . env/bin/activate
  pip install --quiet --disable-pip-version-check "$(echo quake_tools-*.whl)$1"

  # The libraries beside the program are used, and no library is missing.
  LD_TRACE_LOADED_OBJECTS=1 env/bin/quake >libraries
  if grep "not found" libraries >&2; then exit 1; fi
  [ "$(grep -c "=> $PWD/env/bin/../lib/quake/" libraries)" = 4 ]

  quake-ingest run --once --quiet --feed simulated
  quake-query list -n 1 | grep Simulated
  quake-watch --from-start --no-follow | grep -q Simulated
  quake-admin server status | grep -q "$2"

  # A feed from a server, which libcurl fetches.
  python3 -m http.server --bind 127.0.0.1 --directory feed 18081 >/dev/null 2>&1 & feed=$!
  page() {
    python3 - "$1" <<EOF
import sys, time, urllib.request
for _ in range(300):
    try:
        print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())
        break
    except OSError:
        time.sleep(0.1)
else:
    sys.exit("no answer from " + sys.argv[1])
EOF
  }
  page http://127.0.0.1:18081/ >/dev/null
  quake-ingest run --once --quiet --feed http://127.0.0.1:18081/feed.geojson
  kill $feed
  quake-query list --json | grep -q "10 km SSW of Idyllwild, CA"

  # A link to a tool, such as pipx makes.
  mkdir links && ln -s ../env/bin/quake-serve links/quake-serve
  links/quake-serve --quiet --listen 127.0.0.1:18080 & server=$!
  page http://127.0.0.1:18080/ | grep -qi "<html"
  kill $server; wait $server

  quake-admin server stop
  pip uninstall --quiet --yes quake-tools $(pip freeze | grep -v "^quake-tools" | sed "s/[ =].*//")
  find env | grep -v __pycache__ | sort | diff before -
  rm -r env links before libraries .local/share/quake'

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
  install_packages python3-venv
  # The way to PyPI may need a certificate of this machine.
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  chroot "$root" useradd --create-home someone
  mkdir "$root/home/someone/feed"
  cp "$wheel" "$root/home/someone/"
  cat >"$root/home/someone/feed/feed.geojson" <<'EOF'
{"type": "FeatureCollection", "metadata": {"generated": 1767225600000, "count": 1}, "features": [{"type": "Feature",
"id": "ci40000001", "properties": {"mag": 1.2, "place": "10 km SSW of Idyllwild, CA", "time": 1767222000000,
"updated": 1767223000000, "status": "automatic", "tsunami": 0, "net": "ci", "code": "40000001", "ids": ",ci40000001,",
"sources": ",ci,", "types": ",origin,", "magType": "ml", "type": "earthquake"},
"geometry": {"type": "Point", "coordinates": [-116.7, 33.65, 12.3]}}]}
EOF
  chroot "$root" su - someone -c "$as_user" as_user '[server]' 18
  echo "$release, with the server from PyPI: passed"
  install_packages postgresql
  chroot "$root" su - someone -c "$as_user" as_user '' "$(ls "$root/usr/lib/postgresql")"
  echo "$release, with the server of the system: passed"
  umount "$root/proc"
  rm -rf --one-file-system "$root"
done
