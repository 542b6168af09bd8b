-- What workers share: when each feed is due, who polls it, and requests to poll it now.
--
-- A feed is polled by the session that holds its advisory lock: class 1903518059 ('quak' in ASCII),
-- key quake.feed_lock_key(name). A lock of a session ends with it, so that nobody has to clean up
-- after a worker that died.

alter table quake.feed
  add column every interval,
  add column next_due timestamptz,
  add column fresh_until timestamptz,
  add column retry_after timestamptz,
  add column last_import_id bigint,
  add constraint feed_every_positive check (every > interval '0');

comment on column quake.feed.every is 'time between two polls, as the worker that polled it last was told';
comment on column quake.feed.next_due is 'when it is to be polled next, whichever worker does it; null: at once';
comment on column quake.feed.fresh_until is 'until when the last answer is fresh, by the server''s word (Cache-Control, Expires); null: it does not say';
comment on column quake.feed.retry_after is 'until when the server wants to be left alone (Retry-After); a refresh does not ask before that either; null: it does not say';
comment on column quake.feed.last_import_id is 'the last import of it (import.id); null: none since this is recorded';

create function quake.feed_lock_key(p_name text) returns integer
  language sql immutable strict
  set search_path = pg_catalog, pg_temp
as $$
  select ('x' || left(md5(p_name), 8))::bit(32)::integer
$$;
comment on function quake.feed_lock_key(text) is 'the second key of the advisory lock of a feed; the first is 1903518059';

create view quake.feed_status as
  select f.name, f.url, f.generated, f.polled_at, f.succeeded_at, f.every, f.next_due, f.failures, f.error,
         f.last_import_id, l.pid as holder_pid, a.application_name as holder_application,
         a.client_addr as holder_address, l.pid is not null as held
    from quake.feed f
    left join pg_catalog.pg_locks l
      on l.locktype = 'advisory' and l.granted and l.mode = 'ExclusiveLock'
     and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = pg_catalog.current_database())
     and l.classid = 1903518059 and l.objsubid = 2
     and l.objid::bigint = quake.feed_lock_key(f.name)::bigint & 4294967295
    left join pg_catalog.pg_stat_activity a on a.pid = l.pid;

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
  constraint refresh_request_pkey primary key (id, feed),
  constraint refresh_request_outcome_known check (outcome in ('imported', 'not_modified', 'bad_data', 'unavailable', 'failed')),
  constraint refresh_request_outcome_whole check ((outcome is null) = (done_at is null))
);
create index refresh_request_pending on quake.refresh_request (feed) where done_at is null;

comment on table quake.refresh_request is 'requests to poll feeds now, a row for each feed asked for; kept for a day';
comment on column quake.refresh_request.id is 'number of the request, as request_refresh returned it';
comment on column quake.refresh_request.feed is 'the feed (feed.name)';
comment on column quake.refresh_request.requested_at is 'when it was asked for; a poll that began later answers it';
comment on column quake.refresh_request.requested_by is 'role that asked';
comment on column quake.refresh_request.taken_at is 'when a worker took notice of it; null: none has';
comment on column quake.refresh_request.done_at is 'when the poll was done; null: it is still to come';
comment on column quake.refresh_request.outcome is 'imported, not_modified (nothing new), or, for a poll that failed, bad_data, unavailable or failed';
comment on column quake.refresh_request.import_id is 'the import that the poll led to (import.id)';
comment on column quake.refresh_request.seen is 'records in the feed';
comment on column quake.refresh_request.inserted is 'events that were new';
comment on column quake.refresh_request.updated is 'events whose contents differed';
comment on column quake.refresh_request.error is 'what the poll failed of; null: it did not';

-- With the owner's rights, so that whoever may read may ask. How often a feed is really polled is the
-- worker's business.
create function quake.request_refresh(feed text default null) returns bigint
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  request bigint;
begin
  if not exists (select from quake.feed f where f.name = request_refresh.feed or request_refresh.feed is null) then
    if exists (select from quake.feed f) then
      raise exception 'unknown feed "%"', request_refresh.feed
        using errcode = 'QK005',
              detail = format('The feeds are %s.', (select string_agg(f.name, ', ' order by f.name) from quake.feed f));
    end if;
    raise exception 'there is no feed to refresh'
      using errcode = 'QK005', hint = 'A feed is known as soon as a worker ("quake-ingest run") polls it.';
  end if;
  delete from quake.refresh_request r where r.requested_at < now() - interval '1 day';
  request := nextval('quake.refresh_request_id');
  if request_refresh.feed is not null then
    insert into quake.refresh_request (id, feed) values (request, request_refresh.feed);
  else
    -- A feed that nobody polls any more would never be done.
    insert into quake.refresh_request (id, feed)
    select request, s.name from quake.feed_status s
     where s.held or not exists (select from quake.feed_status o where o.held);
  end if;
  perform pg_notify('quake_refresh', '');
  return request;
end
$$;
comment on function quake.request_refresh(text) is 'asks the workers to poll a feed now, or all of them; returns the number of the request, whose result comes in refresh_request. An unknown feed is an error with SQLSTATE QK005';
