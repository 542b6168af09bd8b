-- What workers share: when each feed is due, which worker polls it, requests to poll it now, and how far
-- each backfill has come.
--
-- A feed is polled by the session that holds its advisory lock: class 1903518059 ('quak' in ASCII), key
-- feed.lock_key. PostgreSQL releases the lock when the session ends, so no process has to clean up after
-- a worker that died.
--
-- Any role that may connect can take an advisory lock with any key, and can see which ones are held. So
-- the key is random, and only roles that may update quake.feed learn it before the lock is held. A lock
-- held by a session of any other role does not count: the feed gets another key.

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
  every interval,
  next_due timestamptz,
  fresh_until timestamptz,
  retry_after timestamptz,
  last_import_id bigint,
  lock_key integer not null default ('x' || left(gen_random_uuid()::text, 8))::bit(32)::integer,
  constraint feed_pkey primary key (name),
  constraint feed_failures_count check (failures >= 0),
  constraint feed_every_positive check (every > interval '0'),
  constraint feed_short_text_length check (
    greatest(octet_length(name), octet_length(etag), octet_length(last_modified)) <= 1024),
  constraint feed_long_text_length check (
    greatest(octet_length(url), octet_length(error)) <= 65536)
);

comment on table quake.feed is 'state of the feeds that workers poll';
comment on column quake.feed.name is 'the feed''s short name';
comment on column quake.feed.url is 'the address that is polled, without a password';
comment on column quake.feed.etag is 'ETag of the last snapshot; sent with the next request, so that the server need not send an unchanged snapshot';
comment on column quake.feed.last_modified is 'Last-Modified of the last snapshot, unchanged; sent as well';
comment on column quake.feed.generated is 'when the last snapshot was generated';
comment on column quake.feed.polled_at is 'when it was last polled';
comment on column quake.feed.succeeded_at is 'when a poll last succeeded; "not modified" is a success';
comment on column quake.feed.failures is 'failed polls since then';
comment on column quake.feed.error is 'error of the last poll; null: it succeeded';
comment on column quake.feed.every is 'time between two polls, as configured for the worker that last polled it';
comment on column quake.feed.next_due is 'when a worker is to poll it next, whichever it is; null: at once';
comment on column quake.feed.fresh_until is 'until when the last answer is fresh, as the server says (Cache-Control, Expires); null: it does not say';
comment on column quake.feed.retry_after is 'when the server may be asked again, as it says (Retry-After); refresh requests wait for that as well; null: it does not say';
comment on column quake.feed.last_import_id is 'its last import (import.id); null: none yet';
comment on column quake.feed.lock_key is 'second key of the advisory lock of the session that polls the feed; the first is 1903518059';

create function quake.feed_lock_key(p_name text) returns integer
  language sql stable strict
  set search_path = pg_catalog, pg_temp
as $$
  select f.lock_key from quake.feed f where f.name = p_name
$$;
comment on function quake.feed_lock_key(text) is 'the second key of the advisory lock of a feed; the first is 1903518059';

create view quake.feed_status as
  select f.name, f.url, f.generated, f.polled_at, f.succeeded_at, f.every, f.next_due, f.failures, f.error,
         f.last_import_id, h.pid as holder_pid, h.application_name as holder_application,
         h.client_addr as holder_address, h.pid is not null as held
    from quake.feed f
    left join (
      select l.objid, a.pid, a.application_name, a.client_addr
        from pg_catalog.pg_locks l
        join pg_catalog.pg_stat_activity a on a.pid = l.pid
       where l.locktype = 'advisory' and l.granted and l.mode = 'ExclusiveLock'
         and l.database = (select d.oid from pg_catalog.pg_database d
                            where d.datname = pg_catalog.current_database())
         and l.classid = 1903518059 and l.objsubid = 2
         and pg_catalog.has_table_privilege(a.usesysid, 'quake.feed', 'update')) h
      on h.objid::bigint = f.lock_key::bigint & 4294967295;
