-- The imports: what each one read, what it changed, which records it rejected. An import also needs to
-- know about earlier ones before it changes anything: which snapshots were good, which period they
-- covered, and which events were missing from them. A snapshot that is not good is quarantined together
-- with its body, until a person applies or discards it.

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
  superseded bigint not null default 0,
  withdrawn bigint not null default 0,
  restored bigint not null default 0,
  scope text,
  covers_from timestamptz,
  covers_to timestamptz,
  reaches_from timestamptz,
  minimum_magnitude double precision,
  quarantined_at timestamptz,
  quarantine_reason text,
  quarantine_detail text,
  decision text,
  decided_at timestamptz,
  applied_import_id bigint,
  constraint import_pkey primary key (id),
  constraint import_applied foreign key (applied_import_id) references quake.import (id) on delete set null,
  constraint import_counts_whole check (seen = inserted + updated + unchanged + rejected + duplicate),
  constraint import_stale_unchanged check (stale <= unchanged),
  constraint import_quarantine_whole check ((quarantined_at is null) = (quarantine_reason is null)),
  constraint import_quarantine_reason check
    (quarantine_reason in ('implausible times', 'mass loss', 'stale', 'empty', 'truncated', 'damaged')),
  constraint import_quarantine_untouched check
    (quarantined_at is null
     or inserted = 0 and updated = 0 and superseded = 0 and withdrawn = 0 and restored = 0 and token is null),
  constraint import_decision check (decision in ('applied', 'discarded')),
  constraint import_decision_whole check
    ((decision is null) = (decided_at is null) and (decision is null or quarantined_at is not null)),
  constraint import_short_text_length check (
    greatest(octet_length(feed), octet_length(format), octet_length(etag), octet_length(last_modified),
      octet_length(program), octet_length(scope), octet_length(decision)) <= 1024),
  constraint import_long_text_length check (
    greatest(octet_length(source), octet_length(quarantine_detail)) <= 65536)
);
create index import_started_at on quake.import (started_at);
create index import_generated on quake.import (generated);
create index import_covers on quake.import (generated) where covers_to is not null and quarantined_at is null;
create index import_feed on quake.import (feed, id);
create index import_quarantined_at on quake.import (quarantined_at) where quarantined_at is not null;
create index import_applied_import_id on quake.import (applied_import_id) where applied_import_id is not null;

comment on table quake.import is 'one row for each import that reached the store, written in the transaction of its data';
comment on column quake.import.id is 'number of the import';
comment on column quake.import.source is 'the URL (without a password) or the path that was read; - is standard input';
comment on column quake.import.feed is 'short name of the feed';
comment on column quake.import.format is 'usgs-geojson, usgs-csv, emsc-json, ...';
comment on column quake.import.http_status is 'status of the HTTP answer; null for a file';
comment on column quake.import.etag is 'ETag of the HTTP answer';
comment on column quake.import.last_modified is 'Last-Modified of the HTTP answer, unchanged';
comment on column quake.import.generated is 'when the snapshot was generated, as it says itself, else Last-Modified or Date of the HTTP answer; null: not known';
comment on column quake.import.seen is 'records in the feed: the sum of inserted, updated, unchanged, rejected and duplicate';
comment on column quake.import.inserted is 'events that were new';
comment on column quake.import.updated is 'events whose contents differed';
comment on column quake.import.unchanged is 'events left unchanged, stale ones included';
comment on column quake.import.rejected is 'records that were rejected; see import_reject';
comment on column quake.import.duplicate is 'records whose code occurred again later in the same feed; the last one is imported';
comment on column quake.import.stale is 'events left unchanged because their row comes from a newer snapshot';
comment on column quake.import.bytes is 'bytes of the body after decompression';
comment on column quake.import.started_at is 'when the import began';
comment on column quake.import.finished_at is 'when its last merge ended';
comment on column quake.import.receive_duration is 'time spent on receiving, decoding and staging';
comment on column quake.import.merge_duration is 'time spent on merging';
comment on column quake.import.complete is 'false while an import that commits in batches has not reached its end';
comment on column quake.import.program is 'program and version that ran the import';
comment on column quake.import.token is 'number of the (last) transaction in which it changed events; null: it changed none';
comment on column quake.import.superseded is 'events that were superseded by another row of the same earthquake (quake.superseded_by)';
comment on column quake.import.withdrawn is 'events that were withdrawn, because they had been missing from several snapshots (quake.withdrawn_at)';
comment on column quake.import.restored is 'events that were superseded or withdrawn and are so no longer';
comment on column quake.import.scope is 'the feed whose events the snapshot should hold (all_day), whatever its address; null: not known';
comment on column quake.import.covers_from is 'start of the period, in origin times, of which the snapshot should hold every event of its catalogue; null: not known';
comment on column quake.import.covers_to is 'end of that period';
comment on column quake.import.reaches_from is 'origin time from which on the snapshot really held events of that period';
comment on column quake.import.minimum_magnitude is 'the snapshot holds events of this magnitude or more; null: of any';
comment on column quake.import.quarantined_at is 'when the snapshot was quarantined instead of being applied; null: it was applied';
comment on column quake.import.quarantine_reason is 'why it was quarantined: implausible times, mass loss, stale, empty, truncated, damaged';
comment on column quake.import.quarantine_detail is 'the figures behind the reason';
comment on column quake.import.decision is 'what a person decided about the quarantined snapshot: applied, discarded; null: nothing yet';
comment on column quake.import.decided_at is 'when the person decided';
comment on column quake.import.applied_import_id is 'the import that applied the quarantined snapshot (import.id)';

