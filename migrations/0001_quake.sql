-- The events, what is known of their ids, and the record of imports and feeds.
--
-- A released migration is never edited; a change is a new file.

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
  constraint quake_superseded_by_other check (superseded_by <> code)
);
create index quake_time on quake.quake (time);

comment on table quake.quake is 'seismic events, one row each, as they are known now; every change is recorded in quake_version';
comment on column quake.quake.code is 'the event''s id in its feed, network and number together (us7000pn9s); unique, and never changed in place. The feed''s own property called code is net_code: it collides between networks';
comment on column quake.quake.net is 'id of the network that is the preferred source (us, ci, ak, ...)';
comment on column quake.quake.net_code is 'the network''s own code for the event; not unique';
comment on column quake.quake.source is 'the catalogue the row came from (usgs, emsc, geonet); local where no feed brought it';
comment on column quake.quake.type is 'what kind of event: earthquake, quarry blast, ice quake, explosion, ...';
comment on column quake.quake.status is 'automatic, reviewed, deleted, as the feed spells it';
comment on column quake.quake.magnitude is 'preferred magnitude; negative ones and zero are ordinary; null: not determined';
comment on column quake.quake.magnitude_type is 'method of the magnitude (ml, md, mb, mww, ...), as the feed spells it';
comment on column quake.quake.place is 'where the event was, in words';
comment on column quake.quake.time is 'origin time';
comment on column quake.quake.updated is 'when the source last touched the event. Not a version: it moves backwards, too';
comment on column quake.quake.longitude is 'degrees east, -180 to 180; null together with latitude';
comment on column quake.quake.latitude is 'degrees north, -90 to 90; null together with longitude';
comment on column quake.quake.depth is 'depth of the hypocentre in kilometres, positive down; negative is above sea level';
comment on column quake.quake.title is 'headline for people';
comment on column quake.quake.url is 'page of the event for people';
comment on column quake.quake.detail is 'address of the event''s detail feed';
comment on column quake.quake.felt is 'number of felt reports';
comment on column quake.quake.cdi is 'maximum reported intensity, 0 to 12';
comment on column quake.quake.mmi is 'maximum estimated instrumental intensity, 0 to 12';
comment on column quake.quake.alert is 'PAGER alert level: green, yellow, orange, red, pending';
comment on column quake.quake.tsunami is '1 where the event is in an oceanic region and large; says nothing of a wave';
comment on column quake.quake.sig is 'significance, 0 to about 3000; from 600 on an event is in the significant feeds';
comment on column quake.quake.nst is 'number of stations used for the location';
comment on column quake.quake.dmin is 'degrees from the epicentre to the nearest station';
comment on column quake.quake.rms is 'root mean square of the travel time residuals, seconds';
comment on column quake.quake.gap is 'largest azimuthal gap between stations, degrees';
comment on column quake.quake.ids is 'every id of the event, as the feed gives them: comma before, between and after';
comment on column quake.quake.sources is 'networks that contributed, in the same form';
comment on column quake.quake.types is 'product types available, in the same form';
comment on column quake.quake.as_of is 'when the snapshot that last changed the row was generated. An older snapshot does not overwrite it; null: not known, or no snapshot wrote it';
comment on column quake.quake.validated is 'state of our own, never overwritten by a feed: somebody has checked the event';
comment on column quake.quake.withdrawn_at is 'state of our own: since when the event is missing from feeds that should hold it; null: live';
comment on column quake.quake.superseded_by is 'state of our own: code of the row that describes this earthquake now; null: this row does';

create table quake.quake_alias (
  id text not null,
  code text not null,
  constraint quake_alias_pkey primary key (id),
  constraint quake_alias_other check (id <> code)
);
create index quake_alias_code on quake.quake_alias (code);

comment on table quake.quake_alias is 'the other ids under which events have been seen (quake.ids); an event''s present code needs no row here';
comment on column quake.quake_alias.id is 'an id that is, or was, one of the event''s';
comment on column quake.quake_alias.code is 'present code of the event';

create function quake.find(p_id text) returns setof quake.quake
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select q.* from quake.quake q where q.code = p_id
  union all
  select q.* from quake.quake_alias a join quake.quake q on q.code = a.code
   where a.id = p_id and not exists (select from quake.quake o where o.code = p_id)
$$;
comment on function quake.find(text) is 'the event that has, or had, this id: no row or one';

