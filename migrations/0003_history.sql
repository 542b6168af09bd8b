-- The history: what changed (quake_version), and which transactions made the changes, in commit order
-- (change_transaction). The first half of this file records it, the second half reads it.
--
-- The database records all of it by itself, so that changes made with psql or any other client are in
-- the history just like those of our own tools.
--
-- Tokens are in commit order. A number that a transaction draws at its first change would not be: a
-- transaction that draws 41 and commits after 42 is never seen by a reader that has already read 42. So
-- the first change of a transaction only inserts a row into change_pending. A deferred trigger on that
-- row runs at commit and draws the token under a lock, which is held until the commit is visible. A
-- transaction that stays open holds no lock and blocks no other.

-- Recording: transactions and versions

create sequence quake.transaction_id;
comment on sequence quake.transaction_id is 'numbers transactions at their first change; ties versions to their transaction, and has nothing to do with the commit order';

create sequence quake.token;
comment on sequence quake.token is 'numbers transactions at their commit, in commit order';

-- Only the numbering trigger writes rows here, and only the recording triggers write versions. So
-- neither table has CHECK constraints, also not for the lengths of texts: PostgreSQL reads and compiles
-- a CHECK again for every statement that writes a row, which small transactions would notice.
create table quake.change_transaction (
  token bigint not null,
  nonce text not null,
  transaction_id bigint not null,
  author text,
  context text,
  application_name text,
  database_user text not null,
  process_id integer not null,
  client_address inet,
  at timestamptz not null,
  inserted bigint not null,
  updated bigint not null,
  deleted bigint not null,
  truncated bigint not null,
  import_id bigint,
  constraint change_transaction_pkey primary key (token),
  constraint change_transaction_transaction_id unique (transaction_id),
  constraint change_transaction_import foreign key (import_id) references quake.import (id) on delete set null
);
create index change_transaction_at on quake.change_transaction (at);
create index change_transaction_import_id on quake.change_transaction (import_id) where import_id is not null;

comment on table quake.change_transaction is 'one row for each committed transaction that changed events, in commit order';
comment on column quake.change_transaction.token is 'number of the transaction, in commit order; written token.nonce where it leaves the database';
comment on column quake.change_transaction.nonce is 'random, 8 hexadecimal digits: proves that a token belongs to this history';
comment on column quake.change_transaction.transaction_id is 'ties the versions in quake_version to the transaction';
comment on column quake.change_transaction.author is 'who made the change, as set by the writer: set local quake.author = ...; cut after 200 characters';
comment on column quake.change_transaction.context is 'why the change was made, as set by the writer: set local quake.context = ...; cut after 2,000 characters';
comment on column quake.change_transaction.application_name is 'application_name of the writing session';
comment on column quake.change_transaction.database_user is 'role that the session had logged in as';
comment on column quake.change_transaction.process_id is 'process id of the server process that wrote';
comment on column quake.change_transaction.client_address is 'address of the client; null over a Unix socket';
comment on column quake.change_transaction.at is 'when it got its token, just before its commit';
comment on column quake.change_transaction.inserted is 'events inserted';
comment on column quake.change_transaction.updated is 'updates that changed something';
comment on column quake.change_transaction.deleted is 'events deleted';
comment on column quake.change_transaction.truncated is 'times the table was truncated';
comment on column quake.change_transaction.import_id is 'the import that made the change (import.id); null: none did';

-- The identity column must not cache numbers: a session that drew some in advance would give the later
-- version of an event the smaller id.
create table quake.quake_version (
  id bigint generated always as identity (cache 1),
  transaction_id bigint not null,
  op text not null,
  changed text[],
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
  superseded_by text,
  constraint quake_version_pkey primary key (transaction_id, id)
);
create index quake_version_code on quake.quake_version (code, id);
create index quake_version_truncate on quake.quake_version (id) where op = 'truncate';

comment on table quake.quake_version is 'one row for each change of one event: the event as it was after the change (for a delete: before it)';
comment on column quake.quake_version.id is 'number of the change; increases within an event and within a transaction';
comment on column quake.quake_version.transaction_id is 'the transaction it belongs to (change_transaction.transaction_id)';
comment on column quake.quake_version.op is 'insert, update, delete or truncate; a truncate has no event';
comment on column quake.quake_version.changed is 'names of the columns that an update changed';
-- The event's columns have the comments of the columns of quake.quake.
do $$
declare
  described record;
