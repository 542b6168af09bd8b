#!/usr/bin/env bash
# Installs the programs that the tests read exports with, from PyPI, into a folder that is kept between runs.
# Prints the path of their Python; fails if they cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${QUAKE_READERS:-$PWD/.build/readers}
python=$folder/bin/python
packages=(feedparser==6.0.11 numpy obspy==1.5.1 pandas 'psycopg[binary]' pyogrio)
ready="import feedparser, obspy, pandas, psycopg, pyogrio"

mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9
if [[ ! -x $python ]] || ! "$python" -c "$ready" 2>/dev/null; then
  rm -rf "$folder"
  python3 -m venv "$folder" >&2
  if ! "$folder/bin/pip" install --quiet --no-compile --disable-pip-version-check --only-binary :all: \
    --no-binary sgmllib3k --timeout 20 --retries 1 "${packages[@]}" >&2; then
    rm -rf "$folder"
    exit 69
  fi
  "$python" -c "$ready" >&2
fi
echo "$python"