create table quake.import (
  id bigint generated always as identity,
  source text not null,
  feed text not null,
  format text not null,
  http_status integer,
  etag text,
  last_modified text,
  generated timestamptz,
  seen bigint not null default 0,
  inserted bigint not null default 0,
  updated bigint not null default 0,
  unchanged bigint not null default 0,
  rejected bigint not null default 0,
  duplicate bigint not null default 0,
  stale bigint not null default 0,
  bytes bigint not null default 0,
  started_at timestamptz not null,
  finished_at timestamptz,
  receive_duration interval,
  merge_duration interval,
  complete boolean not null default false,
  program text not null,
  token bigint,
  constraint import_pkey primary key (id),
  constraint import_counts_whole check (seen = inserted + updated + unchanged + rejected + duplicate),
  constraint import_stale_unchanged check (stale <= unchanged)
);
create index import_started_at on quake.import (started_at);
create index import_generated on quake.import (generated);

comment on table quake.import is 'one row for each run of an import that reached the store, written in the transaction of its data';
comment on column quake.import.id is 'number of the import';
comment on column quake.import.source is 'the URL (without a password), path or - that was read';
comment on column quake.import.feed is 'short name of the feed';
comment on column quake.import.format is 'usgs-geojson, usgs-csv, emsc-json, ...';
comment on column quake.import.http_status is 'status of the HTTP answer; null for a file';
comment on column quake.import.etag is 'ETag of the HTTP answer';
comment on column quake.import.last_modified is 'Last-Modified of the HTTP answer, as it was given';
comment on column quake.import.generated is 'when the snapshot was generated: its own word, else Last-Modified or Date of the HTTP answer; null: unknown';
comment on column quake.import.seen is 'records in the feed: the sum of inserted, updated, unchanged, rejected and duplicate';
comment on column quake.import.inserted is 'events that were new';
comment on column quake.import.updated is 'events whose contents differed';
comment on column quake.import.unchanged is 'events left untouched, stale ones included';
comment on column quake.import.rejected is 'records that could not be taken; see import_reject';
comment on column quake.import.duplicate is 'records whose code came again later in the same feed; the last one counts';
comment on column quake.import.stale is 'events left untouched because the row is of a newer snapshot';
comment on column quake.import.bytes is 'bytes of the body after decompression';
comment on column quake.import.started_at is 'when the import began';
comment on column quake.import.finished_at is 'when its last merge was done';
comment on column quake.import.receive_duration is 'time spent on receiving, decoding and staging';
comment on column quake.import.merge_duration is 'time spent on merging';
comment on column quake.import.complete is 'false while an import that commits in batches has not reached its end';
comment on column quake.import.program is 'program and version that ran the import';
comment on column quake.import.token is 'number of the (last) transaction that it changed events in; null: it changed none';

create table quake.import_reject (
  import_id bigint not null,
  record bigint not null,
  place text not null,
  reason text not null,
  raw text not null,
  constraint import_reject_pkey primary key (import_id, record),
  constraint import_reject_import foreign key (import_id) references quake.import (id) on delete cascade
);

comment on table quake.import_reject is 'records of a feed that could not be taken';
comment on column quake.import_reject.import_id is 'the import (import.id)';
comment on column quake.import_reject.record is 'which record of the feed, from 1';
comment on column quake.import_reject.place is 'where it begins in the input: line or byte offset';
comment on column quake.import_reject.reason is 'why it was rejected';
comment on column quake.import_reject.raw is 'the record as it came, at most 64 KiB; what is not UTF-8 is replaced';

create table quake.feed (
  name text not null,
  url text not null,
  etag text,
  last_modified text,
  generated timestamptz,
  polled_at timestamptz,
  succeeded_at timestamptz,
  failures integer not null default 0,
  error text,
  constraint feed_pkey primary key (name),
  constraint feed_failures_count check (failures >= 0)
);

comment on table quake.feed is 'state of the feeds that workers poll';
comment on column quake.feed.name is 'the feed''s short name';
comment on column quake.feed.url is 'where it is polled, without a password';
comment on column quake.feed.etag is 'ETag of the last snapshot taken; sent back so that an unchanged one need not be';
comment on column quake.feed.last_modified is 'its Last-Modified, as it was given';
comment on column quake.feed.generated is 'when it was generated';
comment on column quake.feed.polled_at is 'last attempt';
comment on column quake.feed.succeeded_at is 'last attempt that succeeded, an unchanged answer included';
comment on column quake.feed.failures is 'failed attempts since then';
comment on column quake.feed.error is 'what the last attempt failed of; null: it did not';
