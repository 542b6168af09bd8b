-- The events, and the ids under which they are known.
--
-- A released migration is never edited: a change of the schema is a new file.
--
-- Every text column that others than the owner write has a maximum length. PostgreSQL stores texts of
-- up to a gigabyte, and a reader needs several times a text's size to print it: a single long value
-- would end every watcher, and end it again after each restart. Names, codes and the like have at most
-- 1,024 bytes, texts that may be long 65,536. One constraint checks all columns of a kind, because
-- PostgreSQL compiles each constraint again for every statement that writes.

create table quake.quake (
  code text not null,
  net text,
  net_code text,
  source text not null default 'local',
  type text,
  status text,
  magnitude double precision,
  magnitude_type text,
  place text,
  time timestamptz not null,
  updated timestamptz,
  longitude double precision,
  latitude double precision,
  depth double precision,
  title text,
  url text,
  detail text,
  felt integer,
  cdi double precision,
  mmi double precision,
  alert text,
  tsunami smallint,
  sig integer,
  nst integer,
  dmin double precision,
  rms double precision,
  gap double precision,
  ids text,
  sources text,
  types text,
  as_of timestamptz,
  validated boolean not null default false,
  withdrawn_at timestamptz,
  superseded_by text,
  constraint quake_pkey primary key (code),
  constraint quake_code_length check (length(code) between 1 and 256),
  constraint quake_magnitude_range check (magnitude between -10 and 12),
  constraint quake_time_range check (time >= '0001-01-01 00:00:00+00' and time < '10000-01-01 00:00:00+00'),
  constraint quake_updated_range check (updated >= '0001-01-01 00:00:00+00' and updated < '10000-01-01 00:00:00+00'),
  constraint quake_longitude_range check (longitude between -180 and 180),
  constraint quake_latitude_range check (latitude between -90 and 90),
  constraint quake_epicentre_whole check ((longitude is null) = (latitude is null)),
  constraint quake_depth_range check (depth between -100 and 7000),
  constraint quake_as_of_range check (as_of >= '0001-01-01 00:00:00+00' and as_of < '10000-01-01 00:00:00+00'),
  constraint quake_withdrawn_at_range check (withdrawn_at >= '0001-01-01 00:00:00+00' and withdrawn_at < '10000-01-01 00:00:00+00'),
  constraint quake_superseded_by_other check (superseded_by <> code),
  constraint quake_short_text_length check (
    greatest(octet_length(net), octet_length(net_code), octet_length(source), octet_length(type),
      octet_length(status), octet_length(magnitude_type), octet_length(alert),
      octet_length(superseded_by)) <= 1024),
  constraint quake_long_text_length check (
    greatest(octet_length(place), octet_length(title), octet_length(url), octet_length(detail),
      octet_length(ids), octet_length(sources), octet_length(types)) <= 65536)
);
create index quake_time on quake.quake (time);
create index quake_withdrawn_at on quake.quake (withdrawn_at) where withdrawn_at is not null;
create index quake_superseded_by on quake.quake (superseded_by) where superseded_by is not null;

comment on table quake.quake is 'seismic events in their present state, one row each; every change is recorded in quake_version';
comment on column quake.quake.code is 'the event''s id in its feed, network and number together (us7000pn9s); unique, and never changed in place. The feed''s own property called code is net_code: different networks use the same ones';
comment on column quake.quake.net is 'id of the network that is the preferred source (us, ci, ak, ...)';
comment on column quake.quake.net_code is 'the network''s own code for the event; not unique';
comment on column quake.quake.source is 'the catalogue that the row comes from (usgs, emsc, geonet); local if no feed wrote it';
comment on column quake.quake.type is 'kind of event: earthquake, quarry blast, ice quake, explosion, ...';
comment on column quake.quake.status is 'automatic, reviewed or deleted, as the feed spells it';
comment on column quake.quake.magnitude is 'preferred magnitude; zero and negative ones are ordinary; null: not determined';
comment on column quake.quake.magnitude_type is 'magnitude type (ml, md, mb, mww, ...), as the feed spells it';
comment on column quake.quake.place is 'description of the place, for people';
comment on column quake.quake.time is 'origin time';
comment on column quake.quake.updated is 'when the source last changed the event. It is not a version number: it can also move backwards';
comment on column quake.quake.longitude is 'degrees east, -180 to 180; null together with latitude';
comment on column quake.quake.latitude is 'degrees north, -90 to 90; null together with longitude';
comment on column quake.quake.depth is 'hypocentre depth in kilometres, positive down; negative: above sea level';
comment on column quake.quake.title is 'headline, for people';
comment on column quake.quake.url is 'the event''s page, for people';
comment on column quake.quake.detail is 'address of the event''s detail feed';
comment on column quake.quake.felt is 'number of felt reports';
comment on column quake.quake.cdi is 'maximum reported intensity, 0 to 12';
comment on column quake.quake.mmi is 'maximum estimated instrumental intensity, 0 to 12';
comment on column quake.quake.alert is 'PAGER alert level: green, yellow, orange, red, pending';
comment on column quake.quake.tsunami is '1 if the event is large and in an oceanic region; does not say whether there was a tsunami';
comment on column quake.quake.sig is 'significance, 0 to about 3000; the significant feeds hold events from 600 on';
comment on column quake.quake.nst is 'number of stations used for the location';
comment on column quake.quake.dmin is 'degrees from the epicentre to the nearest station';
comment on column quake.quake.rms is 'root mean square of the travel time residuals, seconds';
comment on column quake.quake.gap is 'largest azimuthal gap between stations, degrees';
comment on column quake.quake.ids is 'every id of the event, as the feed gives them: comma before, between and after';
comment on column quake.quake.sources is 'networks that contributed, in the same form';
comment on column quake.quake.types is 'product types available, in the same form';
comment on column quake.quake.as_of is 'when the snapshot that the contents of the row come from was generated. An older snapshot does not overwrite them; null: not known, or no snapshot wrote them';
comment on column quake.quake.validated is 'state of our own, which no feed overwrites: a person has checked the event';
comment on column quake.quake.withdrawn_at is 'state of our own: when the event was withdrawn, because feeds that should hold it do not; null: it is not withdrawn';
comment on column quake.quake.superseded_by is 'state of our own: code of the row that describes this earthquake now; null: this row does';

