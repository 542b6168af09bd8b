-- The history: what changed (quake_version), who changed it and in which order (change_transaction).
--
-- All of it is in SQL, so that psql and every other client is recorded just as our own tools are.
--
-- The order of a token is the order of commits. A number taken when a transaction makes its first
-- change would not be: a transaction that takes 41 and commits after 42 is never seen by a reader
-- that is already at 42. So a transaction's first change only leaves a row in change_pending, and
-- a deferred trigger on that row, which runs at commit, numbers the transaction under a lock that is
-- held until the commit is visible. A transaction left open holds no lock and blocks nobody.

create sequence quake.transaction_id;
comment on sequence quake.transaction_id is 'numbers transactions at their first change; ties versions to their transaction, says nothing of order';

create sequence quake.token;
comment on sequence quake.token is 'numbers transactions at their commit, in commit order';

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
  constraint change_transaction_nonce_form check (nonce ~ '^[0-9a-f]{8}$'),
  constraint change_transaction_import foreign key (import_id) references quake.import (id) on delete set null
);
create index change_transaction_at on quake.change_transaction (at);
create index change_transaction_import_id on quake.change_transaction (import_id) where import_id is not null;

comment on table quake.change_transaction is 'one row for each committed transaction that changed events, in commit order';
comment on column quake.change_transaction.token is 'number of the transaction, in commit order; written token.nonce where it leaves the database';
comment on column quake.change_transaction.nonce is 'random, 8 hexadecimal digits: proves that a reader with this token continues this very history';
comment on column quake.change_transaction.transaction_id is 'ties the versions in quake_version to the transaction';
comment on column quake.change_transaction.author is 'who made the change, as the writer says it: set local quake.author = ...';
comment on column quake.change_transaction.context is 'what for, as the writer says it: set local quake.context = ...';
comment on column quake.change_transaction.application_name is 'application_name of the writing session';
comment on column quake.change_transaction.database_user is 'role the session had logged in as';
comment on column quake.change_transaction.process_id is 'process id of the server process that wrote';
comment on column quake.change_transaction.client_address is 'address of the client; null over a Unix socket';
comment on column quake.change_transaction.at is 'when it was numbered, just before its commit';
comment on column quake.change_transaction.inserted is 'events inserted';
comment on column quake.change_transaction.updated is 'updates that changed something';
comment on column quake.change_transaction.deleted is 'events deleted';
comment on column quake.change_transaction.truncated is 'times the table was truncated';
comment on column quake.change_transaction.import_id is 'the import that made the change, if one did';

-- The identity must not cache: a session that took numbers in advance would give an event's later
-- version the smaller id.
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
  constraint quake_version_pkey primary key (transaction_id, id),
  constraint quake_version_op_known check (op in ('insert', 'update', 'delete', 'truncate')),
  constraint quake_version_code_present check ((code is null) = (op = 'truncate')),
  constraint quake_version_changed_present check ((changed is null) = (op <> 'update'))
);
create index quake_version_code on quake.quake_version (code, id);
create index quake_version_truncate on quake.quake_version (id) where op = 'truncate';

comment on table quake.quake_version is 'one row for each change of one event: the event as it was after the change (for a delete: before it)';
comment on column quake.quake_version.id is 'number of the change; grows along each event''s versions and within a transaction';
comment on column quake.quake_version.transaction_id is 'the transaction it belongs to (change_transaction.transaction_id)';
comment on column quake.quake_version.op is 'insert, update, delete or truncate; a truncate has no event';
comment on column quake.quake_version.changed is 'names of the columns that an update changed';
-- The event's columns mean what they mean in quake.quake.
do $$
declare
  described record;
begin
  for described in
    select a.attname as name, d.description as text
      from pg_catalog.pg_attribute a
      join pg_catalog.pg_description d
        on d.classoid = 'pg_catalog.pg_class'::regclass and d.objoid = a.attrelid
       and d.objsubid = a.attnum
     where a.attrelid = 'quake.quake'::regclass and a.attnum > 0
  loop
    execute format('comment on column quake.quake_version.%I is %L', described.name, described.text);
  end loop;
end
$$;

