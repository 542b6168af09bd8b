-- oldest schema: 18
--
-- Regions: databases that are copies of another one, the centre, by PostgreSQL's logical replication.
--
-- The rows of the history arrive with their tokens, so that a cursor of the centre is one of each region. The workers
-- of a subscription run with session_replication_role = replica: they fire the triggers that are enabled for replicas,
-- and not those that record the history, associate events or refuse writers.
--
-- The deletes of a purge are not replicated: the floor is, and each region purges its own history up to it, as far as its
-- own durable cursors allow. So a purge at the centre takes nothing away from a reader of a region.

create table quake.regional_database (
  name text not null,
  is_here boolean not null,
  schema_version integer not null,
  made_at timestamptz not null default now(),
  constraint regional_database_pkey primary key (name),
  constraint regional_database_name_form check (name ~ '^[a-z][a-z0-9_]{0,39}$'),
  constraint regional_database_schema_version_range check (schema_version >= 1)
);
create unique index regional_database_here on quake.regional_database (is_here) where is_here;
comment on table quake.regional_database is 'databases that are copies by logical replication: in a centre its regions, in a region itself';
comment on column quake.regional_database.name is 'the region''s name; slot and subscription are named quake_region_ and this';
comment on column quake.regional_database.is_here is 'whether it is this database: then only the centre''s changes are written here';
comment on column quake.regional_database.schema_version is 'number of its newest migration when "quake-admin region create" last ran there';
comment on column quake.regional_database.made_at is 'when it became a region';

-- Statements at a region. Whoever loads data with pg_restore --disable-triggers enables all triggers of a table
-- afterwards, so that the functions must know where they are.

create function quake.region__refuse_write() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  region text;
begin
  select d.name into region from quake.regional_database d where d.is_here;
  if found then
    raise exception 'cannot write to region "%", which is a copy of its centre', region
      using errcode = 'read_only_sql_transaction', schema = tg_table_schema, table = tg_table_name,
            hint = 'Imports, edits, associations and purges run at the centre: name its database. "quake-admin region drop" makes this one an ordinary database.';
  end if;
  return null;
end
$$;
revoke all on function quake.region__refuse_write() from public;
comment on function quake.region__refuse_write() is 'refuses to write to a region, except for the workers of its subscription';

-- "quake-admin region create" enables them: no other database pays for them.
do $$
declare
  name text;
begin
  foreach name in array array[
    'quake', 'quake_version', 'change_transaction', 'history_floor', 'quake_alias', 'tombstone', 'import', 'edit',
    'edit_transaction', 'association', 'association_pin', 'association_preference', 'association_settings',
    'past_place', 'past_day', 'past_time', 'past_noted',
    -- These are the region's own. Workers, imports and requests write to them first.
    'feed', 'backfill', 'refresh_request', 'expiry']
  loop
    execute format(
      'create trigger region_10_refuse_write before insert or update or delete or truncate on quake.%I
         for each statement execute function quake.region__refuse_write()', name);
    execute format('alter table quake.%I disable trigger region_10_refuse_write', name);
  end loop;
end
$$;

-- Rows that arrive at a region

create function quake.change_transaction__notify() returns trigger
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
begin
  -- The first copy of the table is one transaction, in which all that is committed counts as old.
  if current_setting('session_replication_role') = 'replica' and pg_notification_queue_usage() < 0.25
     and not exists (select from pg_subscription_rel r where r.srrelid = tg_relid and r.srsubstate in ('i', 'd')) then
    perform pg_notify('quake_changes', format(
      '{"token" : "%s.%s", "author" : %s, "inserted" : %s, "updated" : %s, "deleted" : %s, "truncated" : %s}',
      new.token, new.nonce, coalesce(to_json(new.author)::text, 'null'),
      new.inserted, new.updated, new.deleted, new.truncated));
  end if;
  return null;
end
$$;
revoke all on function quake.change_transaction__notify() from public;
comment on function quake.change_transaction__notify() is 'notifies the channel quake_changes of a transaction that a subscription has written';
create trigger region_20_notify after insert on quake.change_transaction
  for each row execute function quake.change_transaction__notify();
alter table quake.change_transaction enable replica trigger region_20_notify;

create function quake.history_floor__follow() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  -- The purge itself moves the row as well.
  if current_setting('session_replication_role') <> 'replica' or pg_trigger_depth() > 1 then
    return new;
  end if;
  if tg_when = 'AFTER' then
    -- The centre's purge moves its own row after each 2,000 versions.
    perform quake.purge_history(20000);
    delete from quake.past_place p where p.token <= new.token;
    return null;
  end if;
  if tg_op = 'INSERT' then  -- the first copy, which may hold more than the centre's purge has left
    new.purged_to := 0;
    new.purged_version := 0;
    return new;
  end if;
  new.purged_to := old.purged_to;
  new.purged_version := old.purged_version;
  -- While the first copy is under way, it may lack what the centre has purged meanwhile.
  if not exists (select from pg_subscription_rel r
                  where r.srsubstate <> 'r'
                    and r.srrelid in ('quake.quake_version'::regclass, 'quake.change_transaction'::regclass)) then
    select coalesce(max(t.token), old.token) into new.token
      from quake.change_transaction t
     where t.token > old.token
       and t.token <= least(new.token, (select min(w.needs) from quake.watcher_lag w
                                         where not w.expired and w.time_behind <= interval '7 days'));
  end if;
  return new;
end
$$;
revoke all on function quake.history_floor__follow() from public;
comment on function quake.history_floor__follow() is 'purges the history of a region when the centre''s has been purged, as far as its own durable cursors that lag behind by at most 7 days allow';
create trigger region_20_follow before insert or update on quake.history_floor
  for each row execute function quake.history_floor__follow();
create trigger region_30_purge after update on quake.history_floor
  for each row execute function quake.history_floor__follow();
alter table quake.history_floor enable replica trigger region_20_follow;
alter table quake.history_floor enable replica trigger region_30_purge;

-- A foreign key does this where no subscription writes.
create function quake.import__forget() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  if current_setting('session_replication_role') = 'replica' then
    update quake.change_transaction t set import_id = null where t.import_id = old.id;
  end if;
  return null;
end
$$;
revoke all on function quake.import__forget() from public;
comment on function quake.import__forget() is 'clears the number of an import in the transactions that only this region still holds, when the centre has deleted it';
create trigger region_20_forget after delete on quake.import
  for each row execute function quake.import__forget();
alter table quake.import enable replica trigger region_20_forget;
