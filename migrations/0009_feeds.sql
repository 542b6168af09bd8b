-- Controlling feeds: a paused feed is not polled until it is resumed, and the feed of a single poll
-- ("quake-ingest run --once") does not need a worker. And the events on the time axis of the feeds.

alter table quake.feed
  add column paused_at timestamptz,
  add column paused_by text,
  add column reset_at timestamptz,
  add column ended_at timestamptz,
  add constraint feed_paused_whole check ((paused_at is null) = (paused_by is null)),
  add constraint feed_paused_by_text_length check (octet_length(paused_by) <= 1024);

comment on column quake.feed.paused_at is 'since when no worker polls it although one may hold its lock; null: it is not paused';
comment on column quake.feed.paused_by is 'role that paused it; null: it is not paused';
comment on column quake.feed.reset_at is 'when its state was last reset; a poll that read the state before stores no validators. null: never';
comment on column quake.feed.ended_at is 'when a worker ended that polled it only once; null: a worker polled it last that was to run until stopped';

create or replace view quake.feed_status as
  select f.name, f.url, f.generated, f.polled_at, f.succeeded_at, f.every, f.next_due, f.failures, f.error,
         f.last_import_id, h.pid as holder_pid, h.application_name as holder_application,
         h.client_addr as holder_address, h.pid is not null as held, f.paused_at, f.paused_by, f.ended_at
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
comment on column quake.feed_status.paused_at is 'since when it is paused; null: it is not';
comment on column quake.feed_status.paused_by is 'role that paused it; null: it is not paused';
comment on column quake.feed_status.ended_at is 'when a worker ended that polled it only once; null: a worker polled it last that was to run until stopped';

-- As before, except that a request for all feeds leaves out those that are paused.
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
    -- To find out which feeds are polled takes a look at all locks of the server. A request of the last
    -- second is reused without that look.
    select r.id into request from quake.refresh_request r
     where r.every_feed and r.done_at is null and r.begun_at is null
       and r.requested_at > clock_timestamp() - interval '1 second'
       and not exists (select from quake.refresh_request o join quake.feed f on f.name = o.feed
                        where o.id = r.id and f.paused_at is not null)
     order by r.id desc limit 1;
    if found then
      return request;
    end if;
    -- A request for a feed that no worker polls any more would never be answered.
    select array_agg(s.name) into asked from quake.feed_status s
     where s.paused_at is null
       and (s.held or not exists (select from quake.feed_status o where o.held and o.paused_at is null));
    if asked is null then
      raise exception 'there is no feed to refresh: all are paused'
        using errcode = 'QK005', hint = '"quake-admin feeds resume" resumes a feed.';
    end if;
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

-- The history on two time axes: that of the commits, and that of the snapshots. After old snapshots were
-- replayed, all commits are of today, but each version still belongs to the time of its snapshot.

create or replace function quake.token__refuse_expired(p_token text) returns void
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
declare
  oldest quake.change_transaction;
begin
  select t.* into oldest
    from quake.history_floor f join quake.change_transaction t on t.token = f.token;
  raise exception 'token % has expired', p_token
    using errcode = 'QK002',
          detail = format('The history up to %s.%s was purged; that is the oldest token that is still valid, of %s.',
                          oldest.token, oldest.nonce, to_char(oldest.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')),
          hint = 'To read the past, ask for that time or a later one; to watch, begin with the oldest change that is still held (--from-oldest), or with the present list of events (--snapshot).';
end
$$;

-- A version that an import stored belongs to the time at which its snapshot was generated; an event that
-- later snapshots lack is withdrawn at theirs. What did not come from a feed belongs to its commit.
create function quake.as_of_feed(p_time timestamptz) returns setof quake.event
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
declare
  complete_from timestamptz;
begin
  -- Below the floor there is only the newest version of each event, so that earlier states are unknown.
  select max(case when t.import_id is not null then coalesce(greatest(i.generated, v.withdrawn_at), v.as_of, t.at)
                  when v.op = 'insert' then coalesce(v.as_of, t.at)
                  else t.at end)
    into complete_from
    from quake.change_transaction t
    join quake.quake_version v on v.transaction_id = t.transaction_id
    left join quake.import i on i.id = t.import_id
   where t.token <= (select f.token from quake.history_floor f);
  if p_time < complete_from then
    raise exception 'the history of the feeds at % was purged', to_char(p_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
      using errcode = 'QK002',
            detail = format('It is complete from %s on.', to_char(complete_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')),
            hint = 'Ask for that time or a later one.';
  end if;
  return query
    with version as materialized (
      select v.id, v.code, v.op, t.at,
             case when t.import_id is not null then coalesce(greatest(i.generated, v.withdrawn_at), v.as_of, t.at)
                  when v.op = 'insert' then coalesce(v.as_of, t.at)
                  else t.at end as feed_time
        from quake.quake_version v
        join quake.change_transaction t on t.transaction_id = v.transaction_id
        left join quake.import i on i.id = t.import_id
    ), newest as (
      select distinct on (v.code) v.id, v.op
        from version v
       where v.op <> 'truncate' and v.feed_time <= p_time
         and v.id > coalesce((select max(e.id) from version e where e.op = 'truncate' and e.at <= p_time), 0)
       order by v.code, v.feed_time desc, v.id desc
    )
    select n.code, n.net, n.net_code, n.source, n.type, n.status, n.magnitude, n.magnitude_type,
           n.place, n.time, n.updated, n.longitude, n.latitude, n.depth, n.title, n.url,
           n.detail, n.felt, n.cdi, n.mmi, n.alert, n.tsunami, n.sig, n.nst,
           n.dmin, n.rms, n.gap, n.ids, n.sources, n.types, n.as_of, n.validated,
           n.withdrawn_at, n.superseded_by, n.first_stored
      from newest w join quake.quake_version n on n.id = w.id
     where w.op <> 'delete';
end
$$;
comment on function quake.as_of_feed(timestamptz) is 'the events as the snapshots had them that were generated by a time, whenever they were imported; changes that did not come from a feed count from their commit';
