-- oldest schema: 18
--
-- Where the servers of feeds have moved to, and what does not grow for ever.

alter table quake.feed
  add column moved_to text,
  add constraint feed_moved_to_text_length check (octet_length(moved_to) <= 65536);
comment on column quake.feed.moved_to is 'the address to which its server redirects for good, or on another host; null: it does not';

create or replace view quake.feed_status as
  select f.name, f.url, f.generated, f.polled_at, f.succeeded_at, f.every, f.next_due, f.failures, f.error,
         f.last_import_id, h.pid as holder_pid, h.application_name as holder_application,
         h.client_addr as holder_address, h.pid is not null as held, f.paused_at, f.paused_by, f.ended_at,
         f.moved_to
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
comment on column quake.feed_status.moved_to is 'the address to which its server redirects for good, or on another host; null: it does not';

-- What does not grow for ever: a poll that changes nothing leaves no further row, and old rows that nothing needs any
-- more are deleted. A worker needs no privilege to delete for that: the functions below run with the owner's rights, and
-- delete nothing else, whatever they are asked for.

comment on table quake.import is 'one row for each import that reached the store, written in the transaction of its data. Of polls in a row that changed nothing, of a feed whose expected events are not known, the newest one alone';

-- The rows of snapshots that should have held events (covers_to) stay: late snapshots are judged by all of them.
create function quake.import__replace_unchanged(p_id bigint) returns void
  language sql security definer
  set search_path = pg_catalog, pg_temp
as $$
  delete from quake.import i using quake.import n
   where n.id = p_id
     and i.id = (select l.id from quake.import l where l.feed = n.feed and l.id < n.id order by l.id desc limit 1)
     and i.source = n.source and (i.generated is null or i.generated <= n.generated)
     and i.complete and i.token is null and i.covers_to is null and i.quarantined_at is null
     and i.inserted + i.updated + i.rejected + i.superseded + i.withdrawn + i.restored = 0
     and n.complete and n.token is null and n.covers_to is null and n.quarantined_at is null
     and n.inserted + n.updated + n.rejected + n.superseded + n.withdrawn + n.restored = 0
$$;
revoke all on function quake.import__replace_unchanged(bigint) from public;
comment on function quake.import__replace_unchanged(bigint) is 'deletes the previous import of the feed, if both it and the given one have changed nothing. For the import itself';

create function quake.purge_imports(p_age interval, p_rows integer) returns bigint
  language sql security definer
  set search_path = pg_catalog, pg_temp
as $$
  with old as (
    select i.id from quake.import i
     where i.started_at < clock_timestamp() - p_age
       -- Absences are counted for 40 days.
       and (i.covers_to is null or i.started_at < clock_timestamp() - interval '41 days')
       and (i.quarantined_at is null or i.decision is not null)
       and not exists (select from quake.change_transaction t where t.import_id = i.id)
       -- The newest snapshot of a feed shows how old the next one may be, and the first one of the simulator when its
       -- catalogue begins.
       and (i.quarantined_at is not null or not i.complete
            or exists (select from quake.import n
                        where n.feed = i.feed and n.id > i.id and n.quarantined_at is null and n.complete
                          and (i.generated is null or n.generated >= i.generated)))
       and (i.feed <> 'simulated' or exists (select from quake.import f where f.feed = i.feed and f.id < i.id))
     order by i.started_at limit p_rows
  ), deleted as (
    delete from quake.import i using old where i.id = old.id returning i.id
  )
  select count(*) from deleted
$$;
revoke all on function quake.purge_imports(interval, integer) from public;
comment on function quake.purge_imports(interval, integer) is 'deletes imports that are older, at most `p_rows`, except those that the history, the quarantine or the next import of a feed needs; returns their number';

create function quake.purge_edits(p_age interval, p_rows integer) returns bigint
  language sql security definer
  set search_path = pg_catalog, pg_temp
as $$
  with old as (
    select e.id from quake.edit e
     where coalesce(e.finished_at, e.started_at) < clock_timestamp() - p_age
       and not exists (select from quake.edit_transaction x
                         join quake.change_transaction t on t.transaction_id = x.transaction_id
                        where x.edit_id = e.id)
       and not exists (select from quake.tombstone d where d.edit_id = e.id)
     order by e.id limit p_rows
  ), deleted as (
    delete from quake.edit e using old where e.id = old.id returning e.id
  )
  select count(*) from deleted
$$;
revoke all on function quake.purge_edits(interval, integer) from public;
comment on function quake.purge_edits(interval, integer) is 'deletes batch edits that are older, at most `p_rows`, of which the history has no change any more and which left no event deleted; returns their number';

create table quake.table_size (
  name text not null,
  at timestamptz not null,
  bytes bigint not null,
  constraint table_size_pkey primary key (name, at),
  constraint table_size_name_text_length check (octet_length(name) <= 1024)
);
comment on table quake.table_size is 'sizes of the tables of this schema, noted by the workers once a day and kept for 30 days';
comment on column quake.table_size.name is 'the table, without its schema';
comment on column quake.table_size.at is 'when the size was noted';
comment on column quake.table_size.bytes is 'bytes of the table with its indexes and large values';

create function quake.note_table_sizes() returns bigint
  language sql security definer
  set search_path = pg_catalog, pg_temp
as $$
  with old as (
    delete from quake.table_size s where s.at < now() - interval '30 days'
  ), noted as (
    insert into quake.table_size (name, at, bytes)
    select c.relname, now(), pg_total_relation_size(c.oid)
      from pg_class c
     where c.relnamespace = 'quake'::regnamespace and c.relkind = 'r'
       and not exists (select from quake.table_size s where s.at > now() - interval '1 day')
    on conflict do nothing
    returning name
  )
  select count(*) from noted
$$;
revoke all on function quake.note_table_sizes() from public;
comment on function quake.note_table_sizes() is 'notes the sizes of the tables, at most once a day; returns the number of tables';
