#!/bin/sh
# Loads a file of earthquakes in GeoJSON into public.plain with jq and psql. Times are sent as numbers
# and converted by the server. The whole of psql's input is one stream: the CSV ends with a line "\.".
set -eu

feed='net net_code type status magnitude magnitude_type place time updated title url detail felt cdi mmi alert
  tsunami sig nst dmin rms gap ids sources types longitude latitude depth'
list=$(echo $feed | sed 's/ /, /g')
values=$(echo $feed | sed -E 's/ /, /g; s/\b(time|updated)\b/to_timestamp(\1 \/ 1000.0)/g')
updates=$(for name in $feed; do printf '%s = excluded.%s, ' "$name" "$name"; done | sed 's/, $//')
old=$(for name in $feed; do printf 'p.%s, ' "$name"; done | sed 's/, $//')
new=$(for name in $feed; do printf 'excluded.%s, ' "$name"; done | sed 's/, $//')

{
  cat <<SQL
begin;
create temporary table staging (code text, net text, net_code text, type text, status text, magnitude float8,
  magnitude_type text, place text, time int8, updated int8, title text, url text, detail text, felt int4,
  cdi float8, mmi float8, alert text, tsunami int2, sig int4, nst int4, dmin float8, rms float8, gap float8,
  ids text, sources text, types text, longitude float8, latitude float8, depth float8);
\\copy staging (code, $list) from pstdin (format csv)
SQL
  jq -r '.features[] | [.id, (.properties | .net, .code, .type, .status, .mag, .magType, .place, .time, .updated,
    .title, .url, .detail, .felt, .cdi, .mmi, .alert, .tsunami, .sig, .nst, .dmin, .rms, .gap, .ids, .sources,
    .types), .geometry.coordinates[]] | @csv' "$1"
  echo '\.'
  cat <<SQL
insert into public.plain as p (code, source, $list)
select code, 'simulated', $values from staging
on conflict (code) do update set $updates where ($old) is distinct from ($new);
commit;
SQL
} | "$PSQL" -qX -v ON_ERROR_STOP=1 -d "$DATABASE_URL"
