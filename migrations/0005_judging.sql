-- What an import needs to know of others before it changes anything: which snapshots were good, what
-- they covered, which events were missing from them; and the snapshots that were not good, with their
-- bodies, for somebody to look at.

alter table quake.import
  add column superseded bigint not null default 0,
  add column withdrawn bigint not null default 0,
  add column restored bigint not null default 0,
  add column scope text,
  add column covers_from timestamptz,
  add column covers_to timestamptz,
  add column reaches_from timestamptz,
  add column minimum_magnitude double precision,
  add column quarantined_at timestamptz,
  add column quarantine_reason text,
  add column quarantine_detail text,
  add column decision text,
  add column decided_at timestamptz,
  add column applied_import_id bigint,
  add constraint import_quarantine_whole check ((quarantined_at is null) = (quarantine_reason is null)),
  add constraint import_quarantine_reason check
    (quarantine_reason in ('implausible times', 'mass loss', 'stale', 'empty', 'truncated', 'damaged')),
  add constraint import_quarantine_untouched check
    (quarantined_at is null
     or inserted = 0 and updated = 0 and superseded = 0 and withdrawn = 0 and restored = 0 and token is null),
  add constraint import_decision check (decision in ('applied', 'discarded')),
  add constraint import_decision_whole check
    ((decision is null) = (decided_at is null) and (decision is null or quarantined_at is not null)),
  add constraint import_applied foreign key (applied_import_id) references quake.import (id) on delete set null;
create index import_covers on quake.import (generated) where covers_to is not null and quarantined_at is null;
create index import_feed on quake.import (feed, id);
create index import_quarantined_at on quake.import (quarantined_at) where quarantined_at is not null;
create index import_applied_import_id on quake.import (applied_import_id) where applied_import_id is not null;

comment on column quake.import.superseded is 'events that gave way to another row of the same earthquake (quake.superseded_by)';
comment on column quake.import.withdrawn is 'events that had been missing often enough to be withdrawn (quake.withdrawn_at)';
comment on column quake.import.restored is 'events that were superseded or withdrawn and came back';
comment on column quake.import.scope is 'the feed whose events the snapshot should hold (all_day), under whatever address it came; null: it is not known what it should hold';
comment on column quake.import.covers_from is 'origin time from which on the snapshot should hold every event of its catalogue; null: it is not known what it should hold';
comment on column quake.import.covers_to is 'origin time up to which it should';
comment on column quake.import.reaches_from is 'origin time back to which it did hold events of its window';
comment on column quake.import.minimum_magnitude is 'magnitude that an event must have to be in the snapshot; null: none';
comment on column quake.import.quarantined_at is 'when the snapshot was set aside instead of being applied; null: it was applied';
comment on column quake.import.quarantine_reason is 'why: implausible times, mass loss, stale, empty, truncated, damaged';
comment on column quake.import.quarantine_detail is 'the figures that led to that';
comment on column quake.import.decision is 'what somebody decided on it later: applied, discarded; null: nothing yet';
comment on column quake.import.decided_at is 'when that was decided';
comment on column quake.import.applied_import_id is 'the import that applied it in the end';

alter table quake.quake_alias
  add column named_by text,
  add column as_of timestamptz;
comment on column quake.quake.as_of is 'when the snapshot that the row''s contents are of was generated. An older snapshot does not overwrite them; null: not known, or no snapshot wrote them';
create index quake_alias_named_by on quake.quake_alias (coalesce(named_by, code));

comment on column quake.quake_alias.named_by is 'the event whose ids named it last, if that one has given way to another itself; null: code';
comment on column quake.quake_alias.as_of is 'when the snapshot was generated that said so first; null: not known';

create table quake.import_body (
  import_id bigint not null,
  part integer not null,
  bytes bytea not null,
  constraint import_body_pkey primary key (import_id, part),
  constraint import_body_import foreign key (import_id) references quake.import (id) on delete cascade
);
-- The bytes are gzip data already.
alter table quake.import_body alter column bytes set storage external;

comment on table quake.import_body is 'bodies of the snapshots that are in quarantine, gzip data in parts';
comment on column quake.import_body.import_id is 'the import (import.id)';
comment on column quake.import_body.part is 'which part, from 0';
comment on column quake.import_body.bytes is 'the part''s bytes; all parts together are one gzip file';

create table quake.absence (
  code text not null,
  feed text not null,
  snapshots integer not null,
  since timestamptz not null,
  withdrawn_at timestamptz,
  asked_at timestamptz,
  constraint absence_pkey primary key (code, feed),
  constraint absence_snapshots_count check (snapshots > 0)
);

comment on table quake.absence is 'events that were missing from the latest good snapshots that should have held them';
comment on column quake.absence.code is 'the event (quake.code)';
comment on column quake.absence.feed is 'the feed that it is missing from (all_day), under whatever address that came';
comment on column quake.absence.snapshots is 'from how many snapshots, one after the other';
comment on column quake.absence.since is 'when the first of these was generated';
comment on column quake.absence.withdrawn_at is 'quake.withdrawn_at, where that was set because of this; null: it was not';
comment on column quake.absence.asked_at is 'when the event''s own page was asked for last and did not tell; null: it was not';

create or replace function quake.find(p_id text) returns setof quake.quake
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  -- An id's own row, unless that has given way; then the row that stands for the earthquake now.
  -- Whoever follows goes through each row once, so that a circle somebody made by hand ends, too.
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
comment on function quake.find(text) is 'the event that has, or had, this id: no row or one; what was superseded leads to its successor';

create view quake.current_quake as
  select * from quake.quake where superseded_by is null and withdrawn_at is null;
comment on view quake.current_quake is 'the events that stand for an earthquake now: neither superseded nor withdrawn';

do $$
declare
  described record;
begin
  for described in
    select a.attname, col_description(a.attrelid, a.attnum) as words
      from pg_attribute a where a.attrelid = 'quake.quake'::regclass and a.attnum > 0 and not a.attisdropped
  loop
    execute format('comment on column quake.current_quake.%I is %L', described.attname, described.words);
  end loop;
end
$$;

create index quake_withdrawn_at on quake.quake (withdrawn_at) where withdrawn_at is not null;
create index quake_superseded_by on quake.quake (superseded_by) where superseded_by is not null;
