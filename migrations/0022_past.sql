-- oldest schema: 18
--
-- The past of a long history: where events have been.
--
-- The state of an event as of a token is its newest version up to there, which the index quake_version_code finds. A
-- question about a part of the list needs the events to look at. Most of them are there still, and the indexes of
-- quake.quake find those. past_place has the others: the days of origin times and the cells of the map that events have
-- left, by a move or because they were deleted. A day and a cell are so large that few revisions leave them.
--
-- Writers note nothing. Workers call note_past, which follows the history in the order of tokens; past_noted says how
-- far it has come. The events that were moved or deleted after that, or after the token of the question if that is
-- later, are looked at one by one. So an answer does not depend on how far the notes reach, but its time does.

create table quake.past_place (
  token bigint not null,
  version bigint not null,
  code text not null,
  day date not null,
  cell integer,
  constraint past_place_pkey primary key (token, version),
  constraint past_place_text_length check (octet_length(code) <= 1024)
);
create index past_place_day on quake.past_place (day, token);
create index past_place_cell on quake.past_place (cell, token) where cell is not null;
comment on table quake.past_place is 'days and cells that events have left, for questions about the past; note_past derives it from the history';
comment on column quake.past_place.token is 'number of the transaction that moved or deleted the event';
comment on column quake.past_place.version is 'the version that did (quake_version.id)';
comment on column quake.past_place.code is 'the event''s code';
comment on column quake.past_place.day is 'day of the origin time that it had before, in UTC';
comment on column quake.past_place.cell is 'cell of the map in which its epicentre lay before; null: it had none';

-- A long history ends long after most of its tokens: without this table, a question about the newest events as of one
-- of them would look at all events that came later.
create table quake.past_day (
  day date not null,
  token bigint not null,
  constraint past_day_pkey primary key (day)
);
comment on table quake.past_day is 'when the history first had an event of each day, for questions about the past; note_past derives it from the history';
comment on column quake.past_day.day is 'day of an origin time, in UTC';
comment on column quake.past_day.token is 'number of the first transaction after which an event had an origin time of that day';

-- Commit times rise with the tokens, except where a clock was set back: without this table, token_at would look at all
-- transactions after a time.
create table quake.past_time (
  thousand bigint not null,
  at timestamptz not null,
  constraint past_time_pkey primary key (thousand)
);
comment on table quake.past_time is 'the earliest commit time of each thousand tokens, for questions about a time; note_past derives it from the history';
comment on column quake.past_time.thousand is 'the thousand: 2 has the tokens 2000 to 2999';
comment on column quake.past_time.at is 'no transaction of the thousand committed earlier, by the server''s clock';

create table quake.past_noted (
  single boolean not null default true,
  token bigint not null default 0,
  version bigint,
  constraint past_noted_pkey primary key (single),
  constraint past_noted_single check (single)
);
insert into quake.past_noted default values;
comment on table quake.past_noted is 'how far past_place, past_day and past_time follow the history: one row';
comment on column quake.past_noted.single is 'always true, so that there is one row only';
comment on column quake.past_noted.token is 'number of the last transaction that is noted, whole or in part';
comment on column quake.past_noted.version is 'the last version of that transaction that is noted; null: all are';

-- A version of an event that was not in the store before it, or not since a truncate, leaves no place. After a truncate,
-- a question about the time before it reads the whole history.
create function quake.note_past(p_rows integer) returns boolean
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
   where n.version is not null or exists (select from quake.change_transaction t where t.token > n.token)
         or exists (select from quake.past_place p where p.token <= floor)
     for update skip locked;
  if not found then
    return true;  -- there is nothing to do, or another session does it
  end if;
  with passed as materialized (
    select t.token, v.*
      from (select t.token, t.transaction_id from quake.change_transaction t
             where t.token >= place.token + (place.version is null)::integer
             order by t.token limit p_rows + 1) t
     cross join lateral (
        select v.id, v.code, v.op, v.changed, (v.time at time zone 'UTC')::date as day,
               quake.quake__cell(v.longitude, v.latitude) as cell
          from quake.quake_version v
         where v.transaction_id = t.transaction_id
           and v.id > case when t.token = place.token then place.version else 0 end
         order by v.id limit p_rows) v
     order by t.token, v.id limit p_rows
  ), day as (
    insert into quake.past_day (day, token)
    select p.day, min(p.token) from passed p where p.op in ('insert', 'update') group by p.day
    on conflict (day) do nothing
  ), place as (
    insert into quake.past_place (token, version, code, day, cell)
    select p.token, p.id, p.code, o.day, o.cell
      from passed p
     cross join lateral (
        select v.op, (v.time at time zone 'UTC')::date as day,
               quake.quake__cell(v.longitude, v.latitude) as cell
          from quake.quake_version v where v.code = p.code and v.id < p.id order by v.id desc limit 1) o
     where (p.op = 'delete' or p.op = 'update' and p.changed && '{time,longitude,latitude}')
       and o.op <> 'delete' and (p.op = 'delete' or o.day <> p.day or o.cell is distinct from p.cell)
  )
  select count(*) as size, (array_agg(p.token order by p.token desc, p.id desc))[1] as token,
         (array_agg(p.id order by p.token desc, p.id desc))[1] as version
    into portion from passed p;
  insert into quake.past_time as p (thousand, at)
  select t.token / 1000, min(t.at) from quake.change_transaction t
   where t.token > place.token and t.token <= portion.token group by 1
  on conflict (thousand) do update set at = excluded.at where excluded.at < p.at;
  update quake.past_noted n
     set token = portion.token, version = case when portion.size = p_rows then portion.version end
   where portion.size > 0;
  -- No question asks for the time before the floor.
  delete from quake.past_place p
   where (p.token, p.version) in (select o.token, o.version from quake.past_place o
                                   where o.token <= floor order by o.token, o.version limit p_rows);
  return portion.size < p_rows and not found;