begin
  for described in
    select a.attname as name, col_description(a.attrelid, a.attnum) as text
      from pg_catalog.pg_attribute a
     where a.attrelid = 'quake.quake'::regclass and a.attnum > 0
  loop
    execute format('comment on column quake.quake_version.%I is %L', described.name, described.text);
  end loop;
end
$$;

-- Recording: tokens at commit

-- Unlogged, because a row lives no longer than the transaction that wrote it. There is no index: a row
-- is found by its physical place (ctid). That takes constant time, however many statements the
-- transaction has and however late vacuum comes. It also takes no predicate lock on an index page that
-- transactions share, which would make concurrent serializable writers fail for no reason.
create unlogged table quake.change_pending (
  xid xid8 not null,
  transaction_id bigint not null,
  inserted bigint not null,
  updated bigint not null,
  deleted bigint not null,
  truncated bigint not null
);
comment on table quake.change_pending is 'transactions that have changed events and have not committed yet';
comment on column quake.change_pending.xid is 'the transaction id of PostgreSQL';
comment on column quake.change_pending.transaction_id is 'the transaction id of the versions';
comment on column quake.change_pending.inserted is 'events inserted so far';
comment on column quake.change_pending.updated is 'updates that changed something so far';
comment on column quake.change_pending.deleted is 'events deleted so far';
comment on column quake.change_pending.truncated is 'times the table was truncated so far';

-- The setting quake.pending holds the place of the transaction's row; a rollback to a savepoint restores
-- it together with the row. Any role can change the setting, so it is only a hint: the row at that place
-- counts if it belongs to this transaction, otherwise a new row is inserted.
--
-- set_config is called in an assignment, because PL/pgSQL plans and runs a "perform" as a query.
create function quake.change_pending__add(
  p_inserted bigint, p_updated bigint, p_deleted bigint, p_truncated bigint
) returns bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  place text := current_setting('quake.pending', true);
  transaction_id bigint;
begin
  if place ~ '^\([0-9]{1,9},[0-9]{1,4}\)$' then
    update quake.change_pending p
       set inserted = p.inserted + p_inserted, updated = p.updated + p_updated,
           deleted = p.deleted + p_deleted, truncated = p.truncated + p_truncated
     where p.ctid = place::tid and p.xid = pg_current_xact_id()
    returning p.transaction_id, p.ctid::text into transaction_id, place;
    if found then
      place := set_config('quake.pending', place, true);
      return transaction_id;
    end if;
  end if;
  insert into quake.change_pending as p
  values (pg_current_xact_id(), nextval('quake.transaction_id'), p_inserted, p_updated, p_deleted, p_truncated)
  returning p.transaction_id, p.ctid::text into transaction_id, place;
  place := set_config('quake.pending', place, true);
  return transaction_id;
end
$$;
revoke all on function quake.change_pending__add(bigint, bigint, bigint, bigint) from public;
comment on function quake.change_pending__add(bigint, bigint, bigint, bigint) is 'adds to the counts of the running transaction; its first call makes the transaction get a token at commit';

-- The lock of the commit order. Any role that may connect can take an advisory lock, and could stall
-- every commit with it. To lock a table takes a privilege on that table, and only the owner has one
-- here; the numbering trigger runs with the owner's rights. The trigger's lock mode conflicts with
-- itself, and is the strongest that PostgreSQL grants without first looking at the locks of every
-- session. Vacuum takes the same mode, but only for a moment, because the table is empty.
create table quake.commit_lock ();
comment on table quake.commit_lock is 'empty: transactions that changed events lock it at commit, one at a time';

