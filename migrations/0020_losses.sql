-- oldest schema: 18
--
-- What readers notice: changes that are missing in a transaction, and a cursor that a restore has taken away.

-- Changes that are missing

create function quake.token__refuse_loss(p_token text, p_had bigint, p_holds bigint) returns boolean
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception 'history diverged at token %', p_token
    using errcode = 'QK003',
          detail = format('The number of the transaction''s changes was %s; the history holds %s.', p_had, p_holds),
          hint = 'Rows of the history were removed or not copied; "quake-query verify" shows all such places. Begin again with a snapshot.';
end
$$;
comment on function quake.token__refuse_loss(text, bigint, bigint) is 'raises the error for a transaction of which the history holds another number of changes than it had';

-- Reads the transactions alone, for callers that count the changes while they read them.
create function quake.history__changes(p_after bigint, p_up_to bigint) returns bigint
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
declare
  beginning text;
  changes bigint;
  first_gap bigint;
  gap record;
begin
  select t.token || '.' || t.nonce into beginning
    from quake.change_transaction t
   where t.token <= greatest(p_after, (select f.token from quake.history_floor f))
   order by t.token desc limit 1;
  -- Sums of bigint are numeric, which takes longer. As long as they are below 2^53, those of doubles are exact.
  select coalesce(sum(g.changes::double precision), 0)::bigint,
         min(g.token) filter (where g.predecessor <> g.before and g.predecessor <> split_part(g.before, '.', 1))
    into changes, first_gap
    from (select t.token, t.predecessor, t.inserted + t.updated + t.deleted + t.truncated as changes,
                 lag(t.token || '.' || t.nonce, 1, coalesce(beginning, '0')) over (order by t.token) as before
            from quake.change_transaction t
           where t.token > greatest(p_after, (select f.token from quake.history_floor f))
             and t.token <= coalesce(p_up_to, 9223372036854775807)) g;
  if first_gap is not null then
    select t.token || '.' || t.nonce as token, t.predecessor,
           coalesce((select b.token || '.' || b.nonce from quake.change_transaction b
                      where b.token < t.token order by b.token desc limit 1), '0') as before
      into gap
      from quake.change_transaction t where t.token = first_gap;
    perform quake.token__refuse_gap(gap.before, gap.token, gap.predecessor);
  end if;
  return changes;
end
$$;
comment on function quake.history__changes(bigint, bigint) is 'how many changes the transactions after one number and up to another had; an error with SQLSTATE QK003 if one of these transactions is missing. null: up to the newest';

-- As before, with the number of the changes of each transaction.
create or replace function quake.history_is_whole(p_after bigint, p_up_to bigint default null) returns boolean
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
declare
  loss record;
begin
  perform quake.history__changes(p_after, p_up_to);
  select t.token || '.' || t.nonce as token, t.inserted + t.updated + t.deleted + t.truncated as had,
         v.changes as holds
    into loss
    from quake.change_transaction t
   cross join lateral (
     select count(*) as changes from quake.quake_version v where v.transaction_id = t.transaction_id) v
   where t.token > greatest(p_after, (select f.token from quake.history_floor f))
     and t.token <= coalesce(p_up_to, 9223372036854775807)
     and v.changes <> t.inserted + t.updated + t.deleted + t.truncated
   order by t.token limit 1;
  if found then
    perform quake.token__refuse_loss(loss.token, loss.had, loss.holds);
  end if;
  return true;
end
$$;
comment on function quake.history_is_whole(bigint, bigint) is 'true if no transaction, and no change of one, is missing after one number and up to another, otherwise an error with SQLSTATE QK003; to be called in the transaction that reads the history. null: up to the newest';