end
$$;
revoke all on function quake.note_past(integer) from public;
comment on function quake.note_past(integer) is 'notes the places that events have left and the commit times in the next versions of the history, at most so many, and deletes places from before the floor; returns whether nothing is left to do';

create or replace function quake.token_at(p_time timestamptz) returns text
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  -- By token, not by time: a clock that was set back must not hide later transactions. First those that are not noted
  -- yet, then the last thousand that has one so early.
  select coalesce(
    (select t.token || '.' || t.nonce from quake.change_transaction t
      where t.at <= p_time and t.token > (select n.token from quake.past_noted n)
      order by t.token desc limit 1),
    (select t.token || '.' || t.nonce from quake.change_transaction t
      where t.at <= p_time
        and t.token < 1000 + 1000 * (select p.thousand from quake.past_time p
                                      where p.at <= p_time order by p.thousand desc limit 1)
      order by t.token desc limit 1), '0')
$$;

-- The number up to which the notes answer a question about a token; null: only the whole history does.
create function quake.past__reach(p_number bigint) returns bigint
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
    from (select coalesce((select p.token - (p.version is not null)::integer from quake.past_noted p), 0)) n (number)
$$;
comment on function quake.past__reach(bigint) is 'private: the number up to which past_place and past_day answer a question about a token; null: only the whole history answers it';

create function quake.as_of(
  p_token text, p_earliest timestamptz, p_end timestamptz, p_cells integer[] default null
) returns setof quake.event
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
declare
  number bigint := quake.token_number(p_token);
  reach bigint := quake.past__reach(number);
begin
  if reach is null then
    return query
      select q.* from quake.as_of(p_token) q
       where (p_earliest is null or q.time >= p_earliest) and (p_end is null or q.time < p_end)
         and (p_cells is null or quake.quake__cell(q.longitude, q.latitude) = any (p_cells));
    return;
  end if;
  if number <= reach then
    select least(p_end, (max(d.day) + 1)::timestamp at time zone 'UTC') into p_end
      from quake.past_day d where d.token <= number;
  end if;
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
             where q.time >= d.day::timestamp at time zone 'UTC'
               and q.time < (d.day + 1)::timestamp at time zone 'UTC'
            offset 0) q
         where $5 is null and $1 <= $2 and d.token <= $1
           and ($3 is null or d.day >= ($3 at time zone 'UTC')::date)
           and ($4 is null or d.day <= ($4 at time zone 'UTC')::date)
        union
        select q.code from quake.quake q
         where ($5 is not null or $1 > $2)
           and ($3 is null or q.time >= date_trunc('day', $3, 'UTC'))
           and ($4 is null or q.time < date_trunc('day', $4, 'UTC') + interval '1 day')
           and ($5 is null or quake.quake__cell(q.longitude, q.latitude) = any ($5))
           and ($1 > $2 or (q.time at time zone 'UTC')::date in (
                  select d.day from quake.past_day d where d.token <= $1))
        union
        select p.code from quake.past_place p
         where p.token > $1
           and ($3 is null or p.day >= ($3 at time zone 'UTC')::date)
           and ($4 is null or p.day <= ($4 at time zone 'UTC')::date)
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
    $query$ using number, reach, p_earliest, p_end, p_cells;
end
$$;
comment on function quake.as_of(text, timestamptz, timestamptz, integer[]) is 'of the events as they were just after the transaction of a token, those with origin times from one time to before another and epicentres in cells of the map (quake__box_cells, quake__circle_cells); null: any. With the notes of note_past it takes as long as these events need, however long the history is';

-- A page of the newest events as of a token is found window by window, the newest first.
create function quake.as_of__window(p_token text, p_end timestamptz, p_events bigint) returns timestamptz
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
declare
  number bigint := quake.token_number(p_token);
  reach bigint := quake.past__reach(number);
  top timestamptz := coalesce(p_end, 'infinity');
begin
  if reach is null then
    return null;
  end if;
  if number <= reach then
    -- Leaves out the days that had no event by then.
    select least(top, (d.day + 1)::timestamp at time zone 'UTC') into top
      from quake.past_day d
     where d.day <= ((top - interval '1 microsecond') at time zone 'UTC')::date and d.token <= number
     order by d.day desc limit 1;
    if not found then
      return null;
    end if;
  end if;
  return date_trunc('day', greatest(
    (select q.time from quake.quake q where q.time < top order by q.time desc offset p_events limit 1),
    (select p.day::timestamp at time zone 'UTC' from quake.past_place p
      where p.day < (top at time zone 'UTC')::date and p.token > number
      order by p.day desc offset p_events limit 1)), 'UTC');
end
$$;
comment on function quake.as_of__window(text, timestamptz, bigint) is 'private: an origin time before another one, with about so many events in between as of a token, or more of them; null: there are fewer before it';
