-- Retention: durable cursors, and the purge of old history that they hold back.
--
-- A purge is a compaction: below the floor (history_floor, in 0003) only the newest version of each
-- event stays, as the base from which every state at or after the floor can be rebuilt. The floor is
-- raised first, in a transaction of its own. A reader compares the floor with the token that it reads
-- from in the very statement that reads the changes. So a reader that does not see the raised floor sees
-- no effect of the purge either, and a reader that sees it gets an error.

-- A cursor belongs to the role that uses it: no other role moves it. Every role that may read the table
-- sees all cursors, because each of them holds the purge back, and every role that may delete rows may
-- remove any of them.
create table quake.watcher (
  name text not null,
  token bigint not null,
  nonce text,
  changes bigint not null default 0,
  holder text,
  created_at timestamptz not null default now(),
  moved_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  role name default current_user,
  constraint watcher_pkey primary key (name),
  constraint watcher_name_length check (length(name) between 1 and 200),
  constraint watcher_nonce_form check (nonce ~ '^[0-9a-f]{8}$'),
  constraint watcher_token_whole check ((nonce is null) = (token = 0)),
  constraint watcher_changes_count check (changes >= 0),
  constraint watcher_short_text_length check (
    octet_length(holder) <= 1024)
);
alter table quake.watcher enable row level security;
create policy watcher_seen on quake.watcher for select using (true);
create policy watcher_made on quake.watcher for insert with check (role = current_user);
create policy watcher_moved on quake.watcher for update
  using (role is null or role = current_user) with check (role = current_user);
create policy watcher_removed on quake.watcher for delete using (true);

comment on table quake.watcher is 'durable cursors: how far each named watcher has come; they hold a purge back';
comment on column quake.watcher.name is 'the watcher''s name';
comment on column quake.watcher.token is 'number of the last transaction whose changes it has delivered, all or some; 0: none';
comment on column quake.watcher.nonce is 'nonce of that transaction; null for 0';
comment on column quake.watcher.changes is 'number of changes of that transaction that it has delivered; 0: all of them';
comment on column quake.watcher.holder is 'random text of the process that moves the cursor. A process that no longer finds its own text here has been replaced';
comment on column quake.watcher.created_at is 'when the name was first used';
comment on column quake.watcher.moved_at is 'when the cursor last moved';
comment on column quake.watcher.seen_at is 'when its process last reported';
comment on column quake.watcher.role is 'the role that moves the cursor; null: the next role that moves it';

create view quake.watcher_lag as
  select w.name, case when w.token = 0 then '0' else w.token || '.' || w.nonce end as token, w.changes,
         w.created_at, w.moved_at, w.seen_at,
         (select count(*) from quake.change_transaction t
           where t.token > w.needs) as transactions_behind,
         greatest(clock_timestamp() - (select t.at from quake.change_transaction t
                                        where t.token > w.needs order by t.token limit 1),
                  interval '0') as time_behind,
         w.needs, w.needs < (select f.token from quake.history_floor f) as expired
    from (select w.name, w.token, w.nonce, w.changes, w.holder, w.created_at, w.moved_at, w.seen_at,
                 case when w.changes > 0 then w.token - 1 else w.token end as needs
            from quake.watcher w) w;

comment on view quake.watcher_lag is 'the durable cursors, and how far they lag behind';
comment on column quake.watcher_lag.name is 'the watcher''s name';
comment on column quake.watcher_lag.token is 'token of the last transaction whose changes it has delivered, all or some';
comment on column quake.watcher_lag.changes is 'number of changes of that transaction that it has delivered; 0: all of them';
comment on column quake.watcher_lag.created_at is 'when the name was first used';
comment on column quake.watcher_lag.moved_at is 'when the cursor last moved';
comment on column quake.watcher_lag.seen_at is 'when its process last reported';
comment on column quake.watcher_lag.transactions_behind is 'transactions that it has not delivered, or not completely';
comment on column quake.watcher_lag.time_behind is 'how long ago the oldest of them committed';
comment on column quake.watcher_lag.needs is 'number of the token after which it needs the history';
comment on column quake.watcher_lag.expired is 'whether that part of the history has been purged: the watcher cannot continue';

create function quake.purgeable_to(p_token text, p_hold_limit interval) returns text
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
  select coalesce((
    select t.token || '.' || t.nonce from quake.change_transaction t
     where t.token <= least(
       quake.token_number(p_token),
       (select min(w.needs) from quake.watcher_lag w
         where not w.expired and w.time_behind <= p_hold_limit))
     order by t.token desc limit 1), quake.oldest_token())
$$;
comment on function quake.purgeable_to(text, interval) is 'the token to which a purge up to the given token may go: no further than the durable cursors that lag behind by at most the limit';

-- A role that purges needs no privilege on the history itself: the two functions below run with the
-- owner's rights, and remove nothing but what is below the floor.

