-- Batch edits: deleted events that stay deleted, edits that can be undone as a whole, the schedule of
-- expiry, and when each event was first stored.

-- When an event was first stored
--
-- The time belongs to the row: no update changes it, and a row that is restored gets its old one back. So
-- the history records it as well. Versions that were recorded before this migration have none.

alter table quake.quake add column first_stored timestamptz not null default now();
comment on column quake.quake.first_stored is 'when the event was first stored; no update changes it, and a restored event has its old one';

alter table quake.quake_version add column first_stored timestamptz;
comment on column quake.quake_version.first_stored is 'when the event was first stored; no update changes it, and a restored event has its old one; null: recorded before the store knew it';

alter type quake.event add attribute first_stored timestamptz;

-- The events that are stored already: the time of the transaction that inserted the present row, or of the
-- oldest one that is still in the history. The history does not record that.
alter table quake.quake disable trigger quake_20_record_update;
update quake.quake q
   set first_stored = f.at
  from (select distinct on (v.code) v.code, t.at
          from quake.quake_version v
          join quake.change_transaction t on t.transaction_id = v.transaction_id
         where v.op <> 'truncate'
         order by v.code, v.op <> 'insert', case when v.op = 'insert' then -v.id else v.id end) f
 where f.code = q.code and q.first_stored is distinct from f.at;
alter table quake.quake enable trigger quake_20_record_update;

create or replace view quake.current_quake as
  select q.code, q.net, q.net_code, q.source, q.type, q.status, q.magnitude, q.magnitude_type, q.place,
         q.time, q.updated, q.longitude, q.latitude, q.depth, q.title, q.url, q.detail, q.felt,
         q.cdi, q.mmi, q.alert, q.tsunami, q.sig, q.nst, q.dmin, q.rms, q.gap,
         q.ids, q.sources, q.types, q.as_of, q.validated, q.withdrawn_at, q.superseded_by, q.first_stored
    from quake.quake q where q.superseded_by is null and q.withdrawn_at is null;
comment on column quake.current_quake.first_stored is 'when the event was first stored; no update changes it, and a restored event has its old one';

create function quake.quake__refuse_first_stored_change() returns trigger
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception 'cannot change when event "%" was first stored', old.code
    using errcode = 'integrity_constraint_violation', schema = 'quake', table = 'quake', column = 'first_stored',
          hint = 'Leave the column first_stored out of the update.';
end
$$;
comment on function quake.quake__refuse_first_stored_change() is 'refuses to change when an event was first stored';

create trigger quake_10_refuse_first_stored_change
  before update of first_stored on quake.quake
  for each row when (old.first_stored is distinct from new.first_stored)
  execute function quake.quake__refuse_first_stored_change();

-- Deleted events
--
-- A batch edit that deletes an event leaves a tombstone with its code. Imports skip a record of a deleted
-- event, also under another of the event's ids. A tombstone exists only while there is no row of its code:
-- the trigger below refuses an insert by an import, and removes the tombstone if anybody else inserts the
-- event. An import that looked for tombstones just before the event was deleted gets that error, and merges
-- again.

create table quake.tombstone (
  code text not null,
  reason text not null,
  older_than interval,
  deleted_at timestamptz not null default now(),
  author text,
  context text,
  edit_id bigint,
  constraint tombstone_pkey primary key (code),
  constraint tombstone_code_length check (length(code) between 1 and 256),
  constraint tombstone_reason_known check (reason in ('deleted', 'expired', 'undone')),
  constraint tombstone_older_than_positive check (older_than > interval '0'),
  constraint tombstone_short_text_length check (
    greatest(octet_length(code), octet_length(reason), octet_length(author)) <= 1024),
  constraint tombstone_long_text_length check (
    octet_length(context) <= 65536)
);
create index tombstone_deleted_at on quake.tombstone (deleted_at);