-- Runs at commit. Commits pass through the lock one at a time, as PostgreSQL lets commits with a
-- notification do anyway; whatever can be done before the lock is done before it.
--
-- An expression that is needed once is part of the statement that needs it, and the transaction's row
-- and the notification are one statement: PL/pgSQL prepares each expression again in each transaction,
-- which costs more than most of them take to compute.
--
-- Any role that may connect can fill the server's notification queue, and a commit that notifies then
-- fails. So nothing is notified while the queue is more than a quarter full, and readers poll. A
-- transaction that notified cannot be prepared for two-phase commit. One that did not notify could be,
-- and would then hold the lock after its session has ended; an exported snapshot forbids it as well.
create function quake.change_pending__number() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  own_import bigint;
  new_token bigint;
  notified text;
begin
  if new.xmax = '0' then  -- no later statement changed the counts: the row is still in its place
    delete from quake.change_pending p where p.ctid = new.ctid;
  else
    delete from quake.change_pending p
     where p.ctid = case when current_setting('quake.pending', true) ~ '^\([0-9]{1,9},[0-9]{1,4}\)$'
                         then current_setting('quake.pending')::tid end
       and p.xid = new.xid and p.transaction_id = new.transaction_id
    returning p.inserted, p.updated, p.deleted, p.truncated
      into new.inserted, new.updated, new.deleted, new.truncated;
    if not found then  -- the setting was overwritten
      delete from quake.change_pending p
       where p.xid = new.xid and p.transaction_id = new.transaction_id
      returning p.inserted, p.updated, p.deleted, p.truncated
        into new.inserted, new.updated, new.deleted, new.truncated;
    end if;
  end if;

  -- Without a flush at commit, a token could be delivered, lost in a crash, and then be given to another
  -- transaction.
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;

  -- The setting counts only if this transaction itself wrote the row of that import.
  if current_setting('quake.import', true) ~ '^[0-9]{1,18}$' then
    select i.id into own_import from quake.import i
     where i.id = current_setting('quake.import')::bigint and i.xmin = pg_current_xact_id()::xid;
  end if;

  -- The lock comes before the number, or another transaction could commit in between.
  lock table quake.commit_lock in share update exclusive mode;
  insert into quake.change_transaction as t values (
    nextval('quake.token'), substr(gen_random_uuid()::text, 1, 8), new.transaction_id,
    nullif(left(current_setting('quake.author', true), 200), ''),
    nullif(left(current_setting('quake.context', true), 2000), ''),
    nullif(current_setting('application_name'), ''), session_user, pg_backend_pid(),
    inet_client_addr(), clock_timestamp(),
    new.inserted, new.updated, new.deleted, new.truncated, own_import)
  -- The JSON is formatted as text, because json_build_object costs twice as much. A notification holds
  -- at most 8,000 bytes; an author of 200 characters has at most 2,400.
  returning t.token, case
    when pg_notification_queue_usage() < 0.25 then pg_notify('quake_changes', format(
      '{"token" : "%s.%s", "author" : %s, "inserted" : %s, "updated" : %s, "deleted" : %s, "truncated" : %s}',
      t.token, t.nonce, coalesce(to_json(t.author)::text, 'null'),
      t.inserted, t.updated, t.deleted, t.truncated))::text
    when current_setting('max_prepared_transactions') <> '0' then pg_export_snapshot() end
    into new_token, notified;
  if own_import is not null then
    update quake.import i set token = new_token where i.id = own_import;
  end if;
  return null;
end
$$;
comment on function quake.change_pending__number() is 'gives a transaction its token at commit, in commit order, and notifies the channel quake_changes unless the notification queue is a quarter full';

create constraint trigger change_pending_10_number
  after insert on quake.change_pending
  deferrable initially deferred
  for each row execute function quake.change_pending__number();

-- Recording: the triggers on quake.quake

