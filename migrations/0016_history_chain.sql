-- Each transaction names the one before it, so that a reader notices transactions that are missing.
--
-- Numbers of tokens have gaps that mean nothing: a number drawn by a transaction that fails at its commit is not
-- used again. So a reader cannot see from the numbers whether transactions are missing, because rows of the
-- history were removed, or not copied to another database.

-- Rows from before keep null, which readers do not check. To compute a predecessor for them would declare the
-- gaps that a history may already have to be right.
alter table quake.change_transaction add column predecessor text;
comment on column quake.change_transaction.predecessor is 'token of the transaction before it in commit order; 0: it is the first; a number without a nonce: it ran at repeatable read or serializable and could not see the nonce; null: unknown';

-- Called if the number before is not that of a transaction that the caller can see. The caller holds the lock of the
-- commit order, so that each number before its own belongs to a transaction that has committed or to none.
--
-- At repeatable read and serializable, the snapshot is older than the newest transactions. A unique index sees them
-- nevertheless: a row with the number of a committed transaction cannot be inserted.
create function quake.change_transaction__predecessor(p_token bigint) returns text
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  if p_token = 1 then
    return '0';
  end if;
  if current_setting('transaction_isolation') = 'read committed' then
    return coalesce((select t.token || '.' || t.nonce from quake.change_transaction t
                      order by t.token desc limit 1), '0');
  end if;
  -- After a crash, the numbers have a gap of up to 32.
  for number in reverse p_token - 1 .. greatest(p_token - 100, 1) loop
    begin
      insert into quake.change_transaction (token, nonce, transaction_id, database_user, process_id, at,
                                            inserted, updated, deleted, truncated)
      values (number, '', -number, '', 0, 'epoch', 0, 0, 0, 0);
      raise exception using errcode = 'QK000';
    exception
      when unique_violation then
        return number;
      when sqlstate 'QK000' then
        null;  -- no transaction has the number, and the row is gone again
    end;
  end loop;
  return null;
end
$$;
revoke all on function quake.change_transaction__predecessor(bigint) from public;
comment on function quake.change_transaction__predecessor(bigint) is 'the predecessor of the transaction that has just drawn this number, if its snapshot does not have it under the number before';

-- As before, with the predecessor.
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

  -- The lock comes before the number, or another transaction could commit in between. The insert begins after it,
  -- and so sees the transaction before, unless its snapshot is that of the whole transaction. It looks for one
  -- number, because to look for the greatest would read a whole page of the index; and not at serializable, because
  -- to read the end of the index would make concurrent writers fail.
  lock table quake.commit_lock in share update exclusive mode;
  new_token := nextval('quake.token');
  insert into quake.change_transaction as t values (
    new_token, substr(gen_random_uuid()::text, 1, 8), new.transaction_id,
    nullif(left(current_setting('quake.author', true), 200), ''),
    nullif(left(current_setting('quake.context', true), 2000), ''),
    nullif(current_setting('application_name'), ''), session_user, pg_backend_pid(),
    inet_client_addr(), clock_timestamp(),
    new.inserted, new.updated, new.deleted, new.truncated, own_import,
    coalesce(
      case when current_setting('transaction_isolation') <> 'serializable'
           then (select p.token || '.' || p.nonce from quake.change_transaction p where p.token = new_token - 1) end,
      quake.change_transaction__predecessor(new_token)))
  -- The JSON is formatted as text, because json_build_object costs twice as much. A notification holds
  -- at most 8,000 bytes; an author of 200 characters has at most 2,400.
  returning case
    when pg_notification_queue_usage() < 0.25 then pg_notify('quake_changes', format(
      '{"token" : "%s.%s", "author" : %s, "inserted" : %s, "updated" : %s, "deleted" : %s, "truncated" : %s}',
      t.token, t.nonce, coalesce(to_json(t.author)::text, 'null'),
      t.inserted, t.updated, t.deleted, t.truncated))::text
    when current_setting('max_prepared_transactions') <> '0' then pg_export_snapshot() end
    into notified;
  if own_import is not null then
    update quake.import i set token = new_token where i.id = own_import;
  end if;
  return null;