-- As before, with the number of the changes of each transaction.
create or replace function quake.changes_since(p_token text)
  returns table (
    token text, "position" bigint, op text, code text, changed text[], old quake.event, new quake.event,
    author text, context text, application_name text, database_user text, process_id integer,
    client_address inet, at timestamptz, import_id bigint)
  language sql stable
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
  -- A statement of its own, because the query below does not call it if there are no transactions: an
  -- invalid token must be an error even then.
  select quake.token_number(p_token);
  select t.token || '.' || t.nonce, v.position, v.op, v.code, coalesce(v.changed, '{}'),
         case v.op when 'delete' then v.row when 'update' then p.row end,
         case when v.op in ('insert', 'update') then v.row end,
         t.author, t.context, t.application_name, t.database_user, t.process_id,
         t.client_address, t.at, t.import_id
    from (select t.*, lag(t.token || '.' || t.nonce, 1, p_token) over (order by t.token) as before
            from quake.change_transaction t
           where t.token > (select quake.token_number(p_token)) order by t.token) t
    left join lateral (
     select row_number() over (order by v.id) - 1 as position,
            lead(v.id) over (order by v.id) is null as is_last, v.id, v.op, v.code, v.changed,
            row(v.code, v.net, v.net_code, v.source, v.type, v.status, v.magnitude, v.magnitude_type,
            v.place, v.time, v.updated, v.longitude, v.latitude, v.depth, v.title, v.url,
            v.detail, v.felt, v.cdi, v.mmi, v.alert, v.tsunami, v.sig, v.nst,
            v.dmin, v.rms, v.gap, v.ids, v.sources, v.types, v.as_of, v.validated,
            v.withdrawn_at, v.superseded_by, v.first_stored)::quake.event as row
       from quake.quake_version v where v.transaction_id = t.transaction_id) v on true
    left join lateral (
     select row(p.code, p.net, p.net_code, p.source, p.type, p.status, p.magnitude, p.magnitude_type,
            p.place, p.time, p.updated, p.longitude, p.latitude, p.depth, p.title, p.url,
            p.detail, p.felt, p.cdi, p.mmi, p.alert, p.tsunami, p.sig, p.nst,
            p.dmin, p.rms, p.gap, p.ids, p.sources, p.types, p.as_of, p.validated,
            p.withdrawn_at, p.superseded_by, p.first_stored)::quake.event as row
       from quake.quake_version p
      where v.op = 'update' and p.code = v.code and p.id < v.id order by p.id desc limit 1) p on true
   where case when t.predecessor <> t.before and t.predecessor <> split_part(t.before, '.', 1)
              then quake.token__refuse_gap(t.before, t.token || '.' || t.nonce, t.predecessor) else true end
     -- A transaction of which all changes are missing has one row without any.
     and case when coalesce(v.is_last, true)
                   and coalesce(v.position + 1, 0) <> t.inserted + t.updated + t.deleted + t.truncated
              then quake.token__refuse_loss(t.token || '.' || t.nonce, t.inserted + t.updated + t.deleted + t.truncated,
                                            coalesce(v.position + 1, 0))
              else v.id is not null end
   order by t.token, v.id
$$;

-- As before, with the number of the changes of all transactions in between.
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
  ), touched as materialized (
    -- With a row for the truncates, which have no code.
    select v.code, min(v.id) as first, max(v.id) as last, count(*) as changes
      from bounds b
      join quake.change_transaction t on t.token > b.low and t.token <= b.high
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

-- Cursors that were removed

-- A database that was restored from before a watcher's first start lacks its cursor, as if somebody had removed it.
-- Only what was removed here is in this table.
create table quake.watcher_removal (
  name text not null,
  created_at timestamptz not null,
  constraint watcher_removal_pkey primary key (name)
);
comment on table quake.watcher_removal is 'the names of durable cursors that were removed, so that a watcher knows whether its cursor was removed or lost in a restore';
comment on column quake.watcher_removal.name is 'the watcher''s name';
comment on column quake.watcher_removal.created_at is 'when the last one of that name was created that was removed';

create function quake.watcher__note_removal() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  insert into quake.watcher_removal as r (name, created_at) values (old.name, old.created_at)
  on conflict (name) do update set created_at = excluded.created_at
   where r.created_at < excluded.created_at;
  return null;
end
$$;
revoke all on function quake.watcher__note_removal() from public;
comment on function quake.watcher__note_removal() is 'notes that a durable cursor was removed';
create trigger watcher_10_note_removal after delete on quake.watcher
  for each row execute function quake.watcher__note_removal();