-- Statement-level triggers with transition tables: row-level ones cost 1.4 to 2.8 times as much. An
-- insert with "on conflict do update" fires both the update and the insert trigger, even if it wrote
-- nothing: each looks at its own transition table, and writes nothing if that is empty.
create function quake.quake__record_insert() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  with pending as (
    select quake.change_pending__add(count(*), 0, 0, 0) as transaction_id from new_rows
  )
  insert into quake.quake_version (
    transaction_id, op,
      code, net, net_code, source, type, status, magnitude, magnitude_type,
      place, time, updated, longitude, latitude, depth, title, url,
      detail, felt, cdi, mmi, alert, tsunami, sig, nst,
      dmin, rms, gap, ids, sources, types, as_of, validated,
      withdrawn_at, superseded_by)
  select (select p.transaction_id from pending p), 'insert',
      n.code, n.net, n.net_code, n.source, n.type, n.status, n.magnitude, n.magnitude_type,
      n.place, n.time, n.updated, n.longitude, n.latitude, n.depth, n.title, n.url,
      n.detail, n.felt, n.cdi, n.mmi, n.alert, n.tsunami, n.sig, n.nst,
      n.dmin, n.rms, n.gap, n.ids, n.sources, n.types, n.as_of, n.validated,
      n.withdrawn_at, n.superseded_by
    from new_rows n;
  return null;
end
$$;
comment on function quake.quake__record_insert() is 'records inserted events in quake_version';

-- Old and new rows must be joined by a hash join. PostgreSQL plans the join once, at a time when the
-- transition tables may hold a single row, and keeps the plan: a nested loop took 70 s for 20,000 rows.
create function quake.quake__record_update() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
  set enable_nestloop = off
  set jit = off
as $$
begin
  with difference as materialized (
    select n as row, c.changed
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
          case when o.superseded_by is distinct from n.superseded_by then 'superseded_by' end
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
      withdrawn_at, superseded_by)
  select (select p.transaction_id from pending p), 'update', d.changed,
      (d.row).code, (d.row).net, (d.row).net_code, (d.row).source, (d.row).type,
      (d.row).status, (d.row).magnitude, (d.row).magnitude_type, (d.row).place, (d.row).time,
      (d.row).updated, (d.row).longitude, (d.row).latitude, (d.row).depth, (d.row).title,
      (d.row).url, (d.row).detail, (d.row).felt, (d.row).cdi, (d.row).mmi,
      (d.row).alert, (d.row).tsunami, (d.row).sig, (d.row).nst, (d.row).dmin,
      (d.row).rms, (d.row).gap, (d.row).ids, (d.row).sources, (d.row).types,
      (d.row).as_of, (d.row).validated, (d.row).withdrawn_at, (d.row).superseded_by
    from difference d;
  return null;
end
$$;
comment on function quake.quake__record_update() is 'records updates that changed something in quake_version';

create function quake.quake__record_delete() returns trigger
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
      withdrawn_at, superseded_by)
  select (select p.transaction_id from pending p), 'delete',
      o.code, o.net, o.net_code, o.source, o.type, o.status, o.magnitude, o.magnitude_type,
      o.place, o.time, o.updated, o.longitude, o.latitude, o.depth, o.title, o.url,
      o.detail, o.felt, o.cdi, o.mmi, o.alert, o.tsunami, o.sig, o.nst,
      o.dmin, o.rms, o.gap, o.ids, o.sources, o.types, o.as_of, o.validated,
      o.withdrawn_at, o.superseded_by
    from old_rows o;
  return null;
end
$$;
comment on function quake.quake__record_delete() is 'records deleted events, with their last values, in quake_version';

create function quake.quake__record_truncate() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  insert into quake.quake_version (transaction_id, op)
  values (quake.change_pending__add(0, 0, 0, 1), 'truncate');
  return null;
end
$$;
comment on function quake.quake__record_truncate() is 'records that the table of events was truncated';

create function quake.quake__refuse_code_change() returns trigger
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception 'cannot change the code of event "%" to "%"', old.code, new.code
    using errcode = 'integrity_constraint_violation', schema = 'quake', table = 'quake', column = 'code',
          hint = 'Delete the event and insert it under its new code.';
end
$$;
comment on function quake.quake__refuse_code_change() is 'refuses to change the code of an event, by which its history is found';

-- A trigger runs whether or not the writing role may execute its function. Other roles could only
-- attach these functions to tables of their own, whose rows the functions would then write into the
-- history with the owner's rights.
revoke all on function
  quake.change_pending__number(), quake.quake__record_insert(), quake.quake__record_update(),
  quake.quake__record_delete(), quake.quake__record_truncate() from public;