end
$$;

-- Reading

create function quake.token__refuse_gap(p_token text, p_next text, p_predecessor text) returns boolean
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception 'history diverged at token %', p_token
    using errcode = 'QK003',
          detail = format('The next transaction here, %s, names %s as the one before it.', p_next, p_predecessor),
          hint = 'Transactions in between are missing, because rows of the history were removed or not copied, or another history has taken its place; "quake-query verify" shows all such places. Begin again with a snapshot.';
end
$$;
comment on function quake.token__refuse_gap(text, text, text) is 'raises the error for a token that is not the predecessor of the next transaction';

-- Below the floor, purges leave only the newest versions of events. They keep the transaction of the floor.
create function quake.history_is_whole(p_after bigint, p_up_to bigint default null) returns boolean
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
  set enable_seqscan = off
  set jit = off
as $$
declare
  beginning text;
  gap record;
begin
  select t.token || '.' || t.nonce into beginning
    from quake.change_transaction t
   where t.token <= greatest(p_after, (select f.token from quake.history_floor f))
   order by t.token desc limit 1;
  select g.* into gap
    from (select t.token, t.nonce, t.predecessor,
                 lag(t.token || '.' || t.nonce, 1, coalesce(beginning, '0')) over (order by t.token) as before
            from quake.change_transaction t
           where t.token > greatest(p_after, (select f.token from quake.history_floor f))
             and t.token <= coalesce(p_up_to, 9223372036854775807)) g
   where g.predecessor <> g.before and g.predecessor <> split_part(g.before, '.', 1)
   order by g.token
   limit 1;
  if found then
    perform quake.token__refuse_gap(gap.before, gap.token || '.' || gap.nonce, gap.predecessor);
  end if;
  return true;
end
$$;
comment on function quake.history_is_whole(bigint, bigint) is 'true if no transaction is missing after one number and up to another, otherwise an error with SQLSTATE QK003; to be called in the transaction that reads the history. null: up to the newest';

-- As before, with the check.

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
   cross join lateral (
     select row_number() over (order by v.id) - 1 as position, v.id, v.op, v.code, v.changed,
            row(v.code, v.net, v.net_code, v.source, v.type, v.status, v.magnitude, v.magnitude_type,
            v.place, v.time, v.updated, v.longitude, v.latitude, v.depth, v.title, v.url,
            v.detail, v.felt, v.cdi, v.mmi, v.alert, v.tsunami, v.sig, v.nst,
            v.dmin, v.rms, v.gap, v.ids, v.sources, v.types, v.as_of, v.validated,
            v.withdrawn_at, v.superseded_by, v.first_stored)::quake.event as row
       from quake.quake_version v where v.transaction_id = t.transaction_id) v
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
   order by t.token, v.id
$$;

create or replace function quake.difference(p_from text, p_to text)
  returns table (op text, code text, changed text[], old quake.event, new quake.event)
  language sql stable
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
  -- Statements of their own, because an invalid token must be an error in any case.
  select quake.token_number(p_from);
  select quake.token_number(p_to);
  select quake.history_is_whole(least(n.a, n.b), greatest(n.a, n.b))
    from (select quake.token_number(p_from) as a, quake.token_number(p_to) as b) n;
  with bounds as materialized (
    select least(n.a, n.b) as low, greatest(n.a, n.b) as high, n.a > n.b as backwards
      from (select quake.token_number(p_from) as a, quake.token_number(p_to) as b) n
  ), truncates as materialized (
    -- An event whose newest version has a smaller id than the last truncate before a token did not exist
    -- at that token.
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
        -- "offset 0" makes it use the index, one transaction at a time, however long the history is.
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