comment on table quake.tombstone is 'events that were deleted and stay so although a feed still has them, until they are restored or somebody inserts them again';
comment on column quake.tombstone.code is 'the event (quake.code)';
comment on column quake.tombstone.reason is 'deleted: by a batch delete; expired: because it was old; undone: its insertion was undone';
comment on column quake.tombstone.older_than is 'the age from which on events expire: a feed that gives the event a later origin time, so that it is younger, brings it back; null: nothing but restoring does';
comment on column quake.tombstone.deleted_at is 'when the event was deleted';
comment on column quake.tombstone.author is 'who deleted it';
comment on column quake.tombstone.context is 'why it was deleted';
comment on column quake.tombstone.edit_id is 'the edit that deleted it (edit.id)';

-- Edits
--
-- A batch edit is many short transactions, so that it holds no lock for long. Their list makes it possible
-- to undo the edit as a whole.

create table quake.edit (
  id bigint generated always as identity,
  action text not null,
  selection text not null,
  author text,
  context text,
  program text not null,
  started_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  constraint edit_pkey primary key (id),
  constraint edit_action_known check
    (action in ('validate', 'unvalidate', 'set', 'delete', 'restore', 'expire')),
  constraint edit_short_text_length check (
    greatest(octet_length(action), octet_length(author), octet_length(program)) <= 1024),
  constraint edit_long_text_length check (
    greatest(octet_length(selection), octet_length(context)) <= 65536)
);
create index edit_unfinished on quake.edit (id) where finished_at is null;

comment on table quake.edit is 'batch edits, each of which is one or more transactions';
comment on column quake.edit.id is 'number of the edit';
comment on column quake.edit.action is 'validate, unvalidate, set, delete, restore or expire';
comment on column quake.edit.selection is 'which events it was to change, and how; the same command after an interruption continues the edit';
comment on column quake.edit.author is 'author of its transactions';
comment on column quake.edit.context is 'context of its transactions, as the caller gave it; null: the number of the edit';
comment on column quake.edit.program is 'program and version that made it';
comment on column quake.edit.started_at is 'when it began';
comment on column quake.edit.finished_at is 'when it was done; null: it is running, or was interrupted';

create table quake.edit_transaction (
  edit_id bigint not null,
  transaction_id bigint not null,
  events bigint not null,
  constraint edit_transaction_pkey primary key (edit_id, transaction_id),
  constraint edit_transaction_edit foreign key (edit_id) references quake.edit (id) on delete cascade,
  constraint edit_transaction_events_count check (events > 0)
);
create index edit_transaction_transaction_id on quake.edit_transaction (transaction_id);

comment on table quake.edit_transaction is 'the transactions of batch edits';
comment on column quake.edit_transaction.edit_id is 'the edit (edit.id)';
comment on column quake.edit_transaction.transaction_id is 'the transaction (change_transaction.transaction_id)';
comment on column quake.edit_transaction.events is 'events that it changed';

-- The schedule of workers that expire events: one of them at a time, which reports while it works.
create table quake.expiry (
  single boolean not null default true,
  holder text,
  held_until timestamptz,
  next_due timestamptz,
  constraint expiry_pkey primary key (single),
  constraint expiry_single check (single),
  constraint expiry_holder_whole check ((holder is null) = (held_until is null)),
  constraint expiry_short_text_length check (
    octet_length(holder) <= 1024)
);
insert into quake.expiry default values;

comment on table quake.expiry is 'when workers expire old events, and which of them does: one row';
comment on column quake.expiry.single is 'always true, so that there is one row only';
comment on column quake.expiry.holder is 'random text of the worker that expires events now; null: none does';
comment on column quake.expiry.held_until is 'when another worker may take over, if this one does not report before';
comment on column quake.expiry.next_due is 'when a worker is to look for old events next; null: at once';

-- Recording, with the new column

create or replace function quake.quake__record_insert() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  removed text[];
  deleted text;
