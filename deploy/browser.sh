#!/usr/bin/env bash
# Installs what the tests drive Chromium with, from PyPI, into a folder that is kept between runs. Chromium and
# chromedriver themselves are Debian's. Prints the path of the Python; fails if one of them is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v chromium >/dev/null && command -v chromedriver >/dev/null || exit 69
folder=${QUAKE_BROWSER:-$PWD/.build/browser}
[[ $folder != none ]] || exit 69
python=$folder/bin/python
packages=(selenium)
# Only its file axe.min.js is used: without its dependencies, among which are browsers.
alone=(axe-playwright-python)
ready="import selenium, importlib.util; assert importlib.util.find_spec('axe_playwright_python')"

mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9
if [[ ! -x $python ]] || ! "$python" -c "$ready" 2>/dev/null; then
  rm -rf "$folder"
  python3 -m venv "$folder" >&2
  pip=(timeout 300 "$folder/bin/pip" install --quiet --no-compile --disable-pip-version-check --only-binary :all: --timeout 20 --retries 1)
  if ! "${pip[@]}" "${packages[@]}" >&2 || ! "${pip[@]}" --no-deps "${alone[@]}" >&2; then
    rm -rf "$folder"
    exit 69
  fi
  "$python" -c "$ready" >&2
fi
echo "$python"