comment on view quake.feed_status is 'the feeds, their state, and the session that polls each';
comment on column quake.feed_status.name is 'the feed''s short name';
comment on column quake.feed_status.url is 'the address that is polled, without a password';
comment on column quake.feed_status.generated is 'when the last snapshot was generated';
comment on column quake.feed_status.polled_at is 'when it was last polled';
comment on column quake.feed_status.succeeded_at is 'when a poll last succeeded; "not modified" is a success';
comment on column quake.feed_status.every is 'time between two polls';
comment on column quake.feed_status.next_due is 'when a worker is to poll it next';
comment on column quake.feed_status.failures is 'failed polls since the last that succeeded';
comment on column quake.feed_status.error is 'error of the last poll; null: it succeeded';
comment on column quake.feed_status.last_import_id is 'its last import (import.id)';
comment on column quake.feed_status.holder_pid is 'process id of the server process of the worker that polls it; null: no worker does';
comment on column quake.feed_status.holder_application is 'application_name of that worker';
comment on column quake.feed_status.holder_address is 'address of that worker; null over a Unix socket';
comment on column quake.feed_status.held is 'whether a worker polls it now';

-- Takes the locks that are free, without waiting. It passes over feeds that a worker polls, without
-- writing anything. It reads and changes the keys of the others while it holds the locks of their rows,
-- so that no two sessions ever hold two keys of one feed.
create function quake.feed_lock__take(p_feeds text[])
  returns table (feed text, foreign_pid integer, foreign_role name)
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
comment on function quake.feed_lock__take(text[]) is 'takes the locks of feeds and returns the feeds whose lock it took. foreign_pid and foreign_role name a session that held the lock without the privilege to poll; 0: a prepared transaction';

-- Requests

create sequence quake.refresh_request_id as bigint cache 1;
comment on sequence quake.refresh_request_id is 'numbers of requests to poll feeds now';

create table quake.refresh_request (
  id bigint not null,
  feed text not null,
  requested_at timestamptz not null default clock_timestamp(),
  requested_by text not null default session_user,
  taken_at timestamptz,
  done_at timestamptz,
  outcome text,
  import_id bigint,
  seen bigint,
  inserted bigint,
  updated bigint,
  error text,
  begun_at timestamptz,
  every_feed boolean not null default false,
  constraint refresh_request_pkey primary key (id, feed),
  constraint refresh_request_outcome_known check (outcome in ('imported', 'not_modified', 'bad_data', 'unavailable', 'failed')),
  constraint refresh_request_outcome_whole check ((outcome is null) = (done_at is null)),
  constraint refresh_request_short_text_length check (
    greatest(octet_length(feed), octet_length(outcome)) <= 1024),
  constraint refresh_request_long_text_length check (
    octet_length(error) <= 65536)
);
create index refresh_request_pending on quake.refresh_request (feed) where done_at is null;
create index refresh_request_requested_at on quake.refresh_request (requested_at);
create index refresh_request_done on quake.refresh_request (id) where done_at is not null;

comment on table quake.refresh_request is 'requests to poll feeds now, one row for each requested feed; finished requests are kept for a day, at most the last thousand of them';
comment on column quake.refresh_request.id is 'number of the request, as returned by request_refresh';
comment on column quake.refresh_request.feed is 'the feed (feed.name)';
comment on column quake.refresh_request.requested_at is 'when it was made; a poll that begins later answers it';
comment on column quake.refresh_request.requested_by is 'role that made the request';
comment on column quake.refresh_request.taken_at is 'when a worker saw it; null: none has';
comment on column quake.refresh_request.done_at is 'when the poll that answers it ended; null: it has not';
comment on column quake.refresh_request.outcome is 'imported, not_modified, or for a failed poll bad_data, unavailable or failed';
comment on column quake.refresh_request.import_id is 'the import that the poll made (import.id)';
comment on column quake.refresh_request.seen is 'records in the feed';
comment on column quake.refresh_request.inserted is 'events that were new';
comment on column quake.refresh_request.updated is 'events whose contents differed';
comment on column quake.refresh_request.error is 'error of the poll; null: it succeeded';
comment on column quake.refresh_request.begun_at is 'when the poll that will answer it began; later requests need another poll. null: it has not begun';
comment on column quake.refresh_request.every_feed is 'whether all feeds were requested at once';