begin
  -- Planned for each statement, because either table may have any size: a kept plan for a small one could
  -- scan the other once for each row.
  if exists (select from quake.tombstone) then
    execute $query$
      select array_agg(d.code), min(d.code) filter (where d.stays)
        from new_rows n
       cross join lateral (
          select t.code, t.older_than is null or n.time <= now() - t.older_than as stays
            from quake.tombstone t where t.code = n.code offset 0) d
      $query$ into removed, deleted;
    if deleted is not null and current_setting('quake.keep_deleted', true) = 'on' then
      raise exception 'event "%" has been deleted', deleted
        using errcode = 'QK006', schema = 'quake', table = 'quake',
              hint = 'Imports leave deleted events deleted until they are restored: quake-admin events restore.';
    end if;
    delete from quake.tombstone t where t.code = any (removed);
  end if;
  with pending as (
    select quake.change_pending__add(count(*), 0, 0, 0) as transaction_id from new_rows
  )
  insert into quake.quake_version (
    transaction_id, op,
      code, net, net_code, source, type, status, magnitude, magnitude_type,
      place, time, updated, longitude, latitude, depth, title, url,
      detail, felt, cdi, mmi, alert, tsunami, sig, nst,
      dmin, rms, gap, ids, sources, types, as_of, validated,
      withdrawn_at, superseded_by, first_stored)
  select (select p.transaction_id from pending p), 'insert',
      n.code, n.net, n.net_code, n.source, n.type, n.status, n.magnitude, n.magnitude_type,
      n.place, n.time, n.updated, n.longitude, n.latitude, n.depth, n.title, n.url,
      n.detail, n.felt, n.cdi, n.mmi, n.alert, n.tsunami, n.sig, n.nst,
      n.dmin, n.rms, n.gap, n.ids, n.sources, n.types, n.as_of, n.validated,
      n.withdrawn_at, n.superseded_by, n.first_stored
    from new_rows n;
  return null;
end
$$;

create or replace function quake.quake__record_update() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
  set enable_nestloop = off
  set jit = off
as $$
begin
  with difference as materialized (
    -- By name: a column of a person's own may have the name of any alias.
    select c.changed,
           n.code, n.net, n.net_code, n.source, n.type, n.status, n.magnitude, n.magnitude_type, n.place,
           n.time, n.updated, n.longitude, n.latitude, n.depth, n.title, n.url, n.detail, n.felt, n.cdi,
           n.mmi, n.alert, n.tsunami, n.sig, n.nst, n.dmin, n.rms, n.gap, n.ids, n.sources, n.types,
           n.as_of, n.validated, n.withdrawn_at, n.superseded_by, n.first_stored
      from old_rows o
      join new_rows n on n.code = o.code
     cross join lateral (
        select array_remove(array[
          case when o.net is distinct from n.net then 'net' end,
          case when o.net_code is distinct from n.net_code then 'net_code' end,
          case when o.source is distinct from n.source then 'source' end,
          case when o.type is distinct from n.type then 'type' end,
          case when o.status is distinct from n.status then 'status' end,
          case when o.magnitude is distinct from n.magnitude then 'magnitude' end,
          case when o.magnitude_type is distinct from n.magnitude_type then 'magnitude_type' end,
          case when o.place is distinct from n.place then 'place' end,
          case when o.time is distinct from n.time then 'time' end,
          case when o.updated is distinct from n.updated then 'updated' end,
          case when o.longitude is distinct from n.longitude then 'longitude' end,
          case when o.latitude is distinct from n.latitude then 'latitude' end,
          case when o.depth is distinct from n.depth then 'depth' end,
          case when o.title is distinct from n.title then 'title' end,
          case when o.url is distinct from n.url then 'url' end,
          case when o.detail is distinct from n.detail then 'detail' end,
          case when o.felt is distinct from n.felt then 'felt' end,
          case when o.cdi is distinct from n.cdi then 'cdi' end,
          case when o.mmi is distinct from n.mmi then 'mmi' end,
          case when o.alert is distinct from n.alert then 'alert' end,
          case when o.tsunami is distinct from n.tsunami then 'tsunami' end,
          case when o.sig is distinct from n.sig then 'sig' end,
          case when o.nst is distinct from n.nst then 'nst' end,
          case when o.dmin is distinct from n.dmin then 'dmin' end,
          case when o.rms is distinct from n.rms then 'rms' end,
          case when o.gap is distinct from n.gap then 'gap' end,
          case when o.ids is distinct from n.ids then 'ids' end,
          case when o.sources is distinct from n.sources then 'sources' end,
          case when o.types is distinct from n.types then 'types' end,
          case when o.as_of is distinct from n.as_of then 'as_of' end,
          case when o.validated is distinct from n.validated then 'validated' end,
          case when o.withdrawn_at is distinct from n.withdrawn_at then 'withdrawn_at' end,
          case when o.superseded_by is distinct from n.superseded_by then 'superseded_by' end,
          case when o.first_stored is distinct from n.first_stored then 'first_stored' end
        ], null)) c (changed)
     where c.changed <> '{}'
  ), pending as (
    select quake.change_pending__add(0, count(*), 0, 0) as transaction_id from difference
  )
  insert into quake.quake_version (
    transaction_id, op, changed,
      code, net, net_code, source, type, status, magnitude, magnitude_type,
      place, time, updated, longitude, latitude, depth, title, url,
      detail, felt, cdi, mmi, alert, tsunami, sig, nst,
      dmin, rms, gap, ids, sources, types, as_of, validated,
      withdrawn_at, superseded_by, first_stored)
  select (select p.transaction_id from pending p), 'update', d.changed,
      d.code, d.net, d.net_code, d.source, d.type, d.status, d.magnitude, d.magnitude_type, d.place,
      d.time, d.updated, d.longitude, d.latitude, d.depth, d.title, d.url, d.detail, d.felt, d.cdi, d.mmi,
      d.alert, d.tsunami, d.sig, d.nst, d.dmin, d.rms, d.gap, d.ids, d.sources, d.types, d.as_of,
      d.validated, d.withdrawn_at, d.superseded_by, d.first_stored
    from difference d;
  return null;
