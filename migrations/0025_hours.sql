-- oldest schema: 18
--
-- Where events have been, by hour instead of by day, so that a page of the past looks at the events of an hour or two.
--
-- The workers note the history anew. Until they begin, "since" is null, and questions about the past use no notes: in a
-- region, which has this migration before its centre, until the centre's workers do. Only note_past sets it, since a call
-- that began before this migration still notes by day.

-- An area within a window of time: its events alone are read. First, so that readers wait only for the drop.
create index quake_cell_time on quake.quake (quake.quake__cell(longitude, latitude), time);
drop index quake.quake_cell;
alter index quake.quake_cell_time rename to quake_cell;

alter table quake.past_noted add column since bigint;
comment on column quake.past_noted.since is 'the number from which on past_place and past_day are complete, by hour; null: they are not, and note_past begins anew';

do $$
begin
  if not exists (select from quake.regional_database d where d.is_here) then
    truncate quake.past_place, quake.past_day;
    update quake.past_noted n set token = 0, version = null;
  end if;
end
$$;

alter table quake.past_place
  add column hour smallint not null default 0,
  add constraint past_place_hour_range check (hour between 0 and 23);
comment on table quake.past_place is 'hours and cells that events have left, for questions about the past; note_past derives it from the history';
comment on column quake.past_place.hour is 'hour of that day';

-- An index alone answers, so that a question needs no row of other places that lie far apart on the disk.
drop index quake.past_place_day;
drop index quake.past_place_cell;
create index past_place_hour on quake.past_place (day, hour, token) include (cell, code);
create index past_place_cell on quake.past_place (cell, token) include (day, hour, code) where cell is not null;

alter table quake.past_day add column hours bigint[] not null default '{}';
comment on table quake.past_day is 'when the history first had an event of each day and of each of its hours, for questions about the past; note_past derives it from the history';
comment on column quake.past_day.hours is 'the same of each hour of the day, the first of them at 1; null: no event had an origin time in it';

create or replace function quake.note_past(p_rows integer) returns boolean
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
  set enable_hashjoin = off
  set enable_mergejoin = off
  set jit = off
as $$
declare
  floor bigint;
  place quake.past_noted;
  portion record;
begin
  select f.token into floor from quake.history_floor f;
  select n.* into place from quake.past_noted n
   where n.since is null or n.version is not null
         or exists (select from quake.change_transaction t where t.token > n.token)
         or exists (select from quake.past_place p where p.token <= floor)
     for update skip locked;
  if not found then
    return true;  -- there is nothing to do, or another session does it
  end if;
  if place.since is null then
    if exists (select from quake.past_place) or exists (select from quake.past_day) then
      truncate quake.past_place, quake.past_day;
    end if;
    update quake.past_noted n set token = 0, version = null, since = floor
    returning n.* into place;
  end if;
  with passed as materialized (
    select t.token, v.*, v.at::date as day, extract(hour from v.at)::smallint as hour
      from (select t.token, t.transaction_id from quake.change_transaction t
             where t.token >= place.token + (place.version is null)::integer
             order by t.token limit p_rows + 1) t
     cross join lateral (
        select v.id, v.code, v.op, v.changed, v.time at time zone 'UTC' as at,
               quake.quake__cell(v.longitude, v.latitude) as cell
          from quake.quake_version v
         where v.transaction_id = t.transaction_id
           and v.id > case when t.token = place.token then place.version else 0 end
         order by v.id limit p_rows) v
     order by t.token, v.id limit p_rows
  ), day as (
    insert into quake.past_day as o (day, token, hours)
    select h.day, min(h.token), array_agg(h.token order by h.hour)
      from (select p.day, p.hour, min(p.token) as token
              from (select p.day, p.hour, p.token from passed p where p.op in ('insert', 'update')
                     union all
                    -- The array has all hours of the day.
                    select d.day, h.hour, null
                      from (select distinct p.day from passed p where p.op in ('insert', 'update')) d
                     cross join generate_series(0, 23) h (hour)) p
             group by p.day, p.hour) h
     group by h.day
    on conflict (day) do update
      set hours = (select array_agg(coalesce(h.old, h.new) order by h.number)
                     from unnest(o.hours, excluded.hours) with ordinality h (old, new, number))
      where exists (select from unnest(o.hours, excluded.hours) h (old, new)
                     where h.old is null and h.new is not null)
  ), place as (
    insert into quake.past_place (token, version, code, day, hour, cell)
    select p.token, p.id, p.code, o.at::date, extract(hour from o.at), o.cell
      from passed p
     cross join lateral (
        select v.op, v.time at time zone 'UTC' as at, quake.quake__cell(v.longitude, v.latitude) as cell
          from quake.quake_version v where v.code = p.code and v.id < p.id order by v.id desc limit 1) o
     where (p.op = 'delete' or p.op = 'update' and p.changed && '{time,longitude,latitude}')
       and o.op <> 'delete'
       and (p.op = 'delete' or date_trunc('hour', o.at) <> date_trunc('hour', p.at) or o.cell is distinct from p.cell)
  )
  select count(*) as size, (array_agg(p.token order by p.token desc, p.id desc))[1] as token,
         (array_agg(p.id order by p.token desc, p.id desc))[1] as version
    into portion from passed p;
  insert into quake.past_time as p (thousand, at)
  select t.token / 1000, min(t.at) from quake.change_transaction t
   where t.token > place.token and t.token <= portion.token group by 1
  on conflict (thousand) do update set at = excluded.at where excluded.at < p.at;
  -- What has been purged meanwhile was not noted. A region may still hold it.
  update quake.past_noted n
     set token = coalesce(portion.token, n.token), version = case when portion.size = p_rows then portion.version end,
         since = greatest(n.since, (select f.token from quake.history_floor f where f.token > place.token))
   where portion.size > 0 or place.version is not null;
  -- No question asks for the time before the floor.
  delete from quake.past_place p
   where (p.token, p.version) in (select o.token, o.version from quake.past_place o
                                   where o.token <= floor order by o.token, o.version limit p_rows);
  return portion.size < p_rows and not found;