create view quake.current_quake as
  select * from quake.quake where superseded_by is null and withdrawn_at is null;
comment on view quake.current_quake is 'the events that are neither superseded nor withdrawn: one row for each earthquake';
-- The columns have the comments of the table's columns.
do $$
declare
  described record;
begin
  for described in
    select a.attname as name, col_description(a.attrelid, a.attnum) as text
      from pg_catalog.pg_attribute a
     where a.attrelid = 'quake.quake'::regclass and a.attnum > 0
  loop
    execute format('comment on column quake.current_quake.%I is %L', described.name, described.text);
  end loop;
end
$$;

-- The owner of a database may add columns to quake.quake, such as a geometry or a note. The history
-- does not record them, so the functions that read the history return values of this type, which has
-- the columns above and no others.
create type quake.event as (
  code text,
  net text,
  net_code text,
  source text,
  type text,
  status text,
  magnitude double precision,
  magnitude_type text,
  place text,
  time timestamptz,
  updated timestamptz,
  longitude double precision,
  latitude double precision,
  depth double precision,
  title text,
  url text,
  detail text,
  felt integer,
  cdi double precision,
  mmi double precision,
  alert text,
  tsunami smallint,
  sig integer,
  nst integer,
  dmin double precision,
  rms double precision,
  gap double precision,
  ids text,
  sources text,
  types text,
  as_of timestamptz,
  validated boolean,
  withdrawn_at timestamptz,
  superseded_by text
);
comment on type quake.event is 'an event as the history records it: the columns of quake.quake, without those that the owner of the database added';

create table quake.quake_alias (
  id text not null,
  code text not null,
  named_by text,
  as_of timestamptz,
  constraint quake_alias_pkey primary key (id),
  constraint quake_alias_other check (id <> code),
  constraint quake_alias_short_text_length check (
    greatest(octet_length(id), octet_length(code), octet_length(named_by)) <= 1024)
);
create index quake_alias_code on quake.quake_alias (code);
create index quake_alias_named_by on quake.quake_alias (coalesce(named_by, code));

comment on table quake.quake_alias is 'the other ids under which feeds have listed events (quake.ids); the present code of an event needs no row here';
comment on column quake.quake_alias.id is 'an id that is or was one of the event''s';
comment on column quake.quake_alias.code is 'the present code of the event';
comment on column quake.quake_alias.named_by is 'the event whose ids last included this one, if that event was superseded since; null: it is the event in code';
comment on column quake.quake_alias.as_of is 'when the first snapshot that said so was generated; null: not known';

create function quake.find(p_id text) returns setof quake.quake
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  -- Begins at the row of the id, and follows superseded_by to the row that describes the earthquake now.
  -- It visits each row once, so that it also ends in a cycle that a person made by hand.
  with recursive way (code, next, seen) as (
    select q.code, q.superseded_by, array[q.code]
      from quake.quake q
     where q.code = p_id
        or not exists (select from quake.quake o where o.code = p_id)
           and q.code = (select a.code from quake.quake_alias a where a.id = p_id)
    union all
    select q.code, q.superseded_by, w.seen || q.code
      from way w join quake.quake q on q.code = w.next
     where q.code <> all (w.seen)
  )
  select q.* from quake.quake q
   where q.code = (select w.code from way w order by cardinality(w.seen) desc limit 1)
$$;
comment on function quake.find(text) is 'the event that has or had this id: no row or one; a superseded event leads to its successor';
