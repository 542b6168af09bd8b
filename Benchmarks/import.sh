#!/usr/bin/env bash
# Measures an import, with history, token and notification, against the limit: psql's binary \copy of
# the same rows into an identical table with the same indexes and no triggers. Prints seconds, peak
# memory and the ratio; judges nothing.
set -euo pipefail

bin=$1 events=$2
home=$(mktemp -d)
chmod 711 "$home"
export QUAKE_SERVER_HOME=$home/server
unset DATABASE_URL "${!PG@}"
trap '"$bin/quake-admin" server stop >/dev/null 2>&1 || true; rm -rf "$home"' EXIT

sql() { "$bin/quake-admin" server psql -qAtX -v ON_ERROR_STOP=1 -c "$1"; }
# Runs a command and prints its seconds and its peak memory in MB.
measure() { /usr/bin/env time -f '%e %M' -o "$home/time" "$@" >/dev/null; awk '{printf "%s %.1f", $1, $2 / 1024}' "$home/time"; }
row() { printf '%-44s %8s s %8s MB\n' "$1" "$2" "$3"; }

"$bin/quake-ingest" simulate --events "$events" --output "$home/feed.geojson"
"$bin/quake-admin" migrate --quiet >/dev/null
echo "$events events, $(stat -c %s "$home/feed.geojson" | numfmt --to=iec) of GeoJSON, $(sql 'show server_version')"

read -r first memory < <(measure "$bin/quake-ingest" import "$home/feed.geojson"; echo)
row "quake-ingest, first load" "$first" "$memory"
read -r again memory < <(measure "$bin/quake-ingest" import "$home/feed.geojson"; echo)
row "quake-ingest, the same again" "$again" "$memory"

sql 'create table public.plain (like quake.quake including defaults including constraints including indexes)'
sql "\\copy quake.quake to '$home/rows' (format binary)"
sql checkpoint
read -r limit memory < <(measure "$bin/quake-admin" server psql -qX -c "\\copy public.plain from '$home/rows' (format binary)"; echo)
row "psql \\copy, no history (the limit)" "$limit" "$memory"
awk -v a="$first" -v b="$again" -v c="$limit" \
  'BEGIN {printf "first load / limit: %.2f   again / limit: %.2f\n", a / c, b / c}'
