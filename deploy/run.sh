#!/usr/bin/env bash
# A worker that polls a feed (messages on standard error) and a watcher that prints each change (standard
# output) in one terminal. Ctrl-C or SIGTERM end both; the embedded server, if that is the database, keeps
# running until "quake-admin server stop".
set -euo pipefail

bin=$1 feed=$2
# Both need a database with the schema.
"$bin/quake-admin" migrate --quiet >&2

"$bin/quake-watch" & watcher=$!
"$bin/quake-ingest" run --feed "$feed" & worker=$!

stop() { kill -TERM "$worker" "$watcher" 2>/dev/null || true; }
trap stop INT TERM

# The first one to end ends the other and decides the status.
status=0
wait -n "$worker" "$watcher" || status=$?
# A signal ends "wait" early: both were told to stop, so this is a normal end.
(( status > 128 )) && status=0
stop
wait || true
exit "$status"
