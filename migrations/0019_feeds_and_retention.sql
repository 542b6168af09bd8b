-- oldest schema: 18
--
-- Where the servers of feeds have moved to.

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