create function quake.raise_history_floor(p_token text, p_hold_limit interval) returns text
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  target bigint;
begin
  perform from quake.history_floor f for update;  -- one at a time
  target := split_part(quake.purgeable_to(p_token, p_hold_limit), '.', 1)::bigint;
  update quake.history_floor f
     set token = target, raised_at = clock_timestamp()
   where f.token < target;
  return quake.oldest_token();
end
$$;
comment on function quake.raise_history_floor(text, interval) is 'raises the floor to a token, as far as purgeable_to allows, so that older tokens expire; returns the new floor. To be committed before purge_history removes anything';

-- Walks through the transactions, from where the last call stopped up to the floor. For each version
-- that it passes, it removes the earlier versions of that event; if the version is a delete, it removes
-- that too. At a truncate it removes everything before the truncate. A transaction is removed with its
-- last version, except the transaction of the floor, whose nonce proves the oldest token.
create function quake.purge_history(
  p_rows integer, out versions bigint, out transactions bigint, out finished boolean
)
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
  set enable_hashjoin = off
  set enable_mergejoin = off
  set jit = off
as $$
declare
  place quake.history_floor;
  batch record;
  stop record;
  touched bigint[];
  last_transaction bigint;
begin
  versions := 0;
  select f.* into place from quake.history_floor f for update;
  -- Until now this may have been the transaction of the floor, which is kept even without versions.
  select t.transaction_id into last_transaction from quake.change_transaction t where t.token = place.purged_to;
  select array_agg(b.transaction_id) as transaction_ids, array_agg(b.id) as ids,
         array_agg(b.code) as codes, array_agg(b.op) as ops, array_agg(b.token) as tokens,
         count(*) as size, min(b.row) filter (where b.op = 'truncate') as stop
    into batch
    from (select t.token, t.transaction_id, v.id, v.code, v.op, row_number() over (order by t.token, v.id) as row
            from (select t.token, t.transaction_id from quake.change_transaction t
                   where t.token >= place.purged_to and t.token <= place.token
                   order by t.token limit p_rows + 1) t
           cross join lateral (
              select v.id, v.code, v.op from quake.quake_version v
               where v.transaction_id = t.transaction_id
                 and v.id > case when t.token = place.purged_to then place.purged_version else 0 end
               order by v.id limit p_rows) v
           order by t.token, v.id limit p_rows) b;
  finished := batch.size < p_rows and batch.stop is null;

  if batch.stop = 1 then
    -- A truncate is next: removes everything before it, in batches, then the truncate itself.
    select batch.tokens[1] as token, batch.transaction_ids[1] as transaction_id, batch.ids[1] as id into stop;
    with victim as (
      select v.transaction_id, v.id
        from quake.change_transaction t
       cross join lateral (
         select v.transaction_id, v.id from quake.quake_version v
          where v.transaction_id = t.transaction_id and v.id <= stop.id order by v.id limit p_rows) v
       where t.token <= stop.token
       order by t.token, v.id limit p_rows
    ), deleted as (
      delete from quake.quake_version d using victim
       where d.transaction_id = victim.transaction_id and d.id = victim.id
      returning d.transaction_id, d.id
    )
    select count(*), array_agg(distinct d.transaction_id), coalesce(bool_or(d.id = stop.id), false)
      into versions, touched, finished from deleted d;
    if finished then
      place.purged_to := stop.token;
      place.purged_version := stop.id;
    end if;
    finished := false;
  else
    -- Goes as far as the next truncate.
    batch.size := least(batch.size, batch.stop - 1);
    with passed as (
      select b.* from unnest(batch.transaction_ids[:batch.size], batch.ids[:batch.size],
                             batch.codes[:batch.size], batch.ops[:batch.size])
        as b (transaction_id, id, code, op)
    ), superseded as (
      delete from quake.quake_version d using passed
       where d.code = passed.code and d.id <= passed.id and (d.id < passed.id or passed.op = 'delete')
      returning d.transaction_id
    )
    select count(*), array_agg(distinct s.transaction_id) into versions, touched from superseded s;
    touched := touched || batch.transaction_ids[:batch.size];
    if finished then
      place.purged_to := place.token;
      place.purged_version := 9223372036854775807;
    else
      place.purged_to := batch.tokens[batch.size];
      place.purged_version := batch.ids[batch.size];
    end if;
  end if;

  delete from quake.change_transaction t
   where t.transaction_id = any (touched || last_transaction) and t.token < place.token
     and not exists (select from quake.quake_version v where v.transaction_id = t.transaction_id);
  get diagnostics transactions = row_count;
  update quake.history_floor f
     set purged_to = place.purged_to, purged_version = place.purged_version
   where (f.purged_to, f.purged_version) is distinct from (place.purged_to, place.purged_version);
end
$$;
comment on function quake.purge_history(integer) is 'removes a batch of the history below the floor; returns how many versions and transactions, and whether the purge is finished';

revoke all on function quake.raise_history_floor(text, interval), quake.purge_history(integer) from public;