end
$$;

create or replace function quake.past__reach(p_number bigint) returns bigint
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select case
    when exists (select from quake.quake_version v
                   join quake.change_transaction t on t.transaction_id = v.transaction_id
                  where v.op = 'truncate' and t.token > p_number) then null
    -- To look at more changes one by one takes longer than reading the history of a small store.
    when (select coalesce(sum(l.changes), 0)
            from (select t.inserted + t.updated + t.deleted as changes from quake.change_transaction t
                   where t.token > greatest(p_number, n.number) order by t.token limit 50000) l) > 50000 then null
    else n.number end
    -- Without complete notes, the changes after the token are enough.
    from (select coalesce((select p.token - (p.version is not null)::integer from quake.past_noted p
                            where p.since <= p_number), 0)) n (number)
$$;

-- The end of the last hour before a time in which the history had an event by then; null: there was none.
create function quake.past__end(p_number bigint, p_end timestamptz) returns timestamptz
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select least(p_end, (d.day + make_interval(hours => coalesce(
             (select max(h.number) from unnest(d.hours) with ordinality h (token, number)
               where h.token <= p_number), 0)::integer)) at time zone 'UTC')
    from quake.past_day d
   where d.day <= ((p_end - interval '1 microsecond') at time zone 'UTC')::date and d.token <= p_number
   order by d.day desc limit 1
$$;
revoke all on function quake.past__end(bigint, timestamptz) from public;
comment on function quake.past__end(bigint, timestamptz) is 'private: the end of the last hour before a time in which events had origin times as of a number, or earlier; null: there is none';

create or replace function quake.as_of(
  p_token text, p_earliest timestamptz, p_end timestamptz, p_cells integer[] default null
) returns setof quake.event
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
declare
  number bigint := quake.token_number(p_token);
  reach bigint := quake.past__reach(number);
  first timestamptz;
  last timestamptz;
