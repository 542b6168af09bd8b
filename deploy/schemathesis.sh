#!/usr/bin/env bash
# Installs schemathesis, which tests a server by its OpenAPI document, from PyPI into a folder that is kept
# between runs. Prints the path of the program; fails if it cannot be installed.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${QUAKE_SCHEMATHESIS:-$PWD/.build/schemathesis}
program=$folder/bin/schemathesis

mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9
if [[ ! -x $program ]] || ! "$program" --version >/dev/null 2>&1; then
  rm -rf "$folder"
  python3 -m venv "$folder" >&2
  if ! "$folder/bin/pip" install --quiet --no-compile --disable-pip-version-check --only-binary :all: \
    --timeout 20 --retries 1 "schemathesis==4.32.5" >&2; then
    rm -rf "$folder"
    exit 69
  fi
  "$program" --version >&2
fi
echo "$program"
