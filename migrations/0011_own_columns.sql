-- Columns of one's own. Whoever owns the database may add columns to quake.quake, for a geometry or a
-- note. They are not in the history, so what reads the history returns values of a type that has our
-- columns and no others.
create type quake.event as (
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
  superseded_by text
);
comment on type quake.event is 'an event as the history holds it: the columns of quake.quake, without those that somebody has added';

drop function quake.versions(text);
drop function quake.difference(text, text);
drop function quake.as_of(timestamptz);
drop function quake.as_of(text);
drop function quake.changes_since(text);

create function quake.changes_since(p_token text)
  returns table (
    token text, "position" bigint, op text, code text, changed text[], old quake.event, new quake.event,
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
comment on function quake.changes_since(text) is 'every change after a token, in commit order; 0 for all. old and new are whole events; new is null for a delete, old for an insert, both for a truncate';

create function quake.as_of(p_token text) returns setof quake.event
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

create function quake.as_of(p_time timestamptz) returns setof quake.event
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select * from quake.as_of(quake.token_at(p_time))
$$;
comment on function quake.as_of(timestamptz) is 'the events as they were at a time, by the server''s clock';

create function quake.difference(p_from text, p_to text)
  returns table (op text, code text, changed text[], old quake.event, new quake.event)
  language sql stable
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
  -- By themselves, for the error.
  select quake.token_number(p_from);
  select quake.token_number(p_to);
  with bounds as materialized (
    select least(n.a, n.b) as low, greatest(n.a, n.b) as high, n.a > n.b as backwards
      from (select quake.token_number(p_from) as a, quake.token_number(p_to) as b) n
  ), truncates as materialized (
    -- What has a smaller id than the last truncate before a place is not there at that place.
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
        -- Through the index, transaction for transaction, however long the history is.
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
comment on function quake.difference(text, text) is 'what has been inserted, updated and deleted on the whole between two tokens, by code; from the later one to the earlier one, what would undo it';

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
    -- The truncates that took the event away.
    select e.id, e.transaction_id, e.op, '{}', null
      from own o
     cross join lateral (
       select v.id, v.transaction_id, v.op from quake.quake_version v
        where v.op = 'truncate' and v.id > o.id and (o.next is null or v.id < o.next)
        order by v.id limit 1) e
     where o.op <> 'delete'
  )
  select t.token || '.' || t.nonce,
         -- At the floor and below it a transaction's other changes may have been purged.
         case when t.token > (select f.token from quake.history_floor f)
              then (select count(*) from quake.quake_version o
                     where o.transaction_id = v.transaction_id and o.id < v.id) end,
         v.op, v.changed, v.event,
         t.author, t.context, t.application_name, t.database_user, t.process_id,
         t.client_address, t.at, t.import_id
    from version v join quake.change_transaction t on t.transaction_id = v.transaction_id
   order by v.id
$$;
comment on function quake.versions(text) is 'the versions of the event of a code that the history holds, the oldest first; event is null where a truncate took it away';