begin
  if reach is null then
    return query
      select q.* from quake.as_of(p_token) q
       where (p_earliest is null or q.time >= p_earliest) and (p_end is null or q.time < p_end)
         and (p_cells is null or quake.quake__cell(q.longitude, q.latitude) = any (p_cells));
    return;
  end if;
  if number <= reach then
    p_end := quake.past__end(number, coalesce(p_end, 'infinity'));
    if p_end is null then
      return;
    end if;
  end if;
  -- The hours of these times are looked at whole.
  first := date_trunc('hour', p_earliest, 'UTC');
  last := date_trunc('hour', p_end - interval '1 microsecond', 'UTC');
  -- "execute" plans the statement for these values.
  return query execute $query$
    select n.code, n.net, n.net_code, n.source, n.type, n.status, n.magnitude, n.magnitude_type,
           n.place, n.time, n.updated, n.longitude, n.latitude, n.depth, n.title, n.url,
           n.detail, n.felt, n.cdi, n.mmi, n.alert, n.tsunami, n.sig, n.nst,
           n.dmin, n.rms, n.gap, n.ids, n.sources, n.types, n.as_of, n.validated,
           n.withdrawn_at, n.superseded_by, n.first_stored
      from (
        -- Of the present events, and of those that left, those of the days that had any by then, if the notes reach
        -- the token. Without cells, the days lead to the events.
        select q.code
          from quake.past_day d
         cross join lateral (
            select q.code from quake.quake q
             where q.time >= greatest(d.day::timestamp at time zone 'UTC', $6)
               and q.time < least((d.day + 1)::timestamp at time zone 'UTC', $7 + interval '1 hour')
            offset 0) q
         where $5 is null and $1 <= $2 and d.token <= $1
           and ($6 is null or d.day >= ($6 at time zone 'UTC')::date)
           and ($7 is null or d.day <= ($7 at time zone 'UTC')::date)
        union
        select q.code from quake.quake q
         where ($5 is not null or $1 > $2)
           and ($6 is null or q.time >= $6)
           and ($7 is null or q.time < $7 + interval '1 hour')
           and ($5 is null or quake.quake__cell(q.longitude, q.latitude) = any ($5))
           and ($1 > $2 or (q.time at time zone 'UTC')::date in (
                  select d.day from quake.past_day d where d.token <= $1))
        union
        select p.code from quake.past_place p
         where p.token > $1
           and ($6 is null or (p.day, p.hour)
                >= (($6 at time zone 'UTC')::date, extract(hour from $6 at time zone 'UTC')::smallint))
           and ($7 is null or (p.day, p.hour)
                <= (($7 at time zone 'UTC')::date, extract(hour from $7 at time zone 'UTC')::smallint))
           and ($5 is null or p.cell = any ($5))
           and ($1 > $2 or p.day in (select d.day from quake.past_day d where d.token <= $1))
        union
        select v.code
          from quake.change_transaction t
         cross join lateral (
            select v.code from quake.quake_version v
             where v.transaction_id = t.transaction_id
               and (v.op = 'delete' or v.op = 'update' and v.changed && '{time,longitude,latitude}')
            offset 0) v
         where t.token > greatest($1, $2) and t.updated + t.deleted > 0) c
     cross join lateral (
        select * from quake.quake_version v
         where v.code = c.code
           and (select t.token from quake.change_transaction t where t.transaction_id = v.transaction_id) <= $1
         order by v.id desc limit 1) n
     where n.op <> 'delete'
       and n.id > coalesce((select max(e.id) from quake.quake_version e where e.op = 'truncate'), 0)
       and ($3 is null or n.time >= $3) and ($4 is null or n.time < $4)
       and ($5 is null or quake.quake__cell(n.longitude, n.latitude) = any ($5))
    $query$ using number, reach, p_earliest, p_end, p_cells, first, last;
end
$$;

create or replace function quake.as_of__window(p_token text, p_end timestamptz, p_events bigint) returns timestamptz
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
declare
  number bigint := quake.token_number(p_token);
  reach bigint := quake.past__reach(number);
  top timestamptz := coalesce(p_end, 'infinity');
  start timestamptz;
begin
  if reach is null then
    return null;
  end if;
  if number <= reach then
    top := quake.past__end(number, top);
  end if;
  select q.time into start from quake.quake q where q.time < top order by q.time desc offset p_events limit 1;
  -- If more events than that have left these hours, the window is shorter.
  return date_trunc('hour', coalesce(
    (select (p.day + make_interval(hours => p.hour)) at time zone 'UTC' from quake.past_place p
      where (p.day, p.hour) < ((top at time zone 'UTC')::date, extract(hour from top at time zone 'UTC')::smallint)
        and (p.day, p.hour) >= (coalesce(start at time zone 'UTC', '-infinity')::date,
                                extract(hour from start at time zone 'UTC')::smallint)
        and p.token > number
      order by p.day desc, p.hour desc offset p_events limit 1), start), 'UTC');
end
$$;