end
$$;

-- As before, but a column of a person's own may have the name of the parameter.
create or replace function quake.find(p_id text) returns setof quake.quake
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  -- Begins at the row of the id, and follows superseded_by to the row that describes the earthquake now.
  -- It visits each row once, so that it also ends in a cycle that a person made by hand.
  with recursive way (code, next, seen) as (
    select q.code, q.superseded_by, array[q.code]
      from quake.quake q
     where q.code = find.p_id
        or not exists (select from quake.quake o where o.code = find.p_id)
           and q.code = (select a.code from quake.quake_alias a where a.id = find.p_id)
    union all
    select q.code, q.superseded_by, w.seen || q.code
      from way w join quake.quake q on q.code = w.next
     where q.code <> all (w.seen)
  )
  select q.* from quake.quake q
   where q.code = (select w.code from way w order by cardinality(w.seen) desc limit 1)
$$;

create or replace function quake.quake__record_delete() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  again text;
begin
  -- A trigger cannot know whether a statement inserted or deleted an event first, and the history could
  -- end with a delete of an event that exists.
  select q.code into again from old_rows o join quake.quake q on q.code = o.code limit 1;
  if found then
    raise exception 'cannot delete and insert event "%" in one statement', again
      using errcode = 'feature_not_supported', schema = 'quake', table = 'quake',
            hint = 'Use two statements, in one transaction, or an update.';
  end if;
  with pending as (
    select quake.change_pending__add(0, 0, count(*), 0) as transaction_id from old_rows
  )
  insert into quake.quake_version (
    transaction_id, op,
      code, net, net_code, source, type, status, magnitude, magnitude_type,
      place, time, updated, longitude, latitude, depth, title, url,
      detail, felt, cdi, mmi, alert, tsunami, sig, nst,
      dmin, rms, gap, ids, sources, types, as_of, validated,
      withdrawn_at, superseded_by, first_stored)
  select (select p.transaction_id from pending p), 'delete',
      o.code, o.net, o.net_code, o.source, o.type, o.status, o.magnitude, o.magnitude_type,
      o.place, o.time, o.updated, o.longitude, o.latitude, o.depth, o.title, o.url,
      o.detail, o.felt, o.cdi, o.mmi, o.alert, o.tsunami, o.sig, o.nst,
      o.dmin, o.rms, o.gap, o.ids, o.sources, o.types, o.as_of, o.validated,
      o.withdrawn_at, o.superseded_by, o.first_stored
    from old_rows o;
  return null;
