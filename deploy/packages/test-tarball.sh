#!/bin/bash
# Tries the tarball where nothing of the project is: in a fresh root of Debian, by the commands of README.md, of which an
# ordinary user runs all but the first.
#   test-tarball.sh TARBALL RELEASE
set -euo pipefail
cd "$(dirname "$0")/../.."
source deploy/packages/roots.sh
tarball=$1 release=$2
commands=$(awk '/^<!-- not run: needs the tarball/ { found = 1; next } found && /^```$/ { exit } found && !/^```/' README.md)

fresh_root "$release"
inside useradd --create-home someone
cp "$tarball" "$root/home/someone/"
quietly inside apt-get -q update
begin=$SECONDS
head -n 1 <<<"$commands" | sed 's/^sudo apt install/apt-get -q --yes --no-install-recommends install/' >"$root/root/install.sh"
quietly inside sh -e /root/install.sh
echo "$release: what the tarball needs was installed in $((SECONDS - begin)) s"
install inside 'curl libmosquitto1 mosquitto' false
tail -n +2 <<<"$commands" >"$root/home/someone/commands.sh"

cat >"$root/home/someone/trial.sh" <<'END'
set -euo pipefail
source /home/someone/eventually.sh
cd /home/someone
page_has_events() {
  curl --silent --fail http://127.0.0.1:8080/ | grep -i '<html' \
    && curl --silent --fail 'http://127.0.0.1:8080/v1/quakes?limit=20' | grep Simulated
}
begin=$SECONDS
set -m  # bash ignores SIGINT in what it starts in the background, unless that has a process group of its own.
bash commands.sh >run.log 2>&1 & run=$!
trap 'cat run.log; kill -INT -- -$run; wait' EXIT
eventually 60 page_has_events
echo "from the tarball to the events in the page: $((SECONDS - begin)) s"
eventually 60 grep '^changed\|^new' run.log
trap - EXIT
kill -INT -- -$run
wait "$run"

# The tools from elsewhere, with the server that the user's tools share.
export PATH=$(echo "$PWD"/quake-*-linux-x86_64/bin):$PATH
cd /
quake-ingest run --once --quiet --feed simulated
quake-query list --quiet -n 1 | grep Simulated >/dev/null
quake-watch --quiet --from-start --no-follow | grep Simulated >/dev/null
publishes 18831
# The memory that a further idle watcher needs.
watchers=()
for number in 1 2 3 4 5; do
  quake-watch --quiet >/dev/null & watchers+=($!)
done
memory() {
  for watcher in "${watchers[@]}"; do awk '/^Private_/ { sum += $2 } END { print sum }' "/proc/$watcher/smaps_rollup"; done \
    | sort -n | sed -n 3p
}
is_idle() { (( $(memory) <= 2100 )); }
sleep 2
eventually 30 is_idle || { echo "an idle quake-watch needs $(memory) kB of its own" >&2; exit 1; }
echo "an idle quake-watch needs $(memory) kB of its own"
kill "${watchers[@]}"
wait "${watchers[@]}"
quake-admin server stop --quiet
QUAKE_SERVER_HOME=$HOME/.local/share/quake-simulated quake-admin server stop --quiet
END
declare -f eventually publishes >"$root/home/someone/eventually.sh"
inside su - someone -c 'bash trial.sh'
none_left() { [[ -z $(processes) ]]; }
eventually 10 none_left
echo "$release: the tarball works"
