-- oldest schema: 18
--
-- Differences between two points of a history of millions of transactions.

-- As before, with the transactions found by themselves. In a join with their changes, which cost so much more, the planner
-- took reading all transactions for as good as their index.
create or replace function quake.difference(p_from text, p_to text)
  returns table (op text, code text, changed text[], old quake.event, new quake.event)
  language sql stable
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
  -- Statements of their own, because an invalid token must be an error in any case.
  select quake.token_number(p_from);
  select quake.token_number(p_to);
  with bounds as materialized (
    select least(n.a, n.b) as low, greatest(n.a, n.b) as high, n.a > n.b as backwards,
           quake.history__changes(least(n.a, n.b), greatest(n.a, n.b)) as changes
      from (select quake.token_number(p_from) as a, quake.token_number(p_to) as b) n
  ), transactions as materialized (
    select t.transaction_id from quake.change_transaction t
     where t.token > (select b.low from bounds b) and t.token <= (select b.high from bounds b)
  ), touched as materialized (
    -- With a row for the truncates, which have no code.
    select v.code, min(v.id) as first, max(v.id) as last, count(*) as changes
      from transactions t
     cross join lateral (
        -- "offset 0" makes it use the index, one transaction at a time, however long the history is.
        select * from quake.quake_version v where v.transaction_id = t.transaction_id offset 0) v
     group by v.code
  ), truncates as materialized (
    -- An event whose newest version has a smaller id than the last truncate before a token did not exist
    -- at that token.
    select coalesce(max(v.id) filter (where t.token <= b.low), 0) as before_low,
           coalesce(max(v.id), 0) as before_high,
           coalesce(bool_or(t.token > b.low), false) as between_them,
           -- This row is read in any case, and with it all of its columns.
           (select case when (select coalesce(sum(o.changes), 0) from touched o) = b.changes then true
                        else quake.history_is_whole(b.low, b.high) end from bounds b) as is_whole
      from bounds b
     cross join quake.quake_version v
      join quake.change_transaction t on t.transaction_id = v.transaction_id
     where v.op = 'truncate' and t.token <= b.high
  ), state as (
    select c.code,
           case when c.was then row(
                o.code, o.net, o.net_code, o.source, o.type, o.status, o.magnitude,
                o.magnitude_type, o.place, o.time, o.updated, o.longitude, o.latitude, o.depth,
                o.title, o.url, o.detail, o.felt, o.cdi, o.mmi, o.alert, o.tsunami, o.sig, o.nst,
                o.dmin, o.rms, o.gap, o.ids, o.sources, o.types, o.as_of, o.validated,
                o.withdrawn_at, o.superseded_by, o.first_stored)::quake.event end as low,
           case when c.is then row(
                n.code, n.net, n.net_code, n.source, n.type, n.status, n.magnitude,
                n.magnitude_type, n.place, n.time, n.updated, n.longitude, n.latitude, n.depth,
                n.title, n.url, n.detail, n.felt, n.cdi, n.mmi, n.alert, n.tsunami, n.sig, n.nst,
                n.dmin, n.rms, n.gap, n.ids, n.sources, n.types, n.as_of, n.validated,
                n.withdrawn_at, n.superseded_by, n.first_stored)::quake.event end as high,
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
             case when o.superseded_by is distinct from n.superseded_by then 'superseded_by' end,
             case when o.first_stored is distinct from n.first_stored then 'first_stored' end
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