end
$$;

-- Reading, with the new column

create or replace function quake.changes_since(p_token text)
  returns table (
    token text, "position" bigint, op text, code text, changed text[], old quake.event, new quake.event,
    author text, context text, application_name text, database_user text, process_id integer,
    client_address inet, at timestamptz, import_id bigint)
  language sql stable
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
  -- A statement of its own, because the query below does not call it if there are no transactions: an
  -- invalid token must be an error even then.
  select quake.token_number(p_token);
  select t.token || '.' || t.nonce, v.position, v.op, v.code, coalesce(v.changed, '{}'),
         case v.op when 'delete' then v.row when 'update' then p.row end,
         case when v.op in ('insert', 'update') then v.row end,
         t.author, t.context, t.application_name, t.database_user, t.process_id,
         t.client_address, t.at, t.import_id
    from (select * from quake.change_transaction t
           where t.token > (select quake.token_number(p_token)) order by t.token) t
   cross join lateral (
     select row_number() over (order by v.id) - 1 as position, v.id, v.op, v.code, v.changed,
            row(v.code, v.net, v.net_code, v.source, v.type, v.status, v.magnitude, v.magnitude_type,
            v.place, v.time, v.updated, v.longitude, v.latitude, v.depth, v.title, v.url,
            v.detail, v.felt, v.cdi, v.mmi, v.alert, v.tsunami, v.sig, v.nst,
            v.dmin, v.rms, v.gap, v.ids, v.sources, v.types, v.as_of, v.validated,
            v.withdrawn_at, v.superseded_by, v.first_stored)::quake.event as row
       from quake.quake_version v where v.transaction_id = t.transaction_id) v
    left join lateral (
     select row(p.code, p.net, p.net_code, p.source, p.type, p.status, p.magnitude, p.magnitude_type,
            p.place, p.time, p.updated, p.longitude, p.latitude, p.depth, p.title, p.url,
            p.detail, p.felt, p.cdi, p.mmi, p.alert, p.tsunami, p.sig, p.nst,
            p.dmin, p.rms, p.gap, p.ids, p.sources, p.types, p.as_of, p.validated,
            p.withdrawn_at, p.superseded_by, p.first_stored)::quake.event as row
       from quake.quake_version p
      where v.op = 'update' and p.code = v.code and p.id < v.id order by p.id desc limit 1) p on true
   order by t.token, v.id
$$;

create or replace function quake.as_of(p_token text) returns setof quake.event
  language sql stable
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
  select quake.token_number(p_token);  -- for the error, as above
  with known as materialized (
    select t.transaction_id from quake.change_transaction t
     where t.token <= (select quake.token_number(p_token))
  ), newest as (
    select distinct on (v.code) v.*
      from quake.quake_version v join known k on k.transaction_id = v.transaction_id
     where v.op <> 'truncate'
       and v.id > coalesce((select max(e.id) from quake.quake_version e
                              join known k on k.transaction_id = e.transaction_id
                             where e.op = 'truncate'), 0)
     order by v.code, v.id desc
  )
  select n.code, n.net, n.net_code, n.source, n.type, n.status, n.magnitude, n.magnitude_type,
         n.place, n.time, n.updated, n.longitude, n.latitude, n.depth, n.title, n.url,
         n.detail, n.felt, n.cdi, n.mmi, n.alert, n.tsunami, n.sig, n.nst,
         n.dmin, n.rms, n.gap, n.ids, n.sources, n.types, n.as_of, n.validated,
         n.withdrawn_at, n.superseded_by, n.first_stored
    from newest n where n.op <> 'delete'
$$;