create table quake.import_reject (
  import_id bigint not null,
  record bigint not null,
  place text not null,
  reason text not null,
  raw text not null,
  constraint import_reject_pkey primary key (import_id, record),
  constraint import_reject_import foreign key (import_id) references quake.import (id) on delete cascade,
  constraint import_reject_short_text_length check (
    octet_length(place) <= 1024),
  constraint import_reject_long_text_length check (
    greatest(octet_length(reason), octet_length(raw)) <= 65536)
);

comment on table quake.import_reject is 'records of a feed that were rejected';
comment on column quake.import_reject.import_id is 'the import (import.id)';
comment on column quake.import_reject.record is 'number of the record in the feed, from 1';
comment on column quake.import_reject.place is 'where the record begins in the input: line or byte offset';
comment on column quake.import_reject.reason is 'why it was rejected';
comment on column quake.import_reject.raw is 'the record as received, at most 64 KiB; bytes that are not UTF-8 are replaced';

create table quake.import_body (
  import_id bigint not null,
  part integer not null,
  bytes bytea not null,
  constraint import_body_pkey primary key (import_id, part),
  constraint import_body_import foreign key (import_id) references quake.import (id) on delete cascade
);
-- The bytes are gzip data: PostgreSQL need not try to compress them again.
alter table quake.import_body alter column bytes set storage external;

comment on table quake.import_body is 'bodies of quarantined snapshots, gzip data in parts';
comment on column quake.import_body.import_id is 'the import (import.id)';
comment on column quake.import_body.part is 'number of the part, from 0';
comment on column quake.import_body.bytes is 'the part''s bytes; all parts together are one gzip file';

create table quake.absence (
  code text not null,
  feed text not null,
  snapshots integer not null,
  since timestamptz not null,
  withdrawn_at timestamptz,
  asked_at timestamptz,
  constraint absence_pkey primary key (code, feed),
  constraint absence_snapshots_count check (snapshots > 0),
  constraint absence_short_text_length check (
    greatest(octet_length(code), octet_length(feed)) <= 1024)
);

comment on table quake.absence is 'events that were missing from the latest good snapshots that should have held them';
comment on column quake.absence.code is 'the event (quake.code)';
comment on column quake.absence.feed is 'the feed that it is missing from (all_day), whatever its address';
comment on column quake.absence.snapshots is 'number of successive snapshots from which it was missing';
comment on column quake.absence.since is 'when the first of these snapshots was generated';
comment on column quake.absence.withdrawn_at is 'the value of quake.withdrawn_at, if it was set because of this absence; null: it was not';
comment on column quake.absence.asked_at is 'when the event''s own page was last requested without telling whether the event still exists; null: never';