-- Runs with the owner's rights, so that every role that may read may also request a poll, as often as it
-- likes: the worker decides how often it really polls a feed. The table stays small all the same: a
-- request that no poll has begun to answer also serves later callers that request the same, and of the
-- requests that are done only the last thousand are kept.
create function quake.request_refresh(feed text default null) returns bigint
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  asked text[];
  request bigint;
begin
  if not exists (select from quake.feed f where f.name = request_refresh.feed or request_refresh.feed is null) then
    if exists (select from quake.feed f) then
      raise exception 'unknown feed "%"', left(request_refresh.feed, 200)
        using errcode = 'QK005',
              detail = format('The feeds are %s.', (select string_agg(f.name, ', ' order by f.name) from quake.feed f));
    end if;
    raise exception 'there is no feed to refresh'
      using errcode = 'QK005', hint = 'A feed is known as soon as a worker ("quake-ingest run") polls it.';
  end if;
  if request_refresh.feed is not null then
    asked := array[request_refresh.feed];
  else
    -- To find out which feeds are polled takes a look at all locks of the server. A request of the last
    -- second is reused without that look.
    select r.id into request from quake.refresh_request r
     where r.every_feed and r.done_at is null and r.begun_at is null
       and r.requested_at > clock_timestamp() - interval '1 second'
     order by r.id desc limit 1;
    if found then
      return request;
    end if;
    -- A request for a feed that no worker polls any more would never be answered.
    select array_agg(s.name) into asked from quake.feed_status s
     where s.held or not exists (select from quake.feed_status o where o.held);
  end if;

  -- Reuses a request for the same feeds that no poll has begun to answer. Workers ignore requests older
  -- than ten minutes.
  select r.id into request from quake.refresh_request r
   where r.feed = any (asked) and r.done_at is null and r.begun_at is null
     and r.every_feed = (request_refresh.feed is null)
     and r.requested_at > clock_timestamp() - interval '9 minutes'
     and not exists (select from quake.refresh_request o where o.id = r.id and o.feed <> all (asked))
   group by r.id having count(*) = cardinality(asked)
   order by r.id desc limit 1;
  if found then
    return request;
  end if;

  delete from quake.refresh_request r where r.requested_at < now() - interval '1 day';
  delete from quake.refresh_request r
   where r.done_at is not null
     and r.id < (select d.id from quake.refresh_request d where d.done_at is not null
                  order by d.id desc offset 1000 limit 1);
  request := nextval('quake.refresh_request_id');
  insert into quake.refresh_request (id, feed, every_feed)
  select request, a.name, request_refresh.feed is null from unnest(asked) a (name);
  if pg_notification_queue_usage() < 0.25 then
    perform pg_notify('quake_refresh', '');
  end if;
  return request;
end
$$;
comment on function quake.request_refresh(text) is 'requests that workers poll a feed now, or all feeds; returns the number of the request, whose result appears in refresh_request. If the same request was made before and no poll has begun to answer it, it returns the number of that one. An unknown feed is an error with SQLSTATE QK005';

-- Backfills: how far each has come, so that it resumes where it was stopped.
--
-- A window or file is marked as done in the transaction that stores its events: it is either done or
-- still to be fetched, never both. Windows do not overlap, and together they cover the whole span; a
-- window that turns out to hold too many events is split in two.
--
-- The process that works on a backfill holds an advisory lock. Its key is random, too, and is changed if
-- another session holds it that may not work on backfills.

create table quake.backfill (
  id bigint generated always as identity,
  url text not null,
  source text,
  start_time timestamptz,
  end_time timestamptz,
  min_magnitude double precision,
  started_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  expected bigint,
  seen bigint not null default 0,
  inserted bigint not null default 0,
  updated bigint not null default 0,
  unchanged bigint not null default 0,
  rejected bigint not null default 0,
  duplicate bigint not null default 0,
  lock_key bigint not null default ('x' || translate(gen_random_uuid()::text, '-', ''))::bit(64)::bigint,
  constraint backfill_pkey primary key (id),
  constraint backfill_span_whole check ((start_time is null) = (end_time is null)),
  constraint backfill_span_order check (start_time < end_time),
  constraint backfill_counts_whole check (seen = inserted + updated + unchanged + rejected + duplicate),
  constraint backfill_short_text_length check (
    octet_length(source) <= 1024),
  constraint backfill_long_text_length check (
    octet_length(url) <= 65536)
);