create or replace function quake.difference(p_from text, p_to text)
  returns table (op text, code text, changed text[], old quake.event, new quake.event)
  language sql stable
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
  -- Statements of their own, because an invalid token must be an error in any case.
  select quake.token_number(p_from);
  select quake.token_number(p_to);
  with bounds as materialized (
    select least(n.a, n.b) as low, greatest(n.a, n.b) as high, n.a > n.b as backwards
      from (select quake.token_number(p_from) as a, quake.token_number(p_to) as b) n
  ), truncates as materialized (
    -- An event whose newest version has a smaller id than the last truncate before a token did not exist
    -- at that token.
    select coalesce(max(v.id) filter (where t.token <= b.low), 0) as before_low,
           coalesce(max(v.id), 0) as before_high,
           coalesce(bool_or(t.token > b.low), false) as between_them
      from bounds b
     cross join quake.quake_version v
      join quake.change_transaction t on t.transaction_id = v.transaction_id
     where v.op = 'truncate' and t.token <= b.high
  ), touched as materialized (
    select v.code, min(v.id) as first, max(v.id) as last
      from bounds b
      join quake.change_transaction t on t.token > b.low and t.token <= b.high
     cross join lateral (
        -- "offset 0" makes it use the index, one transaction at a time, however long the history is.
        select * from quake.quake_version v where v.transaction_id = t.transaction_id offset 0) v
     where v.code is not null
     group by v.code
  ), state as (
    select c.code,
           case when c.was then row(
                o.code, o.net, o.net_code, o.source, o.type, o.status, o.magnitude,
                o.magnitude_type, o.place, o.time, o.updated, o.longitude, o.latitude, o.depth,
                o.title, o.url, o.detail, o.felt, o.cdi, o.mmi, o.alert, o.tsunami, o.sig, o.nst,
                o.dmin, o.rms, o.gap, o.ids, o.sources, o.types, o.as_of, o.validated,
                o.withdrawn_at, o.superseded_by, o.first_stored)::quake.event end as low,
           case when c.is then row(
                n.code, n.net, n.net_code, n.source, n.type, n.status, n.magnitude,
                n.magnitude_type, n.place, n.time, n.updated, n.longitude, n.latitude, n.depth,
                n.title, n.url, n.detail, n.felt, n.cdi, n.mmi, n.alert, n.tsunami, n.sig, n.nst,
                n.dmin, n.rms, n.gap, n.ids, n.sources, n.types, n.as_of, n.validated,
                n.withdrawn_at, n.superseded_by, n.first_stored)::quake.event end as high,
           case when c.was and c.is then array_remove(array[
             case when o.net is distinct from n.net then 'net' end,
             case when o.net_code is distinct from n.net_code then 'net_code' end,
             case when o.source is distinct from n.source then 'source' end,
             case when o.type is distinct from n.type then 'type' end,
             case when o.status is distinct from n.status then 'status' end,
             case when o.magnitude is distinct from n.magnitude then 'magnitude' end,
             case when o.magnitude_type is distinct from n.magnitude_type then 'magnitude_type' end,
             case when o.place is distinct from n.place then 'place' end,
             case when o.time is distinct from n.time then 'time' end,
             case when o.updated is distinct from n.updated then 'updated' end,
             case when o.longitude is distinct from n.longitude then 'longitude' end,
             case when o.latitude is distinct from n.latitude then 'latitude' end,
             case when o.depth is distinct from n.depth then 'depth' end,
             case when o.title is distinct from n.title then 'title' end,
             case when o.url is distinct from n.url then 'url' end,
             case when o.detail is distinct from n.detail then 'detail' end,
             case when o.felt is distinct from n.felt then 'felt' end,
             case when o.cdi is distinct from n.cdi then 'cdi' end,
             case when o.mmi is distinct from n.mmi then 'mmi' end,
             case when o.alert is distinct from n.alert then 'alert' end,
             case when o.tsunami is distinct from n.tsunami then 'tsunami' end,
             case when o.sig is distinct from n.sig then 'sig' end,
             case when o.nst is distinct from n.nst then 'nst' end,
             case when o.dmin is distinct from n.dmin then 'dmin' end,
             case when o.rms is distinct from n.rms then 'rms' end,
             case when o.gap is distinct from n.gap then 'gap' end,
             case when o.ids is distinct from n.ids then 'ids' end,
             case when o.sources is distinct from n.sources then 'sources' end,
             case when o.types is distinct from n.types then 'types' end,
             case when o.as_of is distinct from n.as_of then 'as_of' end,
             case when o.validated is distinct from n.validated then 'validated' end,
             case when o.withdrawn_at is distinct from n.withdrawn_at then 'withdrawn_at' end,
             case when o.superseded_by is distinct from n.superseded_by then 'superseded_by' end,
             case when o.first_stored is distinct from n.first_stored then 'first_stored' end
           ], null) else '{}' end as changed
      from touched t
     cross join truncates e
     cross join lateral (
        select * from quake.quake_version v where v.code = t.code and v.id = t.last limit 1) n
      left join lateral (
        select * from quake.quake_version p
         where p.code = t.code and p.id < t.first order by p.id desc limit 1) o on true
     cross join lateral (
        select t.code, coalesce(o.id > e.before_low and o.op <> 'delete', false) as was,
               n.id > e.before_high and n.op <> 'delete' as is) c
    union all
    select q.code, q, null, '{}'
      from truncates e
     cross join lateral quake.as_of(case when (select b.backwards from bounds b) then p_to else p_from end) q
     where e.between_them and not exists (select from touched t where t.code = q.code)
  ), net as (
    select s.code, s.changed, case when b.backwards then s.high else s.low end as old,
           case when b.backwards then s.low else s.high end as new
      from state s cross join bounds b
  )
  select case when (n.old).code is null then 'insert' when (n.new).code is null then 'delete' else 'update' end,
         n.code, n.changed, n.old, n.new
    from net n
   where (n.old).code is null and (n.new).code is not null
      or (n.old).code is not null and (n.new).code is null
      or n.changed <> '{}'
   order by n.code collate "C"
