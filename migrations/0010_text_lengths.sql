-- Every text has a length. PostgreSQL takes up to a gigabyte, and a reader needs several times that to
-- show it: one value could end every watcher, again at each restart.
--
-- Names, codes and the like have at most 1,024 bytes, what may be long 65,536. One constraint holds all
-- columns of a kind, because PostgreSQL compiles each constraint anew for each statement that writes.
-- The history (quake_version) is written from these tables, and needs none of its own.

-- What is longer already is cut: in the history without a trace, so that it can be read again; in the
-- events as an update like any other.
create function pg_temp.cut(p_text text, p_bytes integer) returns text
  language sql immutable
as $$
  -- A character has at most four bytes.
  select case when octet_length(p_text) > p_bytes then left(p_text, p_bytes / 4) else p_text end
$$;

update quake.quake_version
   set net = pg_temp.cut(net, 1024), net_code = pg_temp.cut(net_code, 1024),
       source = pg_temp.cut(source, 1024), type = pg_temp.cut(type, 1024),
       status = pg_temp.cut(status, 1024), magnitude_type = pg_temp.cut(magnitude_type, 1024),
       alert = pg_temp.cut(alert, 1024), superseded_by = pg_temp.cut(superseded_by, 1024),
       place = pg_temp.cut(place, 65536), title = pg_temp.cut(title, 65536),
       url = pg_temp.cut(url, 65536), detail = pg_temp.cut(detail, 65536), ids = pg_temp.cut(ids, 65536),
       sources = pg_temp.cut(sources, 65536), types = pg_temp.cut(types, 65536)
 where greatest(octet_length(net), octet_length(net_code), octet_length(source), octet_length(type),
   octet_length(status), octet_length(magnitude_type), octet_length(alert), octet_length(superseded_by)) >
   1024
    or greatest(octet_length(place), octet_length(title), octet_length(url), octet_length(detail),
      octet_length(ids), octet_length(sources), octet_length(types)) > 65536;

select set_config('quake.author', 'quake-admin migrate', true),
       set_config('quake.context', 'texts longer than the schema allows are cut', true);
update quake.quake
   set net = pg_temp.cut(net, 1024), net_code = pg_temp.cut(net_code, 1024),
       source = pg_temp.cut(source, 1024), type = pg_temp.cut(type, 1024),
       status = pg_temp.cut(status, 1024), magnitude_type = pg_temp.cut(magnitude_type, 1024),
       alert = pg_temp.cut(alert, 1024), superseded_by = pg_temp.cut(superseded_by, 1024),
       place = pg_temp.cut(place, 65536), title = pg_temp.cut(title, 65536),
       url = pg_temp.cut(url, 65536), detail = pg_temp.cut(detail, 65536), ids = pg_temp.cut(ids, 65536),
       sources = pg_temp.cut(sources, 65536), types = pg_temp.cut(types, 65536)
 where greatest(octet_length(net), octet_length(net_code), octet_length(source), octet_length(type),
   octet_length(status), octet_length(magnitude_type), octet_length(alert), octet_length(superseded_by)) >
   1024
    or greatest(octet_length(place), octet_length(title), octet_length(url), octet_length(detail),
      octet_length(ids), octet_length(sources), octet_length(types)) > 65536;

delete from quake.quake_alias where greatest(octet_length(id), octet_length(code), octet_length(named_by)) >
  1024;
update quake.import
   set feed = pg_temp.cut(feed, 1024), format = pg_temp.cut(format, 1024),
       etag = pg_temp.cut(etag, 1024), last_modified = pg_temp.cut(last_modified, 1024),
       program = pg_temp.cut(program, 1024), scope = pg_temp.cut(scope, 1024),
       decision = pg_temp.cut(decision, 1024), source = pg_temp.cut(source, 65536),
       quarantine_detail = pg_temp.cut(quarantine_detail, 65536)
 where greatest(octet_length(feed), octet_length(format), octet_length(etag), octet_length(last_modified),
   octet_length(program), octet_length(scope), octet_length(decision)) > 1024
    or greatest(octet_length(source), octet_length(quarantine_detail)) > 65536;
update quake.import_reject
   set place = pg_temp.cut(place, 1024), reason = pg_temp.cut(reason, 65536),
       raw = pg_temp.cut(raw, 65536)
 where octet_length(place) > 1024
    or greatest(octet_length(reason), octet_length(raw)) > 65536;
delete from quake.feed where octet_length(name) > 1024;
update quake.feed
   set etag = pg_temp.cut(etag, 1024), last_modified = pg_temp.cut(last_modified, 1024),
       url = pg_temp.cut(url, 65536), error = pg_temp.cut(error, 65536)
 where greatest(octet_length(etag), octet_length(last_modified)) > 1024
    or greatest(octet_length(url), octet_length(error)) > 65536;
delete from quake.absence where greatest(octet_length(code), octet_length(feed)) > 1024;
update quake.refresh_request
   set feed = pg_temp.cut(feed, 1024), outcome = pg_temp.cut(outcome, 1024),
       error = pg_temp.cut(error, 65536)
 where greatest(octet_length(feed), octet_length(outcome)) > 1024
    or octet_length(error) > 65536;
update quake.watcher
   set holder = pg_temp.cut(holder, 1024)
 where octet_length(holder) > 1024;
update quake.backfill
   set source = pg_temp.cut(source, 1024), url = pg_temp.cut(url, 65536)
 where octet_length(source) > 1024
    or octet_length(url) > 65536;

alter table quake.quake
  add constraint quake_short_text_length check (
    greatest(octet_length(net), octet_length(net_code), octet_length(source), octet_length(type),
      octet_length(status), octet_length(magnitude_type), octet_length(alert),
      octet_length(superseded_by)) <= 1024),
  add constraint quake_long_text_length check (
    greatest(octet_length(place), octet_length(title), octet_length(url), octet_length(detail),
      octet_length(ids), octet_length(sources), octet_length(types)) <= 65536);
alter table quake.quake_alias
  add constraint quake_alias_short_text_length check (
    greatest(octet_length(id), octet_length(code), octet_length(named_by)) <= 1024);
alter table quake.import
  add constraint import_short_text_length check (
    greatest(octet_length(feed), octet_length(format), octet_length(etag), octet_length(last_modified),
      octet_length(program), octet_length(scope), octet_length(decision)) <= 1024),
  add constraint import_long_text_length check (
    greatest(octet_length(source), octet_length(quarantine_detail)) <= 65536);
alter table quake.import_reject
  add constraint import_reject_short_text_length check (
    octet_length(place) <= 1024),
  add constraint import_reject_long_text_length check (
    greatest(octet_length(reason), octet_length(raw)) <= 65536);
alter table quake.feed
  add constraint feed_short_text_length check (
    greatest(octet_length(name), octet_length(etag), octet_length(last_modified)) <= 1024),
  add constraint feed_long_text_length check (
    greatest(octet_length(url), octet_length(error)) <= 65536);
alter table quake.absence
  add constraint absence_short_text_length check (
    greatest(octet_length(code), octet_length(feed)) <= 1024);
alter table quake.refresh_request
  add constraint refresh_request_short_text_length check (
    greatest(octet_length(feed), octet_length(outcome)) <= 1024),
  add constraint refresh_request_long_text_length check (
    octet_length(error) <= 65536);
alter table quake.watcher
  add constraint watcher_short_text_length check (
    octet_length(holder) <= 1024);
alter table quake.backfill
  add constraint backfill_short_text_length check (
    octet_length(source) <= 1024),
  add constraint backfill_long_text_length check (
    octet_length(url) <= 65536);
