#!/usr/bin/env bash
# The main job in one terminal: a worker that polls a feed (messages on standard error) and a watcher
# that prints each change (standard output). Ctrl-C or SIGTERM end both; the embedded server, if that
# is the database, goes on until "quake-admin server stop".
set -euo pipefail

bin=$1 feed=$2
# Both need the database to be there; the worker brings the schema.
"$bin/quake-admin" migrate --quiet >&2

"$bin/quake-watch" & watcher=$!
"$bin/quake-ingest" run --feed "$feed" & worker=$!

stop() { kill -TERM "$worker" "$watcher" 2>/dev/null || true; }
trap stop INT TERM

# Whichever ends first ends the other; the status is its own.
status=0
wait -n "$worker" "$watcher" || status=$?
# A signal ends "wait" early: then both were told to stop, and that is what was asked for.
(( status > 128 )) && status=0
stop
wait || true
exit "$status"
