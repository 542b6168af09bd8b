#!/usr/bin/env bash
# A worker that polls a feed, an HTTP server and a watcher in one terminal. Standard output begins with the
# address of the page, the number of events after the first poll and the strongest of them; then the watcher
# prints each change. Messages are on standard error. Ctrl-C or SIGTERM end all; the embedded server, if that
# is the database, keeps running until "quake-admin server stop".
#
# Simulated events never happened, so the simulated feed has an embedded server of its own, unless DATABASE_URL
# names a database.
set -euo pipefail

bin=$1 feed=$2
folder=$(mktemp -d)
processes=()
stop() { kill -TERM "${processes[@]}" 2>/dev/null || true; }
trap 'stop; wait; exit 0' INT TERM
trap 'rm -rf "$folder"' EXIT

if [[ $feed == simulated && -z ${DATABASE_URL:-} ]]; then
  if [[ -n ${QUAKE_SERVER_HOME:-} ]]; then home=$QUAKE_SERVER_HOME
  elif ((EUID == 0)); then home=/var/lib/quake
  else home=${XDG_DATA_HOME:-$HOME/.local/share}/quake
  fi
  export QUAKE_SERVER_HOME=$home-simulated
  "$bin/quake-admin" server start --quiet
  # Otherwise the tools would use the database that a configuration file may name.
  DATABASE_URL=$("$bin/quake-admin" server url)
  export DATABASE_URL
  echo "the simulated events are in a store of their own; to query it: export QUAKE_SERVER_HOME=$QUAKE_SERVER_HOME" >&2
fi

# All need a database with the schema.
"$bin/quake-admin" migrate --quiet >/dev/null

# start NAME COMMAND...: starts a program whose messages `message NAME` reads.
start() {
  mkfifo "$folder/$1"
  "${@:2}" 2>"$folder/$1" & processes+=($!)
}
# message DESCRIPTOR PATTERN SECONDS: passes messages on until one matches, which is put into $line instead.
message() {
  local end=$((SECONDS + $3))
  while ((SECONDS < end)) && read -r -t $((end - SECONDS)) -u "$1" line; do
    [[ $line =~ $2 ]] && return
    echo "$line" >&2
  done
  line=
}

# serve ADDRESS: starts the server; $line is then what it says of its address.
serve() {
  start server "$bin/quake-serve" --listen "$1" --no-access-log
  exec 3<"$folder/server"
  message 3 'serving on http://[^ ]+|could not listen .* in use' 30
}
serve 127.0.0.1:8080
# Another program listens on the usual port: any other will do.
if [[ $line == *'could not listen'* ]]; then
  cat <&3 >/dev/null
  exec 3<&-
  wait "${processes[@]}" || true
  processes=()
  rm "$folder/server"
  serve 127.0.0.1:0
fi
address='http://[^ ]+'
if [[ $line =~ $address ]]; then echo "${BASH_REMATCH[0]%/}/"; fi
cat <&3 >&2 &
exec 3<&-

start worker "$bin/quake-ingest" run --feed "$feed"
exec 4<"$folder/worker"
# The first poll, also if it fails. A feed that has not changed since an earlier run is not reported.
message 4 'quake-ingest: (warning: |error: |.* seen: )' 20
# Reports of polls that found nothing wrong would outnumber the changes.
clean=' 0 rejected, 0 duplicate, in '
if [[ -n $line && $line != *"$clean"* ]]; then echo "$line" >&2; fi
grep --line-buffered -vF "$clean" <&4 >&2 &
exec 4<&-

# The list as it was just after that poll, and the changes from there.
token= place=()
pattern='token ([0-9]+[.][0-9a-f]+)'
if [[ $line =~ $pattern ]]; then
  token=${BASH_REMATCH[1]}
  place=(--as-of "$token")
fi
count=$("$bin/quake-query" list "${place[@]}" --count)
echo "loaded $(sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta' <<<"$count") events"
if ((count > 0)); then
  echo "the strongest:"
  "$bin/quake-query" list "${place[@]}" --quiet --sort magnitude:desc --limit 5 | cat
fi
"$bin/quake-watch" ${token:+--after "$token"} & processes+=($!)

trap stop INT TERM
# The first one to end ends the others and decides the status.
status=0
wait -n "${processes[@]}" || status=$?
# A signal ends "wait" early: all were told to stop, so this is a normal end.
(( status > 128 )) && status=0
stop
wait || true
exit "$status"
