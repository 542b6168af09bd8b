#!/bin/bash
# Tries the package for Debian where nothing of the project is: installs it into a fresh root of Debian, boots that,
# imports events, looks at the page, delivers to consumers, upgrades, removes and purges. NEXT is the package of next-release.sh.
#   test-deb.sh PACKAGE NEXT RELEASE
set -euo pipefail
cd "$(dirname "$0")/../.."
source deploy/packages/roots.sh
package=$1 next=$2 release=$3
services='quake-migrate quake-ingest quake-serve'

remove() { quietly "$1" apt-get -q --yes "$2" quake-tools; }
as_quake() { there runuser -u quake -- "$@"; }
all_active() { [[ $(there systemctl is-active $services | sort -u) == active ]]; }
all_failed() { [[ $(there systemctl is-active $services | sort -u) == failed ]]; }
page_has_events() {
  there curl --silent --fail http://127.0.0.1:8080/ | grep -i '<html' \
    && there curl --silent --fail 'http://127.0.0.1:8080/v1/quakes?limit=20' | grep Simulated
}
# delivered CODE: whether both consumers have delivered the event, one to the server below, the other to the broker.
delivered() {
  grep "$1" "$root/root/received" && { there timeout 3 curl --silent --no-buffer mqtt://127.0.0.1/quake/%23 || true; } | grep "$1"
}
sql() { as_quake psql -X -q -A -t -v ON_ERROR_STOP=1 -c "$1"; }
# remains: the files in the root, but for those that change by themselves, and the users other than those of the services,
# which stay.
remains() {
  find "$root" -xdev \( -path "$root/proc" -o -path "$root/sys" -o -path "$root/run" -o -path "$root/dev" \
    -o -path "$root/root" -o -path "$root/tmp" -o -path "$root/var/tmp" -o -path "$root/var/cache" \
    -o -path "$root/var/log" -o -path "$root/var/lib/apt" -o -path "$root/var/lib/postgresql" \
    -o -path "$root/var/lib/systemd/timers" -o -path "$root/var/lib/systemd/linger" \) -prune \
    -o -not -name .updated -not -path "$root/etc/*-" -printf '/%P\n' | sort
  sed 's/^\([^:]*\):.*/user or group \1/' "$root/etc/passwd" "$root/etc/group" | sort -u | grep -vxE 'user or group quake(_writer|_reader|_watcher)?'
}
fail() {
  echo "$release: $1" >&2
  exit 1
}

fresh_root "$release"
cp "$package" "$root/root/package.deb"
cp "$next" "$root/root/next.deb"
quietly inside apt-get -q update
install inside 'systemd systemd-sysv dbus curl mosquitto' false

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

# The services have the rights of their roles only, and nothing is wrong with those.
roles=$(sql "select string_agg(distinct usename, ' ' order by usename) from pg_stat_activity
  where datname = 'quake' and pid <> pg_backend_pid()")
[[ $roles == 'quake_reader quake_writer' ]] || fail "the services connect as $roles"
as_quake quake-admin roles check >/dev/null || fail 'the roles are not as they should be'
# Without a network, no feed has been polled.
as_quake quake-admin doctor >"$scratch/doctor" || true
grep -x 'ok: privileges: the roles are as they should be' "$scratch/doctor" >/dev/null || { cat "$scratch/doctor"; fail 'a role has more or less'; }
echo "$release: the services have the rights of their roles only"

# Events, by a feed that needs no network; the page shows them.
there sed -i 's/^#feed = all_hour@60s/feed = simulated/' /etc/quake/quake-ingest.conf
there systemctl restart quake-ingest
eventually 60 page_has_events
sql "insert into quake.quake (code, time, magnitude) values ('kept1', now(), 1)"
# Another user, with the commands of README.Debian.
there useradd ann
{ there runuser -u ann -- quake-query list 2>&1 || true; } | grep '/etc/quake/config' >/dev/null || fail 'a user is not told about the role'
sed -n 's/^  \(runuser -u postgres .*ann.*\)/\1/p' "$root/usr/share/doc/quake-tools/README.Debian" >"$root/root/ann.sh"
quietly there sh -e /root/ann.sh
there runuser -u ann -- quake-watch --quiet --from-start --no-follow | grep kept1 >/dev/null || fail 'ann does not see the events'
echo "$release: the events are in the page"

# Consumers begin with a configuration, by the commands of README.Debian.
[[ $(there systemctl is-active quake-consumers) == inactive && $(there systemctl is-enabled quake-consumers) == disabled ]] \
  || fail 'quake-consumers needs no configuration'
cat >"$root/root/receiver" <<'END'
use IO::Socket::INET;
my $server = IO::Socket::INET->new(LocalAddr => "127.0.0.1:8099", Listen => 5) or die;
while (my $client = $server->accept) {
  my $length = 0;
  while (<$client>) { $length = $1 if /^content-length: *([0-9]+)/i; last if /^\r?$/ }
  read $client, my $body, $length;
  open my $out, ">>", "/root/received";
  print $out "$body\n";
  close $out;
  print $client "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
  close $client;
}
END
there systemd-run --quiet --unit=receiver perl /root/receiver
commands=$(sed -n '/^  install .*quake-consumers/,/^$/s/^  //p' "$root/usr/share/doc/quake-tools/README.Debian")
there sh -ec "$(head -n 1 <<<"$commands")"
cat >>"$root/etc/quake/quake-consumers.conf" <<'END'
[consumer desk]
min-magnitude = 5
webhook = http://127.0.0.1:8099/
[consumer home]
min-magnitude = 5
mqtt = mqtt://127.0.0.1
retain = always
END
quietly there sh -ec "$(tail -n 1 <<<"$commands")"
sql "insert into quake.quake (code, time, magnitude) values ('told1', now(), 6)"
eventually 60 delivered told1
services+=' quake-consumers'
all_active || fail 'a unit is not active'
echo "$release: the consumers deliver to a webhook and a broker"

# The administrator's modes stay, also at the next boot, when systemd makes temporary files.
there chmod 600 /etc/quake/quake-serve.conf
there chown quake_reader /etc/quake/quake-serve.conf
quietly there systemd-tmpfiles --create

# The upgrade migrates, then restarts what runs. The events and the changed configuration are kept.
pids() { there systemctl show --property MainPID --value quake-ingest quake-serve quake-consumers | grep . | sort; }
before=$(pids)
install there /root/next.deb
upgraded() { all_active && [[ -z $(comm -12 <(echo "$before") <(pids)) ]]; }
eventually 60 upgraded
[[ $(sql "select to_regclass('quake.next_release') is not null") == t ]] || fail 'the upgrade did not migrate'
eventually 60 page_has_events
as_quake quake-query versions --quiet kept1 | grep kept1 >/dev/null || fail 'the upgrade lost an event'
grep -qx 'feed = simulated' "$root/etc/quake/quake-ingest.conf" || fail 'the upgrade changed the configuration'
[[ $(there stat -c '%a %U' /etc/quake/quake-serve.conf) == '600 quake_reader' ]] || fail 'the mode of the configuration was changed'
echo "$release: the upgrade migrated, restarted the services and kept the events"

# Back to the older package, which the schema now refuses: each unit fails and says why. One that systemd tried again would be
# activating. With the newer package they are active again.
sql 'update quake.migration set oldest_schema = null where version = (select max(version) from quake.migration)'
quietly there apt-get -q --yes --allow-downgrades install /root/package.deb
there systemctl --no-block restart ${services#quake-migrate}
eventually 60 all_failed
for unit in $services; do
  { there systemctl status --no-pager --lines=20 "$unit" || true; } | grep 'the database is newer than this program' >/dev/null \
    || fail "$unit does not say that the schema is newer"
  [[ $(there systemctl show --property ExecMainStatus --value "$unit") == 78 ]] || fail "$unit did not end with 78"
done
sql "insert into quake.quake (code, time, magnitude) values ('told2', now(), 6)"
install there /root/next.deb
eventually 60 all_active
eventually 60 delivered told2
echo "$release: on a schema that is newer all units fail with the reason, until the next upgrade"

# Removal keeps the configuration. Purging leaves what was there before, and the database for a later installation.
remove there remove
[[ $(there systemctl is-active $services | sort -u) == inactive ]] || fail 'after the removal a service runs'
[[ ! -e $root/usr/bin/quake-ingest && -e $root/etc/quake/quake-ingest.conf ]] || fail 'the removal took too much or too little'
remove there purge
there userdel ann
services=${services% quake-consumers}
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