create trigger quake_10_refuse_code_change
  before update of code on quake.quake
  for each row when (old.code is distinct from new.code)
  execute function quake.quake__refuse_code_change();
create trigger quake_20_record_insert
  after insert on quake.quake
  referencing new table as new_rows
  for each statement execute function quake.quake__record_insert();
create trigger quake_20_record_update
  after update on quake.quake
  referencing old table as old_rows new table as new_rows
  for each statement execute function quake.quake__record_update();
create trigger quake_20_record_delete
  after delete on quake.quake
  referencing old table as old_rows
  for each statement execute function quake.quake__record_delete();
create trigger quake_20_record_truncate
  after truncate on quake.quake
  for each statement execute function quake.quake__record_truncate();

-- Reading: tokens

-- The oldest token that is still valid. 0004 explains how a purge raises it.
create table quake.history_floor (
  single boolean not null default true,
  token bigint not null default 0,
  raised_at timestamptz,
  purged_to bigint not null default 0,
  purged_version bigint not null default 0,
  constraint history_floor_pkey primary key (single),
  constraint history_floor_single check (single)
);
insert into quake.history_floor default values;

comment on table quake.history_floor is 'how far back the history reaches: one row';
comment on column quake.history_floor.single is 'always true, so that there is one row only';
comment on column quake.history_floor.token is 'number of the oldest valid token; 0: nothing was ever purged';
comment on column quake.history_floor.raised_at is 'when the floor was last raised';
comment on column quake.history_floor.purged_to is 'number of the transaction that the purge has reached; the purge is done when that is the floor';
comment on column quake.history_floor.purged_version is 'id of the last version of that transaction that the purge has passed';

create function quake.latest_token() returns text
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select coalesce((select t.token || '.' || t.nonce from quake.change_transaction t order by t.token desc limit 1), '0')
$$;
comment on function quake.latest_token() is 'the newest token; 0 before the first change';

create function quake.oldest_token() returns text
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select coalesce((select t.token || '.' || t.nonce
                     from quake.history_floor f join quake.change_transaction t on t.token = f.token), '0')
$$;
comment on function quake.oldest_token() is 'the oldest valid token; 0 if nothing was ever purged';

create function quake.token_at(p_time timestamptz) returns text
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  -- By token, not by time: a clock that was set back must not hide later transactions.
  select coalesce((select t.token || '.' || t.nonce from quake.change_transaction t
                    where t.at <= p_time order by t.token desc limit 1), '0')
$$;
comment on function quake.token_at(timestamptz) is 'the newest token of a transaction that had committed at a time, by the server''s clock; 0 before the first';

create function quake.token__refuse_expired(p_token text) returns void
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception 'token % has expired', p_token
    using errcode = 'QK002',
          detail = format('The history up to %s was purged; that is the oldest token that is still valid.', quake.oldest_token()),
          hint = 'Begin again with a snapshot.';
end
$$;
comment on function quake.token__refuse_expired(text) is 'raises the error for a token below the floor';

create function quake.history_covers(p_number bigint) returns boolean
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  if p_number < (select f.token from quake.history_floor f) then
    perform quake.token__refuse_expired(p_number::text);
  end if;
  return true;
end
$$;
comment on function quake.history_covers(bigint) is 'true if the history after the token of this number is complete, otherwise an error with SQLSTATE QK002; to be called in the statement that reads the history';

create function quake.token_number(p_token text) returns bigint
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  number bigint := 0;
  floor bigint;
  newest quake.change_transaction;
  found_nonce text;
