-- Settings of a session, publications and incremental models.

-- Settings of a session

-- With standard_conforming_strings = off, which older applications set for a role or a database, a backslash in
-- a literal is read as the beginning of an escape: the place of the transaction's row was never recognised, and
-- each statement got a token of its own. These patterns have brackets where they had backslashes, because a
-- "set" clause would cost something at each call. A test looks for backslashes in all functions.
create or replace function quake.change_pending__add(
  p_inserted bigint, p_updated bigint, p_deleted bigint, p_truncated bigint
) returns bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
as $$
declare
  place text := current_setting('quake.pending', true);
  transaction_id bigint;
begin
  if place ~ '^[(][0-9]{1,9},[0-9]{1,4}[)]$' then
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

create or replace function quake.change_pending__number() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
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
     where p.ctid = case when current_setting('quake.pending', true) ~ '^[(][0-9]{1,9},[0-9]{1,4}[)]$'
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

create or replace function quake.token_number(p_token text) returns bigint
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  number bigint := 0;
  floor bigint;
  newest quake.change_transaction;
  found_nonce text;
begin
  if p_token is null or p_token !~ '^(0|[1-9][0-9]{0,17}[.][0-9a-f]{8})$' then
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

-- A day of newer_than has 24 hours in every time zone.
alter function quake.alerts_since(
  text, interval, double precision, text[], double precision, double precision, double precision, boolean,
  boolean, double precision, double precision, double precision, integer, interval) set timezone = 'UTC';

-- Publications

-- A publication for all tables makes PostgreSQL refuse deletes from a table without a replica identity. A key
-- would make two transactions that note the same event wait for each other.
alter table quake.association_pending replica identity full;

-- Incremental models

create view quake.change as
select t.token as token_number, v.id as version, t.token || '.' || t.nonce as token, v.op,
       coalesce(v.changed, '{}') as changed,
       v.code, v.net, v.net_code, v.source, v.type, v.status, v.magnitude, v.magnitude_type,
       v.place, v.time, v.updated, v.longitude, v.latitude, v.depth, v.title, v.url, v.detail,
       v.felt, v.cdi, v.mmi, v.alert, v.tsunami, v.sig, v.nst, v.dmin, v.rms, v.gap, v.ids,
       v.sources, v.types, v.as_of, v.validated, v.withdrawn_at, v.superseded_by, v.first_stored,
       t.author, t.context, t.application_name, t.database_user, t.process_id, t.client_address, t.at,
       t.import_id
  from quake.change_transaction t
  join quake.quake_version v on v.transaction_id = t.transaction_id;