-- Unlogged, because its rows live only as long as the transaction that wrote them. There is no
-- index: a row is found by its place (ctid), in constant time however many statements a transaction
-- has and however late vacuum comes, and without predicate locks on a shared index page, which
-- would make concurrent serializable writers fail for no reason.
create unlogged table quake.change_pending (
  xid xid8 not null,
  transaction_id bigint not null,
  inserted bigint not null,
  updated bigint not null,
  deleted bigint not null,
  truncated bigint not null
);
comment on table quake.change_pending is 'transactions that have changed events and have not committed; empty but for those';
comment on column quake.change_pending.xid is 'the transaction, as PostgreSQL numbers it';
comment on column quake.change_pending.transaction_id is 'the transaction, as the versions name it';
comment on column quake.change_pending.inserted is 'events inserted so far';
comment on column quake.change_pending.updated is 'updates that changed something so far';
comment on column quake.change_pending.deleted is 'events deleted so far';
comment on column quake.change_pending.truncated is 'times the table was truncated so far';

-- The place of the transaction's row is remembered in the setting quake.pending, which a rollback to
-- a savepoint takes back together with the row. Anybody can write the setting, so it is only a
-- hint: the row it points at counts if it belongs to this very transaction, otherwise a new one is
-- made.
create function quake.change_pending__add(
  p_inserted bigint, p_updated bigint, p_deleted bigint, p_truncated bigint
) returns bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  place constant text := current_setting('quake.pending', true);
  pending record;
begin
  if place ~ '^\([0-9]{1,9},[0-9]{1,4}\)$' then
    update quake.change_pending p
       set inserted = p.inserted + p_inserted, updated = p.updated + p_updated,
           deleted = p.deleted + p_deleted, truncated = p.truncated + p_truncated
     where p.ctid = place::tid and p.xid = pg_current_xact_id()
    returning p.transaction_id, p.ctid as place into pending;
    if found then
      perform set_config('quake.pending', pending.place::text, true);
      return pending.transaction_id;
    end if;
  end if;
  insert into quake.change_pending as p
  values (pg_current_xact_id(), nextval('quake.transaction_id'), p_inserted, p_updated, p_deleted, p_truncated)
  returning p.transaction_id, p.ctid as place into pending;
  perform set_config('quake.pending', pending.place::text, true);
  return pending.transaction_id;
end
$$;
revoke all on function quake.change_pending__add(bigint, bigint, bigint, bigint) from public;
comment on function quake.change_pending__add(bigint, bigint, bigint, bigint) is 'adds to the counts of the running transaction; the first call marks it as one to be numbered at commit';

-- Runs at commit. What can be done before the lock is done before it: every writer's commit passes
-- through here one at a time, as PostgreSQL itself lets commits that notify.
create function quake.change_pending__number() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  place constant text := current_setting('quake.pending', true);
  import_setting constant text := current_setting('quake.import', true);
  author constant text := nullif(current_setting('quake.author', true), '');
  context constant text := nullif(current_setting('quake.context', true), '');
  nonce constant text := substr(gen_random_uuid()::text, 1, 8);
  pending quake.change_pending;
  import_id bigint;
  new_token bigint;
begin
  if place ~ '^\([0-9]{1,9},[0-9]{1,4}\)$' then
    delete from quake.change_pending p
     where p.ctid = place::tid and p.xid = new.xid and p.transaction_id = new.transaction_id
    returning p.* into pending;
  end if;
  if pending.xid is null then  -- somebody meddled with the setting
    delete from quake.change_pending p
     where p.xid = new.xid and p.transaction_id = new.transaction_id
    returning p.* into pending;
  end if;
  perform set_config('quake.pending', '', true);

  -- Without a flush at commit a token could be delivered, lost in a crash, and then be used again
  -- for something else.
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;

  -- Only an import that this transaction itself wrote may claim it.
  if import_setting ~ '^[0-9]{1,18}$' then
    select i.id into import_id from quake.import i
     where i.id = import_setting::bigint and i.xmin = pg_current_xact_id()::xid;
  end if;

  -- The key is 'quake' in ASCII followed by 01: any number would do, as long as nobody else's lock
  -- uses it.
  perform pg_advisory_xact_lock(x'7175616b6501'::bigint);
  new_token := nextval('quake.token');
  insert into quake.change_transaction values (
    new_token, nonce, pending.transaction_id, author, context,
    nullif(current_setting('application_name'), ''), session_user, pg_backend_pid(),
    inet_client_addr(), clock_timestamp(),
    pending.inserted, pending.updated, pending.deleted, pending.truncated, import_id);
  if import_id is not null then
    update quake.import i set token = new_token where i.id = import_id;
  end if;
  -- A notification holds at most 8,000 bytes; an author of 200 characters is at most 2,400.
  perform pg_notify('quake_changes', json_build_object(
    'token', new_token || '.' || nonce, 'author', left(author, 200),
    'inserted', pending.inserted, 'updated', pending.updated,
    'deleted', pending.deleted, 'truncated', pending.truncated)::text);
  return null;
