#!/bin/bash
# Makes FOLDER/quake-tools_VERSION+next_ARCHITECTURE.deb: what the next release will be to an upgrade. It has one more
# migration.
#   next-release.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
out=$1
mkdir -p "$out"
out=$(readlink -f "$out")
newest=$(cd migrations && printf '%s\n' 0*.sql | tail -n 1)
number=$(printf '%04d' $((10#${newest%%_*} + 1)))
printf -- '-- oldest schema: %d\ncreate table quake.next_release ();\n' $((10#${newest%%_*})) >"$out/${number}_next.sql"
sed -e "s|\"\.\./\.\./migrations/|\"$PWD/migrations/|" \
  -e "/^#define MIGRATION/i static const unsigned char migration_next[] = {\n#embed \"$out/${number}_next.sql\"\n};" \
  -e "/^    MIGRATION(\"${newest}\"/a MIGRATION(\"${number}_next.sql\", migration_next)," \
  Sources/CMigrations/CMigrations.c >"$out/CMigrations.c"
clang -c -O2 -fPIC -Wno-c23-extensions -DQUAKE_COMMIT='"next"' -ISources/CMigrations/include \
  "$out/CMigrations.c" -o "$out/CMigrations.o"
version=$(.build/release/quake-query --version | awk '{print $2}')
QUAKE_MIGRATIONS=$out/CMigrations.o deploy/packages/deb.sh "$version+next" "$out"