$$;

create or replace function quake.versions(p_code text)
  returns table (
    token text, "position" bigint, op text, changed text[], event quake.event,
    author text, context text, application_name text, database_user text, process_id integer,
    client_address inet, at timestamptz, import_id bigint)
  language sql stable
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
  with own as materialized (
    select v.*, lead(v.id) over (order by v.id) as next
      from quake.quake_version v where v.code = p_code
  ), version as (
    select o.id, o.transaction_id, o.op, coalesce(o.changed, '{}') as changed,
           row(o.code, o.net, o.net_code, o.source, o.type, o.status, o.magnitude,
               o.magnitude_type, o.place, o.time, o.updated, o.longitude, o.latitude, o.depth,
               o.title, o.url, o.detail, o.felt, o.cdi, o.mmi, o.alert, o.tsunami, o.sig, o.nst,
               o.dmin, o.rms, o.gap, o.ids, o.sources, o.types, o.as_of, o.validated,
               o.withdrawn_at, o.superseded_by, o.first_stored)::quake.event as event
      from own o
    union all
    -- The truncates that removed the event.
    select e.id, e.transaction_id, e.op, '{}', null
      from own o
     cross join lateral (
       select v.id, v.transaction_id, v.op from quake.quake_version v
        where v.op = 'truncate' and v.id > o.id and (o.next is null or v.id < o.next)
        order by v.id limit 1) e
     where o.op <> 'delete'
  )
  select t.token || '.' || t.nonce,
         -- Up to the floor, other changes of the transaction may have been purged.
         case when t.token > (select f.token from quake.history_floor f)
              then (select count(*) from quake.quake_version o
                     where o.transaction_id = v.transaction_id and o.id < v.id) end,
         v.op, v.changed, v.event,
         t.author, t.context, t.application_name, t.database_user, t.process_id,
         t.client_address, t.at, t.import_id
    from version v join quake.change_transaction t on t.transaction_id = v.transaction_id
   order by v.id
$$;

