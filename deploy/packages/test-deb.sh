#!/bin/bash
# Tries the package for Debian where nothing of the project is: installs it into a fresh root of Debian, boots that,
# imports events, looks at the page, upgrades, removes and purges. NEXT is the package of next-release.sh.
#   test-deb.sh PACKAGE NEXT RELEASE
set -euo pipefail
cd "$(dirname "$0")/../.."
source deploy/packages/roots.sh
package=$1 next=$2 release=$3
services='quake-migrate quake-ingest quake-serve'

remove() { quietly "$1" apt-get -q --yes "$2" quake-tools; }
as_quake() { there runuser -u quake -- "$@"; }
all_active() { [[ $(there systemctl is-active $services | grep -cx active) == 3 ]]; }
page_has_events() {
  there curl --silent --fail http://127.0.0.1:8080/ | grep -i '<html' \
    && there curl --silent --fail 'http://127.0.0.1:8080/v1/quakes?limit=20' | grep Simulated
}
# remains: the files in the root, but for those that change by themselves, and the users other than that of the services,
# which stays.
remains() {
  find "$root" -xdev \( -path "$root/proc" -o -path "$root/sys" -o -path "$root/run" -o -path "$root/dev" \
    -o -path "$root/root" -o -path "$root/tmp" -o -path "$root/var/tmp" -o -path "$root/var/cache" \
    -o -path "$root/var/log" -o -path "$root/var/lib/apt" -o -path "$root/var/lib/postgresql" \
    -o -path "$root/var/lib/systemd/timers" -o -path "$root/var/lib/systemd/linger" \) -prune \
    -o -not -name .updated -not -path "$root/etc/*-" -printf '/%P\n' | sort
  sed 's/^\([^:]*\):.*/user or group \1/' "$root/etc/passwd" "$root/etc/group" | sort -u | grep -vx 'user or group quake'
}
fail() {
  echo "$release: $1" >&2
  exit 1
}

fresh_root "$release"
cp "$package" "$root/root/package.deb"
cp "$next" "$root/root/next.deb"
quietly inside apt-get -q update
install inside 'systemd systemd-sysv dbus curl' false

# With what it needs, and PostgreSQL, which it recommends. Purged before it ever ran, it leaves nothing.
install inside /root/package.deb
remove inside purge
remains >"$scratch/before"
! grep -i quake "$scratch/before" || fail 'purging the package leaves these'

# The first boot ends with all units active, the one of the schema first.
install inside /root/package.deb
boot
eventually 90 all_active
order=$(there systemctl show --property ActiveEnterTimestampMonotonic --value $services | grep .)
[[ $(head -n 1 <<<"$order") == "$(sort -n <<<"$order" | head -n 1)" ]] || fail "the units became active in this order: $order"
echo "$release: the first boot ended with all units active"

# Events, by a feed that needs no network; the page shows them.
there sed -i 's/^#feed = all_hour@60s/feed = simulated/' /etc/quake/quake-ingest.conf
there systemctl restart quake-ingest
eventually 60 page_has_events
as_quake psql -X -q -v ON_ERROR_STOP=1 -c "insert into quake.quake (code, time, magnitude) values ('kept1', now(), 1)"
# Another user, with the commands of README.Debian.
there useradd ann
sed -n 's/^  \(runuser -u postgres .*ann.*\)/\1/p' "$root/usr/share/doc/quake-tools/README.Debian" >"$root/root/ann.sh"
quietly there sh -e /root/ann.sh
there runuser -u ann -- quake-watch --quiet --from-start --no-follow | grep kept1 >/dev/null || fail 'ann does not see the events'
echo "$release: the events are in the page"

# The upgrade migrates, then restarts what runs. The events and the changed configuration are kept.
pids() { there systemctl show --property MainPID --value quake-ingest quake-serve | grep . | sort; }
before=$(pids)
install there /root/next.deb
upgraded() { all_active && [[ -z $(comm -12 <(echo "$before") <(pids)) ]]; }
eventually 60 upgraded
[[ $(as_quake psql -X -A -t -c "select to_regclass('quake.next_release') is not null") == t ]] || fail 'the upgrade did not migrate'
eventually 60 page_has_events
as_quake quake-query versions --quiet kept1 | grep kept1 >/dev/null || fail 'the upgrade lost an event'
grep -qx 'feed = simulated' "$root/etc/quake/quake-ingest.conf" || fail 'the upgrade changed the configuration'
echo "$release: the upgrade migrated, restarted the services and kept the events"

# Removal keeps the configuration. Purging leaves what was there before, and the database for a later installation.
remove there remove
[[ $(there systemctl is-active $services | sort -u) == inactive ]] || fail 'after the removal a service runs'
[[ ! -e $root/usr/bin/quake-ingest && -e $root/etc/quake/quake-ingest.conf ]] || fail 'the removal took too much or too little'
remove there purge
there userdel ann
remains >"$scratch/after"
comm -13 "$scratch/before" "$scratch/after" >"$scratch/left"
[[ ! -s $scratch/left ]] || { cat "$scratch/left"; fail 'removing and purging the package leaves these'; }
install there /root/next.deb
eventually 60 all_active
as_quake quake-query versions --quiet kept1 | grep kept1 >/dev/null || fail 'purging the package lost an event'
echo "$release: removing and purging the package left only the database, with which a new installation goes on"

# A running machine without PostgreSQL, which apt configures after the package, in the same run.
quietly there apt-get -q --yes purge quake-tools 'postgresql*'
install there /root/package.deb
eventually 90 all_active
echo "$release: an installation together with PostgreSQL ended with all units active"
there systemctl poweroff
wait "$machine"
machine=