comment on table quake.backfill is 'backfills: one row for each span of time requested from an event service, and for each folder or file';
comment on column quake.backfill.id is 'number of the backfill';
comment on column quake.backfill.url is 'base address of the event service, without user name and password, or the absolute path of the folder or file';
comment on column quake.backfill.source is 'the data centre, as in quake.source; null: the files say it';
comment on column quake.backfill.start_time is 'origin time from which on events are requested; null for files';
comment on column quake.backfill.end_time is 'origin time before which events are requested; null for files';
comment on column quake.backfill.min_magnitude is 'smallest magnitude requested; null: all events, also those without a magnitude';
comment on column quake.backfill.started_at is 'when it began';
comment on column quake.backfill.finished_at is 'when all of it was stored; null: it is running, or was stopped and can be resumed';
comment on column quake.backfill.expected is 'number of events in the span, as the service said when the backfill began; null: not known';
comment on column quake.backfill.seen is 'records received: the sum of inserted, updated, unchanged, rejected and duplicate; an event on the border of two windows counts in both';
comment on column quake.backfill.inserted is 'events that were new';
comment on column quake.backfill.updated is 'events whose contents differed';
comment on column quake.backfill.unchanged is 'events left unchanged';
comment on column quake.backfill.rejected is 'records that were rejected; see import_reject';
comment on column quake.backfill.duplicate is 'records whose code occurred again later in the same answer';
comment on column quake.backfill.lock_key is 'key of the advisory lock of the session that works on the backfill';

create table quake.backfill_window (
  backfill_id bigint not null,
  start_time timestamptz not null,
  end_time timestamptz not null,
  state text not null default 'pending',
  count bigint,
  import_id bigint,
  finished_at timestamptz,
  constraint backfill_window_pkey primary key (backfill_id, start_time),
  constraint backfill_window_backfill foreign key (backfill_id) references quake.backfill (id) on delete cascade,
  constraint backfill_window_span_order check (start_time < end_time),
  constraint backfill_window_state_known check (state in ('pending', 'done')),
  constraint backfill_window_state_finished check ((state = 'done') = (finished_at is not null)),
  constraint backfill_window_count check (count >= 0)
);

comment on table quake.backfill_window is 'the windows of time that a backfill requests one by one; together they cover its span';
comment on column quake.backfill_window.backfill_id is 'the backfill (backfill.id)';
comment on column quake.backfill_window.start_time is 'origin time from which on the window holds events';
comment on column quake.backfill_window.end_time is 'origin time before which the window holds events';
comment on column quake.backfill_window.state is 'pending: still to be requested; done: its events are stored';
comment on column quake.backfill_window.count is 'while pending, the number of events that the service says it holds; when done, the number of records received; null: not known';
comment on column quake.backfill_window.import_id is 'the import that stored its events (import.id); null: pending';
comment on column quake.backfill_window.finished_at is 'when its events were stored';

create table quake.backfill_file (
  path text not null,
  backfill_id bigint not null,
  size bigint not null,
  modified_at timestamptz not null,
  import_id bigint,
  finished_at timestamptz not null,
  constraint backfill_file_pkey primary key (path),
  constraint backfill_file_backfill foreign key (backfill_id) references quake.backfill (id) on delete cascade,
  constraint backfill_file_size check (size >= 0)
);
create index backfill_file_backfill on quake.backfill_file (backfill_id);

comment on table quake.backfill_file is 'the files that backfills have stored; a file of the same path, size and modification time is not read again';
comment on column quake.backfill_file.path is 'absolute path on the machine that ran the backfill';
comment on column quake.backfill_file.backfill_id is 'the backfill that last stored it (backfill.id)';
comment on column quake.backfill_file.size is 'size of the file at that time, in bytes';
comment on column quake.backfill_file.modified_at is 'modification time of the file at that time';
comment on column quake.backfill_file.import_id is 'the import that stored its events (import.id)';
comment on column quake.backfill_file.finished_at is 'when its events were stored';