comment on view quake.change is 'every change that the history holds, one row each: who made it, when, and the event as it was afterwards; in the order of token_number and version. Below the floor of the history it holds only the last change of each event';
comment on column quake.change.token_number is 'number of the transaction, in commit order: a transaction that commits later has a greater one';
comment on column quake.change.version is 'number of the version: orders the changes of one transaction';
comment on column quake.change.token is 'token of the transaction, as in changes_since';
comment on column quake.change.op is 'insert, update, delete or truncate';
comment on column quake.change.changed is 'the columns that an update changed; empty for other changes';
comment on column quake.change.code is 'the event (quake.code); null for a truncate. This and the following columns of quake.quake have the values after the change; a delete has the last ones';
comment on column quake.change.net is 'id of the network that is the preferred source (us, ci, ak, ...)';
comment on column quake.change.net_code is 'the network''s own code for the event; not unique';
comment on column quake.change.source is 'the catalogue that the row comes from (usgs, emsc, geonet); local if no feed wrote it';
comment on column quake.change.type is 'kind of event: earthquake, quarry blast, ice quake, explosion, ...';
comment on column quake.change.status is 'automatic, reviewed or deleted, as the feed spells it';
comment on column quake.change.magnitude is 'preferred magnitude; zero and negative ones are ordinary; null: not determined';
comment on column quake.change.magnitude_type is 'magnitude type (ml, md, mb, mww, ...), as the feed spells it';
comment on column quake.change.place is 'description of the place, for people';
comment on column quake.change.time is 'origin time';
comment on column quake.change.updated is 'when the source last changed the event. It is not a version number: it can also move backwards';
comment on column quake.change.longitude is 'degrees east, -180 to 180; null together with latitude';
comment on column quake.change.latitude is 'degrees north, -90 to 90; null together with longitude';
comment on column quake.change.depth is 'hypocentre depth in kilometres, positive down; negative: above sea level';
comment on column quake.change.title is 'headline, for people';
comment on column quake.change.url is 'the event''s page, for people';
comment on column quake.change.detail is 'address of the event''s detail feed';
comment on column quake.change.felt is 'number of felt reports';
comment on column quake.change.cdi is 'maximum reported intensity, 0 to 12';
comment on column quake.change.mmi is 'maximum estimated instrumental intensity, 0 to 12';
comment on column quake.change.alert is 'PAGER alert level: green, yellow, orange, red, pending';
comment on column quake.change.tsunami is '1 if the event is large and in an oceanic region; does not say whether there was a tsunami';
comment on column quake.change.sig is 'significance, 0 to about 3000; the significant feeds hold events from 600 on';
comment on column quake.change.nst is 'number of stations used for the location';
comment on column quake.change.dmin is 'degrees from the epicentre to the nearest station';
comment on column quake.change.rms is 'root mean square of the travel time residuals, seconds';
comment on column quake.change.gap is 'largest azimuthal gap between stations, degrees';
comment on column quake.change.ids is 'every id of the event, as the feed gives them: comma before, between and after';
comment on column quake.change.sources is 'networks that contributed, in the same form';
comment on column quake.change.types is 'product types available, in the same form';
comment on column quake.change.as_of is 'when the snapshot that the contents of the row come from was generated. An older snapshot does not overwrite them; null: not known, or no snapshot wrote them';
comment on column quake.change.validated is 'state of our own, which no feed overwrites: a person has checked the event';
comment on column quake.change.withdrawn_at is 'state of our own: when the event was withdrawn, because feeds that should hold it do not; null: it is not withdrawn';
comment on column quake.change.superseded_by is 'state of our own: code of the row that describes this earthquake now; null: this row does';
comment on column quake.change.first_stored is 'when the event was first stored; no update changes it, and a restored event has its old one';
comment on column quake.change.author is 'who made the change, as set by the writer: set local quake.author = ...; cut after 200 characters';
comment on column quake.change.context is 'why the change was made, as set by the writer: set local quake.context = ...; cut after 2,000 characters';
comment on column quake.change.application_name is 'application_name of the writing session';
comment on column quake.change.database_user is 'role that the session had logged in as';
comment on column quake.change.process_id is 'process id of the server process that wrote';
comment on column quake.change.client_address is 'address of the client; null over a Unix socket';
comment on column quake.change.at is 'when it got its token, just before its commit';
comment on column quake.change.import_id is 'the import that made the change (import.id); null: none did';

-- Two workers could get one feed: to one that had begun before the other connected, the holder looked like a session
-- that is no worker, and it took another lock.
create or replace function quake.feed_lock__take(p_feeds text[]) returns table(feed text, foreign_pid integer, foreign_role name)
    language plpgsql
    set search_path = pg_catalog, pg_temp
    as $$
declare
  key integer;
begin
  for feed in
    select s.name from quake.feed_status s where s.name = any (p_feeds) and not s.held
     order by array_position(p_feeds, s.name)
  loop
    foreign_pid := null;
    foreign_role := null;
    select f.lock_key into key from quake.feed f where f.name = feed for update skip locked;
    continue when not found;
    if not pg_try_advisory_lock(1903518059, key) then
      -- PostgreSQL keeps its list of sessions until the end of the transaction: the holder may have connected since.
      perform pg_stat_clear_snapshot();
      continue when (select s.held from quake.feed_status s where s.name = feed);
      -- The holder is not a worker. A prepared transaction has no process.
      select a.pid, a.usename into foreign_pid, foreign_role
        from pg_locks l left join pg_stat_activity a on a.pid = l.pid
       where l.locktype = 'advisory' and l.granted and l.classid = 1903518059 and l.objsubid = 2
         and l.objid::bigint = key::bigint & 4294967295
         and l.database = (select d.oid from pg_database d where d.datname = current_database())
       limit 1;
      foreign_pid := coalesce(foreign_pid, 0);
      update quake.feed f set lock_key = default where f.name = feed returning f.lock_key into key;
      continue when not pg_try_advisory_lock(1903518059, key);
    end if;
    return next;
  end loop;
end
$$;
