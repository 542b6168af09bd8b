#!/usr/bin/env bash
# Installs the programs from PyPI that the tests let read exports and from quake-serve, into a folder that is kept
# between runs. Prints the path of their Python; fails if they cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${QUAKE_CLIENTS:-$PWD/.build/clients}
[[ $folder != none ]] || exit 69
python=$folder/bin/python
packages=(
  aio-geojson-generic-client aio-geojson-usgs-earthquakes aio-quakeml-ingv-centro-nazionale-terremoti-client
  feedparser==6.0.11 fiona httpx httpx-sse numpy obspy==1.5.1 openpyxl pandas 'psycopg[binary]' pyogrio quakefeeds shapely sseclient-py websockets
  esi-utils-time "requests<2.32" "urllib3<1.27"
  cloudevents standardwebhooks)
# Without its dependencies: most of them serve maps and spreadsheets.
alone=(usgs-libcomcat==2.1.12)
ready="import aio_geojson_generic_client, aio_geojson_usgs_earthquakes,
  aio_quakeml_ingv_centro_nazionale_terremoti_client,
  cloudevents.core.bindings.http, feedparser, httpx_sse, libcomcat.search, obspy, pandas, psycopg, pyogrio, quakefeeds, sseclient,
  standardwebhooks, websockets"
ready=${ready//$'\n'/ }

mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9
if [[ ! -x $python ]] || ! "$python" -c "$ready" 2>/dev/null; then
  rm -rf "$folder"
  python3 -m venv "$folder" >&2
  pip=(timeout 300 "$folder/bin/pip" install --quiet --no-compile --disable-pip-version-check --timeout 20 --retries 1)
  if ! "${pip[@]}" --prefer-binary "${packages[@]}" >&2 \
    || ! "${pip[@]}" --no-deps "${alone[@]}" >&2; then
    rm -rf "$folder"
    exit 69
  fi
  "$python" -c "$ready" >&2
fi
echo "$python"
