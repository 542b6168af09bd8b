#!/bin/bash
# Makes .build/packages/quake-tools_VERSION_ARCHITECTURE.deb, for Debian 12 and 13. Debian has a game's package "quake".
#   deb.sh [VERSION FOLDER]     makes FOLDER/quake-tools_VERSION_ARCHITECTURE.deb
set -euo pipefail
cd "$(dirname "$0")/../.."
export LC_ALL=C
version=${1:-$(.build/release/quake-query --version | awk '{print $2}')}
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
architecture=$(dpkg --print-architecture)
[[ $architecture == amd64 ]] || { echo "deb.sh: the package is made for amd64 only, not for $architecture" >&2; exit 1; }
work=$PWD/.build/packages
out=${2:-$work}
root=$work/deb
program=system
[[ -z ${QUAKE_MIGRATIONS:-} ]] || program=next
deploy/packages/program.sh $program
rm -rf "$root" "$work/deb-control"
deploy/packages/files.sh $program "$root/usr"

# No "quake" on the PATH: that is the game.
install -d "$root/usr/lib/quake-tools"
mv "$root/usr/bin/quake" "$root/usr/lib/quake-tools/quake"
for link in "$root"/usr/bin/*; do ln -sf ../lib/quake-tools/quake "$link"; done
mkdir -p "$root/usr/share/zsh/vendor-completions"
mv "$root"/usr/share/zsh/site-functions/* "$root/usr/share/zsh/vendor-completions/"
rmdir "$root/usr/share/zsh/site-functions"
gzip -9n "$root"/usr/share/man/man1/*.1

from=deploy/packages/deb
install -m 755 -t "$root/usr/lib/quake-tools" "$from/local-database" "$from/restart-services"
install -D -m 644 "$from/sysusers" "$root/usr/lib/sysusers.d/quake-tools.conf"
install -D -m 644 "$from/lintian-overrides" "$root/usr/share/lintian/overrides/quake-tools"
install -D -m 644 -t "$root/etc/quake" "$from/config"
install -m 640 -t "$root/etc/quake" deploy/quake-ingest.conf deploy/quake-serve.conf
units=$root/usr/lib/systemd/system
install -D -m 644 -t "$units" "$from/quake-migrate.service"
# The comment at the top of a unit is for an installation by hand. The unit of the schema comes first, and starts a service
# anew that has found none that fits.
for unit in quake-ingest:quake_writer quake-serve:quake_reader quake-consumers:quake_watcher; do
  user=${unit#*:}
  unit=${unit%:*}
  sed -e '1,/^$/d' -e 's|/usr/local/bin/|/usr/bin/|' \
    -e '/^After=/s/$/ quake-migrate.service/' -e '/^Wants=/s/$/ quake-migrate.service/' \
    -e "s/^User=quake$/User=$user\nGroup=quake/" -e "s|=/etc/quake/passfile$|&.$user|" \
    -e '/^ExecStart=.*quake-ingest run /s/$/ --no-migrate/' \
    "deploy/$unit.service" >"$units/$unit.service"
done

doc=$root/usr/share/doc/quake-tools
mkdir -p "$doc/examples"
cp deploy/quake-status.service deploy/quake-status.timer deploy/quake-consumers.conf "$doc/examples/"
sed -i 's|/usr/local/bin/|/usr/bin/|' "$doc/examples/quake-status.service"
cp README.md "$from/README.Debian" "$doc/"
deploy/packages/inventory.py deb "$version" "$root" "$doc/quake.spdx.json"
gzip -9nc CHANGELOG.md >"$doc/NEWS.md.gz"
maintainer='Quake contributors <maintainers@quake.invalid>'
printf 'quake-tools (%s) unstable; urgency=medium\n\n  * See NEWS.md.gz.\n\n -- %s  %s\n' \
  "$version" "$maintainer" "$(date -Ru -d "@$SOURCE_DATE_EPOCH")" | gzip -9nc >"$doc/changelog.gz"
{
  cat LICENSE
  for library in libsimdjson14 libinih1; do
    printf '\nFrom %s, which is inside the program:\n\n' "$library"
    cat "/usr/share/doc/$library/copyright"
  done
  printf '\nThe runtime of Swift, which is inside the program, is under the Apache License 2.0, which Debian has in\n'
  printf '/usr/share/common-licenses/Apache-2.0, with the Runtime Library Exception; the C++ library under the GPL 3,\n'
  printf 'which Debian has in /usr/share/common-licenses/GPL-3, with the GCC Runtime Library Exception.\n'
} >"$doc/copyright"

# The libraries that the program asks for, with the versions that Debian 12 knows; Debian 13's packages provide them.
mkdir -p "$work/deb-control/debian"
printf 'Source: quake-tools\n\nPackage: quake-tools\nArchitecture: any\n' >"$work/deb-control/debian/control"
libraries=$(cd "$work/deb-control" && dpkg-shlibdeps -O "$root/usr/lib/quake-tools/quake" | sed -n 's/^shlibs:Depends=//p')
mkdir "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<EOF
Package: quake-tools
Version: $version
Architecture: $architecture
Section: science
Priority: optional
Maintainer: $maintainer
Installed-Size: $(find "$root/usr" "$root/etc" -type f -printf '%s\n' | awk '{ s += int(($1 + 1023) / 1024) } END { print s }')
Depends: $libraries, libcurl4, systemd, init-system-helpers (>= 1.54~)
Recommends: postgresql, ca-certificates, libmosquitto1
Homepage: https://github.com/quake-project/quake
Description: earthquakes from live feeds in PostgreSQL
 The worker quake-ingest polls feeds of earthquakes, such as those of the
 USGS, and imports each snapshot into PostgreSQL with its history. The other
 tools watch the changes, search the events, serve them over HTTP with a live
 map, and administer the database.
EOF
(cd "$root" && find etc -type f -printf '/%p\n' | sort) >"$root/DEBIAN/conffiles"
install -m 755 -t "$root/DEBIAN" "$from/postinst" "$from/prerm" "$from/postrm"
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
chmod -R u=rwX,go=rX "$root"
chmod 640 "$root"/etc/quake/*.conf
mkdir -p "$out"
package=$(readlink -f "$out")/quake-tools_${version}_$architecture.deb
rm -f "$out"/quake-tools_*.deb
dpkg-deb --root-owner-group -Zxz --threads-max=1 -b "$root" "$package" >/dev/null
echo "${package#"$PWD/"}: $(stat -c %s "$package") bytes"