end
$$;
comment on function quake.change_pending__number() is 'numbers a transaction at its commit and rings the bell (channel quake_changes)';

create constraint trigger change_pending_10_number
  after insert on quake.change_pending
  deferrable initially deferred
  for each row execute function quake.change_pending__number();

-- Statement-level triggers with transition tables: row-level ones cost 1.4 to 2.8 times as much. An
-- insert with on conflict do update fires both the update and the insert trigger, even when it wrote
-- nothing: each looks at its own rows, and without any writes nothing.
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

-- The join of old and new rows must be a hash join. The plan is made once, when the transition
-- tables may hold one row, and kept: as a nested loop it took 70 s for 20,000 rows.
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
  -- Within one statement the order of its insert and its delete is not known here, and the history
  -- would end with an event deleted that is there.
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
comment on function quake.quake__refuse_code_change() is 'an event''s code is its identity: its history hangs on it';

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

-- Reading the history

create function quake.latest_token() returns text
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select coalesce((select t.token || '.' || t.nonce from quake.change_transaction t order by t.token desc limit 1), '0')
$$;
comment on function quake.latest_token() is 'the newest token; 0 before the first change';

create function quake.token_number(p_token text) returns bigint
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  number bigint;
  newest quake.change_transaction;
  found_nonce text;
begin
  if p_token = '0' then
    return 0;
  end if;
  if p_token is null or p_token !~ '^[1-9][0-9]{0,17}\.[0-9a-f]{8}$' then
    raise exception 'malformed token "%"', p_token
      using errcode = 'QK001', hint = 'A token is a number, a dot and 8 hexadecimal digits, such as 1042.9f3ac2d1; 0 stands for the beginning.';
  end if;
  number := split_part(p_token, '.', 1)::bigint;
  select t.nonce into found_nonce from quake.change_transaction t where t.token = number;
  if found_nonce = split_part(p_token, '.', 2) then
    return number;
  end if;
  select t.* into newest from quake.change_transaction t order by t.token desc limit 1;
  if newest.token is null or number > newest.token then
    raise exception 'token % is in the future', p_token
      using errcode = 'QK004', detail = format('The newest token here is %s.', quake.latest_token()),
            hint = 'The database was restored to an earlier state, or the token is another database''s.';
  end if;
  raise exception 'history diverged at token %', p_token
    using errcode = 'QK003',
          detail = case when found_nonce is null then format('There is no transaction %s here.', number)
                        else format('Transaction %s is %s.%s here.', number, number, found_nonce) end,
          hint = 'The database was restored or failed over and lost that transaction, or the token is another database''s. Begin again with a snapshot.';
end
$$;
comment on function quake.token_number(text) is 'the number of a token whose nonce proves that it is of this history; an error with SQLSTATE QK001 (malformed), QK003 (diverged) or QK004 (in the future) otherwise';

create function quake.changes_since(p_token text)
  returns table (
    token text, "position" bigint, op text, code text, changed text[], old quake.quake, new quake.quake,
    author text, context text, application_name text, database_user text, process_id integer,
    client_address inet, at timestamptz, import_id bigint)
  language sql stable
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
  -- By itself, for the error: below it is not asked where there is nothing to compare it with.
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
            v.withdrawn_at, v.superseded_by)::quake.quake as row
       from quake.quake_version v where v.transaction_id = t.transaction_id) v
    left join lateral (
     select row(p.code, p.net, p.net_code, p.source, p.type, p.status, p.magnitude, p.magnitude_type,
            p.place, p.time, p.updated, p.longitude, p.latitude, p.depth, p.title, p.url,
            p.detail, p.felt, p.cdi, p.mmi, p.alert, p.tsunami, p.sig, p.nst,
            p.dmin, p.rms, p.gap, p.ids, p.sources, p.types, p.as_of, p.validated,
            p.withdrawn_at, p.superseded_by)::quake.quake as row
       from quake.quake_version p
      where v.op = 'update' and p.code = v.code and p.id < v.id order by p.id desc limit 1) p on true
   order by t.token, v.id
$$;
comment on function quake.changes_since(text) is 'every change after a token, in commit order; 0 for all. old and new are whole events; new is null for a delete, old for an insert, both for a truncate';

create function quake.as_of(p_token text) returns setof quake.quake
  language sql stable
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
  select quake.token_number(p_token);  -- by itself for the error, as above
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