create or replace function quake.in_box(
    west double precision, south double precision, east double precision, north double precision)
  returns setof quake.event
  language sql stable parallel safe
begin atomic
  select q.code, q.net, q.net_code, q.source, q.type, q.status, q.magnitude, q.magnitude_type,
         q.place, q.time, q.updated, q.longitude, q.latitude, q.depth, q.title, q.url,
         q.detail, q.felt, q.cdi, q.mmi, q.alert, q.tsunami, q.sig, q.nst, q.dmin, q.rms,
         q.gap, q.ids, q.sources, q.types, q.as_of, q.validated, q.withdrawn_at,
         q.superseded_by, q.first_stored
    from quake.quake q
   where (quake.quake__box_cells(west, south, east, north) is null
          or quake.quake__cell(q.longitude, q.latitude) = any (quake.quake__box_cells(west, south, east, north)))
     and q.latitude >= south and q.latitude <= north
     and case when west <= east then q.longitude >= west and q.longitude <= east
              else q.longitude >= west or q.longitude <= east end
     and q.superseded_by is null and q.withdrawn_at is null;
end;

create or replace function quake.within(lat double precision, lon double precision, km double precision)
  returns setof quake.event
  language sql stable parallel safe
begin atomic
  -- The great-circle distance by the haversine formula on a sphere with the Earth's mean radius, operation by
  -- operation the one of the option --within.
  select q.code, q.net, q.net_code, q.source, q.type, q.status, q.magnitude, q.magnitude_type,
         q.place, q.time, q.updated, q.longitude, q.latitude, q.depth, q.title, q.url,
         q.detail, q.felt, q.cdi, q.mmi, q.alert, q.tsunami, q.sig, q.nst, q.dmin, q.rms,
         q.gap, q.ids, q.sources, q.types, q.as_of, q.validated, q.withdrawn_at,
         q.superseded_by, q.first_stored
    from quake.quake q
   -- Adding 1 and subtracting it leaves coordinates in units of about 1e-16 degrees. With smaller ones, a product
   -- would underflow, which is an error.
   cross join lateral (
     select (q.latitude + 1::double precision) - 1::double precision as latitude,
            (q.longitude + 1::double precision) - 1::double precision as longitude) e
   cross join lateral (
     select (lat + 1::double precision) - 1::double precision as latitude,
            (lon + 1::double precision) - 1::double precision as longitude) c
   where (quake.quake__circle_cells(lat, lon, km) is null
          or quake.quake__cell(q.longitude, q.latitude) = any (quake.quake__circle_cells(lat, lon, km)))
     and q.longitude is not null  -- least() leaves nulls out
     and 2::double precision * 6371.0088::double precision * asin(least(1::double precision, sqrt(
           sin((e.latitude - c.latitude) * (pi() / 180::double precision) / 2::double precision)
           * sin((e.latitude - c.latitude) * (pi() / 180::double precision) / 2::double precision)
           + cos(c.latitude * (pi() / 180::double precision)) * cos(e.latitude * (pi() / 180::double precision))
           * sin((e.longitude - c.longitude) * (pi() / 180::double precision) / 2::double precision)
           * sin((e.longitude - c.longitude) * (pi() / 180::double precision) / 2::double precision)))) <= km
     and q.superseded_by is null and q.withdrawn_at is null;
end;

create or replace view quake.live as
  select q.code, q.net, q.net_code, q.source, q.type, q.status, q.magnitude, q.magnitude_type,
         q.place, q.time, q.updated, q.longitude, q.latitude, q.depth, q.title, q.url,
         q.detail, q.felt, q.cdi, q.mmi, q.alert, q.tsunami, q.sig, q.nst, q.dmin, q.rms,
         q.gap, q.ids, q.sources, q.types, q.as_of, q.validated,
         quake.region(q.place) as region, q.first_stored
    from quake.quake q
   where q.superseded_by is null and q.withdrawn_at is null and q.longitude is not null;
comment on column quake.live.first_stored is 'when the event was first stored; no update changes it, and a restored event has its old one';