begin
  if p_token is null or p_token !~ '^(0|[1-9][0-9]{0,17}\.[0-9a-f]{8})$' then
    raise exception 'malformed token "%"', p_token
      using errcode = 'QK001', hint = 'A token is a number, a dot and 8 hexadecimal digits, such as 1042.9f3ac2d1; 0 stands for the beginning.';
  end if;
  select f.token into floor from quake.history_floor f;
  if p_token <> '0' then
    number := split_part(p_token, '.', 1)::bigint;
    select t.nonce into found_nonce from quake.change_transaction t where t.token = number;
    if found_nonce is null or found_nonce <> split_part(p_token, '.', 2) then
      select t.* into newest from quake.change_transaction t order by t.token desc limit 1;
      if newest.token is null or number > newest.token then
        raise exception 'token % is in the future', p_token
          using errcode = 'QK004', detail = format('The newest token here is %s.', quake.latest_token()),
                hint = 'The database was restored to an earlier state, or the token is another database''s.';
      end if;
      -- A purged transaction has left no nonce to compare: its token has expired, see below.
      if found_nonce is not null or number > floor then
        raise exception 'history diverged at token %', p_token
          using errcode = 'QK003',
                detail = case when found_nonce is null then format('There is no transaction %s here.', number)
                              else format('Transaction %s is %s.%s here.', number, number, found_nonce) end,
                hint = 'The database was restored or failed over and lost that transaction, or the token is another database''s. Begin again with a snapshot.';
      end if;
    end if;
  end if;
  if number < floor then
    perform quake.token__refuse_expired(p_token);
  end if;
  return number;
end
$$;
comment on function quake.token_number(text) is 'the number of a token whose nonce proves that it belongs to this history; otherwise an error with SQLSTATE QK001 (malformed), QK002 (expired), QK003 (diverged) or QK004 (in the future)';

-- Reading: changes, states and versions

create function quake.changes_since(p_token text)
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
            v.withdrawn_at, v.superseded_by)::quake.event as row
       from quake.quake_version v where v.transaction_id = t.transaction_id) v
    left join lateral (
     select row(p.code, p.net, p.net_code, p.source, p.type, p.status, p.magnitude, p.magnitude_type,
            p.place, p.time, p.updated, p.longitude, p.latitude, p.depth, p.title, p.url,
            p.detail, p.felt, p.cdi, p.mmi, p.alert, p.tsunami, p.sig, p.nst,
            p.dmin, p.rms, p.gap, p.ids, p.sources, p.types, p.as_of, p.validated,
            p.withdrawn_at, p.superseded_by)::quake.event as row
       from quake.quake_version p
      where v.op = 'update' and p.code = v.code and p.id < v.id order by p.id desc limit 1) p on true
   order by t.token, v.id
$$;
comment on function quake.changes_since(text) is 'every change after a token, in commit order; after 0 all of them. old and new are whole events; new is null for a delete, old for an insert, both for a truncate';

create function quake.as_of(p_token text) returns setof quake.event
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
         n.withdrawn_at, n.superseded_by
    from newest n where n.op <> 'delete'
$$;
comment on function quake.as_of(text) is 'the events as they were just after the transaction of a token';

create function quake.as_of(p_time timestamptz) returns setof quake.event
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select * from quake.as_of(quake.token_at(p_time))
$$;
comment on function quake.as_of(timestamptz) is 'the events as they were at a time, by the server''s clock';

-- Looks only at the events that were changed between the two tokens, each with two look-ups in the index
-- on codes. The ids of an event's versions are in the order of its changes: the last version before the
-- first change in between is the event's earlier state, and the last version in between is its later
-- state. A truncate in between changes every event.
create function quake.difference(p_from text, p_to text)
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
                o.withdrawn_at, o.superseded_by)::quake.event end as low,
           case when c.is then row(
                n.code, n.net, n.net_code, n.source, n.type, n.status, n.magnitude,
                n.magnitude_type, n.place, n.time, n.updated, n.longitude, n.latitude, n.depth,
                n.title, n.url, n.detail, n.felt, n.cdi, n.mmi, n.alert, n.tsunami, n.sig, n.nst,
                n.dmin, n.rms, n.gap, n.ids, n.sources, n.types, n.as_of, n.validated,
                n.withdrawn_at, n.superseded_by)::quake.event end as high,
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
             case when o.superseded_by is distinct from n.superseded_by then 'superseded_by' end
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
comment on function quake.difference(text, text) is 'net changes between two tokens, in the order of codes; from a later token to an earlier one, the changes that would undo them';

create function quake.versions(p_code text)
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
               o.withdrawn_at, o.superseded_by)::quake.event as event
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
comment on function quake.versions(text) is 'the versions of an event that the history holds, the oldest first; event is null for a truncate that removed it';
