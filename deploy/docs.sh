#!/usr/bin/env bash
# Compiles the DocC catalogue of the library into .build/docs. A warning, such as a link to an unknown
# symbol, is an error. The tools of the toolchain suffice; the package manager's plugin for DocC is not needed.
set -euo pipefail
cd "$(dirname "$0")/.."

# QUAKE_PRODUCTS names the folder of a build that exists, as CI's is.
products=${QUAKE_PRODUCTS:-}
if [[ -z $products ]]; then
  swift build --target QuakeStore
  products=$(swift build --show-bin-path)
fi
tools=$(dirname "$(readlink -f "$(command -v swift)")")
target=$("$tools/swiftc" -print-target-info | sed -n 's/^ *"triple": "\(.*\)",$/\1/p' | head -n 1)

if [[ ! -x $tools/docc ]]; then
  echo "docs: there is no docc beside $tools/swift" >&2
  exit 1
fi

# Where the compiler finds the modules of the C libraries.
clang=()
for flag in $(pkg-config --cflags libpq); do clang+=(-Xcc "$flag"); done
for map in Sources/*/module.modulemap "$products"/C*.build/module.modulemap; do
  [[ -e $map ]] && clang+=(-Xcc "-fmodule-map-file=$map")
done

# The umbrella's documentation has the symbols of the modules that it exports.
exported=$(sed -nE 's/^@_exported public import [a-z]+ ([A-Za-z]+)\..*/\1/p' Sources/QuakeStore/QuakeStore.swift | sort -u | paste -sd,)

status=0
graphs=.build/docs/QuakeStore-symbols
rm -rf "$graphs"
mkdir -p "$graphs"
"$tools/swift-symbolgraph-extract" -module-name QuakeStore -I "$products/Modules" -target "$target" \
  -minimum-access-level public -experimental-allowed-reexported-modules="$exported" \
  -output-dir "$graphs" "${clang[@]}"
"$tools/docc" convert Sources/QuakeStore/QuakeStore.docc --additional-symbol-graph-dir "$graphs" \
  --fallback-display-name QuakeStore --fallback-bundle-identifier quake.QuakeStore \
  --output-dir .build/docs/QuakeStore.doccarchive >"$graphs.log" 2>&1 || status=1
# A comment need not describe the parameters that speak for themselves.
if grep -E '^(warning|error):' "$graphs.log" | grep -v 'is missing documentation$' >/dev/null; then
  awk '/^(warning|error):/ {shown = !/is missing documentation$/} shown' "$graphs.log" >&2
  status=1
fi
[[ $status -eq 0 ]] || exit 1
echo "docs: .build/docs/QuakeStore.doccarchive"
