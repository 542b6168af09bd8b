-- Polling a feed and requesting a poll: CONNECT alone allows neither.

-- The key of a feed's lock. Any role that may connect can take an advisory lock with any key, and see
-- those that are held. So the key is random, only who may update quake.feed learns it before it is
-- held, and a lock that a session of any other role holds does not count: the feed gets another key.
alter table quake.feed
  add column lock_key integer not null default ('x' || left(gen_random_uuid()::text, 8))::bit(32)::integer;
comment on column quake.feed.lock_key is 'second key of the advisory lock of the session that polls the feed; the first is 1903518059';

drop view quake.feed_status;
drop function quake.feed_lock_key(text);
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

comment on view quake.feed_status is 'the feeds, how they are, and which session polls each';
comment on column quake.feed_status.name is 'the feed''s short name';
comment on column quake.feed_status.url is 'where it is polled, without a password';
comment on column quake.feed_status.generated is 'when the last snapshot taken was generated';
comment on column quake.feed_status.polled_at is 'last attempt';
comment on column quake.feed_status.succeeded_at is 'last attempt that succeeded, an unchanged answer included';
comment on column quake.feed_status.every is 'time between two polls';
comment on column quake.feed_status.next_due is 'when it is to be polled next';
comment on column quake.feed_status.failures is 'failed attempts since the last that succeeded';
comment on column quake.feed_status.error is 'what the last attempt failed of; null: it did not';
comment on column quake.feed_status.last_import_id is 'the last import of it (import.id)';
comment on column quake.feed_status.holder_pid is 'process id of the server process of the worker that polls it; null: none does';
comment on column quake.feed_status.holder_application is 'application_name of that worker';
comment on column quake.feed_status.holder_address is 'address of that worker; null over a Unix socket';
comment on column quake.feed_status.held is 'whether a worker polls it now';

-- Takes what can be had without waiting. Feeds that a worker polls are passed over without a write; the
-- others' keys are read, and changed, under the lock of their rows, so that no two sessions ever hold
-- two keys of one feed.
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
      -- Not a worker's. A prepared transaction has no process.
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
comment on function quake.feed_lock__take(text[]) is 'takes the locks of feeds and returns those taken. foreign_pid and foreign_role name the session that held a lock without the privilege to poll; 0: a prepared transaction';

-- The lock of the process that works on a backfill: its number is random, too, and changed when a
-- session holds it that may not.
alter table quake.backfill
  add column lock_key bigint not null default ('x' || translate(gen_random_uuid()::text, '-', ''))::bit(64)::bigint;
comment on column quake.backfill.lock_key is 'key of the advisory lock of the session that works on the backfill';

-- Requests. Whoever may read may ask, as often as he likes: one that a poll has not begun to answer
-- stands for all that ask for the same, and of those that are done the last thousand stay.
alter table quake.refresh_request
  add column begun_at timestamptz,
  add column every_feed boolean not null default false;
comment on column quake.refresh_request.begun_at is 'when a poll began that will answer it; later requests need another. null: none has';
comment on column quake.refresh_request.every_feed is 'whether all feeds were asked for at once';
comment on table quake.refresh_request is 'requests to poll feeds now, a row for each feed asked for; those that are done are kept for a day, the last thousand of them';
create index refresh_request_requested_at on quake.refresh_request (requested_at);
create index refresh_request_done on quake.refresh_request (id) where done_at is not null;

create or replace function quake.request_refresh(feed text default null) returns bigint
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
    -- Who polls which feed takes a look at all locks. What was asked within the last second need not be
    -- looked at again.
    select r.id into request from quake.refresh_request r
     where r.every_feed and r.done_at is null and r.begun_at is null
       and r.requested_at > clock_timestamp() - interval '1 second'
     order by r.id desc limit 1;
    if found then
      return request;
    end if;
    -- A feed that no worker polls any more would never be done.
    select array_agg(s.name) into asked from quake.feed_status s
     where s.held or not exists (select from quake.feed_status o where o.held);
  end if;

  -- The same question, to which no poll has begun to find the answer. Workers leave out what was asked
  -- for ten minutes ago.
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
comment on function quake.request_refresh(text) is 'asks the workers to poll a feed now, or all of them; returns the number of the request, whose result comes in refresh_request. A question that was asked already, and that no poll has begun to answer, has the same number. An unknown feed is an error with SQLSTATE QK005';
