-- The schema after all migrations, as pg_dump prints it, without comments and settings.
-- Not a migration: a test compares the database with it, and writes it anew when told to:
-- QUAKE_WRITE_SCHEMA=1 swift test --filter SchemaDump
CREATE SCHEMA quake;
COMMENT ON SCHEMA quake IS 'earthquakes, their history, and the imports that brought them';
CREATE TYPE quake.event AS (
	code text,
	net text,
	net_code text,
	source text,
	type text,
	status text,
	magnitude double precision,
	magnitude_type text,
	place text,
	"time" timestamp with time zone,
	updated timestamp with time zone,
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
	as_of timestamp with time zone,
	validated boolean,
	withdrawn_at timestamp with time zone,
	superseded_by text
);
COMMENT ON TYPE quake.event IS 'an event as the history records it: the columns of quake.quake, without those that the owner of the database added';
CREATE FUNCTION quake.as_of(p_token text) RETURNS SETOF quake.event
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    AS $$
  select quake.token_number(p_token);  -- for the error, as above
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
COMMENT ON FUNCTION quake.as_of(p_token text) IS 'the events as they were just after the transaction of a token';
CREATE FUNCTION quake.as_of(p_time timestamp with time zone) RETURNS SETOF quake.event
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select * from quake.as_of(quake.token_at(p_time))
$$;
COMMENT ON FUNCTION quake.as_of(p_time timestamp with time zone) IS 'the events as they were at a time, by the server''s clock';
CREATE FUNCTION quake.change_pending__add(p_inserted bigint, p_updated bigint, p_deleted bigint, p_truncated bigint) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  place text := current_setting('quake.pending', true);
  transaction_id bigint;
begin
  if place ~ '^\([0-9]{1,9},[0-9]{1,4}\)$' then
    update quake.change_pending p
       set inserted = p.inserted + p_inserted, updated = p.updated + p_updated,
           deleted = p.deleted + p_deleted, truncated = p.truncated + p_truncated
     where p.ctid = place::tid and p.xid = pg_current_xact_id()
    returning p.transaction_id, p.ctid::text into transaction_id, place;
    if found then
      place := set_config('quake.pending', place, true);
      return transaction_id;
    end if;
  end if;
  insert into quake.change_pending as p
  values (pg_current_xact_id(), nextval('quake.transaction_id'), p_inserted, p_updated, p_deleted, p_truncated)
  returning p.transaction_id, p.ctid::text into transaction_id, place;
  place := set_config('quake.pending', place, true);
  return transaction_id;
end
$_$;
COMMENT ON FUNCTION quake.change_pending__add(p_inserted bigint, p_updated bigint, p_deleted bigint, p_truncated bigint) IS 'adds to the counts of the running transaction; its first call makes the transaction get a token at commit';
CREATE FUNCTION quake.change_pending__number() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  own_import bigint;
  new_token bigint;
  notified text;
begin
  if new.xmax = '0' then  -- no later statement changed the counts: the row is still in its place
    delete from quake.change_pending p where p.ctid = new.ctid;
  else
    delete from quake.change_pending p
     where p.ctid = case when current_setting('quake.pending', true) ~ '^\([0-9]{1,9},[0-9]{1,4}\)$'
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
  -- The lock comes before the number, or another transaction could commit in between.
  lock table quake.commit_lock in share update exclusive mode;
  insert into quake.change_transaction as t values (
    nextval('quake.token'), substr(gen_random_uuid()::text, 1, 8), new.transaction_id,
    nullif(left(current_setting('quake.author', true), 200), ''),
    nullif(left(current_setting('quake.context', true), 2000), ''),
    nullif(current_setting('application_name'), ''), session_user, pg_backend_pid(),
    inet_client_addr(), clock_timestamp(),
    new.inserted, new.updated, new.deleted, new.truncated, own_import)
  -- The JSON is formatted as text, because json_build_object costs twice as much. A notification holds
  -- at most 8,000 bytes; an author of 200 characters has at most 2,400.
  returning t.token, case
    when pg_notification_queue_usage() < 0.25 then pg_notify('quake_changes', format(
      '{"token" : "%s.%s", "author" : %s, "inserted" : %s, "updated" : %s, "deleted" : %s, "truncated" : %s}',
      t.token, t.nonce, coalesce(to_json(t.author)::text, 'null'),
      t.inserted, t.updated, t.deleted, t.truncated))::text
    when current_setting('max_prepared_transactions') <> '0' then pg_export_snapshot() end
    into new_token, notified;
  if own_import is not null then
    update quake.import i set token = new_token where i.id = own_import;
  end if;
  return null;
end
$_$;
COMMENT ON FUNCTION quake.change_pending__number() IS 'gives a transaction its token at commit, in commit order, and notifies the channel quake_changes unless the notification queue is a quarter full';
CREATE FUNCTION quake.changes_since(p_token text) RETURNS TABLE(token text, "position" bigint, op text, code text, changed text[], old quake.event, new quake.event, author text, context text, application_name text, database_user text, process_id integer, client_address inet, at timestamp with time zone, import_id bigint)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    AS $$
  -- A statement of its own, because the query below does not call it if there are no transactions: an
  -- invalid token must be an error even then.
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
COMMENT ON FUNCTION quake.changes_since(p_token text) IS 'every change after a token, in commit order; after 0 all of them. old and new are whole events; new is null for a delete, old for an insert, both for a truncate';
CREATE FUNCTION quake.difference(p_from text, p_to text) RETURNS TABLE(op text, code text, changed text[], old quake.event, new quake.event)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    AS $$
  -- Statements of their own, because an invalid token must be an error in any case.
  select quake.token_number(p_from);
  select quake.token_number(p_to);
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
COMMENT ON FUNCTION quake.difference(p_from text, p_to text) IS 'net changes between two tokens, in the order of codes; from a later token to an earlier one, the changes that would undo them';
CREATE FUNCTION quake.feed_lock__take(p_feeds text[]) RETURNS TABLE(feed text, foreign_pid integer, foreign_role name)
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  key integer;
begin
  for feed in
    select s.name from quake.feed_status s where s.name = any (p_feeds) and not s.held
     order by array_position(p_feeds, s.name)
  loop
    foreign_pid := null;
    foreign_role := null;
    select f.lock_key into key from quake.feed f where f.name = feed for update skip locked;
    continue when not found;
    if not pg_try_advisory_lock(1903518059, key) then
      continue when (select s.held from quake.feed_status s where s.name = feed);
      -- The holder is not a worker. A prepared transaction has no process.
      select a.pid, a.usename into foreign_pid, foreign_role
        from pg_locks l left join pg_stat_activity a on a.pid = l.pid
       where l.locktype = 'advisory' and l.granted and l.classid = 1903518059 and l.objsubid = 2
         and l.objid::bigint = key::bigint & 4294967295
         and l.database = (select d.oid from pg_database d where d.datname = current_database())
       limit 1;
      foreign_pid := coalesce(foreign_pid, 0);
      update quake.feed f set lock_key = default where f.name = feed returning f.lock_key into key;
      continue when not pg_try_advisory_lock(1903518059, key);
    end if;
    return next;
  end loop;
end
$$;
COMMENT ON FUNCTION quake.feed_lock__take(p_feeds text[]) IS 'takes the locks of feeds and returns the feeds whose lock it took. foreign_pid and foreign_role name a session that held the lock without the privilege to poll; 0: a prepared transaction';
CREATE FUNCTION quake.feed_lock_key(p_name text) RETURNS integer
    LANGUAGE sql STABLE STRICT
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select f.lock_key from quake.feed f where f.name = p_name
$$;
COMMENT ON FUNCTION quake.feed_lock_key(p_name text) IS 'the second key of the advisory lock of a feed; the first is 1903518059';
CREATE TABLE quake.quake (
    code text NOT NULL,
    net text,
    net_code text,
    source text DEFAULT 'local'::text NOT NULL,
    type text,
    status text,
    magnitude double precision,
    magnitude_type text,
    place text,
    "time" timestamp with time zone NOT NULL,
    updated timestamp with time zone,
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
    as_of timestamp with time zone,
    validated boolean DEFAULT false NOT NULL,
    withdrawn_at timestamp with time zone,
    superseded_by text,
    CONSTRAINT quake_as_of_range CHECK (((as_of >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (as_of < '10000-01-01 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT quake_code_length CHECK (((length(code) >= 1) AND (length(code) <= 256))),
    CONSTRAINT quake_depth_range CHECK (((depth >= ('-100'::integer)::double precision) AND (depth <= (7000)::double precision))),
    CONSTRAINT quake_epicentre_whole CHECK (((longitude IS NULL) = (latitude IS NULL))),
    CONSTRAINT quake_latitude_range CHECK (((latitude >= ('-90'::integer)::double precision) AND (latitude <= (90)::double precision))),
    CONSTRAINT quake_long_text_length CHECK ((GREATEST(octet_length(place), octet_length(title), octet_length(url), octet_length(detail), octet_length(ids), octet_length(sources), octet_length(types)) <= 65536)),
    CONSTRAINT quake_longitude_range CHECK (((longitude >= ('-180'::integer)::double precision) AND (longitude <= (180)::double precision))),
    CONSTRAINT quake_magnitude_range CHECK (((magnitude >= ('-10'::integer)::double precision) AND (magnitude <= (12)::double precision))),
    CONSTRAINT quake_short_text_length CHECK ((GREATEST(octet_length(net), octet_length(net_code), octet_length(source), octet_length(type), octet_length(status), octet_length(magnitude_type), octet_length(alert), octet_length(superseded_by)) <= 1024)),
    CONSTRAINT quake_superseded_by_other CHECK ((superseded_by <> code)),
    CONSTRAINT quake_time_range CHECK ((("time" >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND ("time" < '10000-01-01 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT quake_updated_range CHECK (((updated >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (updated < '10000-01-01 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT quake_withdrawn_at_range CHECK (((withdrawn_at >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (withdrawn_at < '10000-01-01 00:00:00+00'::timestamp with time zone)))
);
COMMENT ON TABLE quake.quake IS 'seismic events in their present state, one row each; every change is recorded in quake_version';
COMMENT ON COLUMN quake.quake.code IS 'the event''s id in its feed, network and number together (us7000pn9s); unique, and never changed in place. The feed''s own property called code is net_code: different networks use the same ones';
COMMENT ON COLUMN quake.quake.net IS 'id of the network that is the preferred source (us, ci, ak, ...)';
COMMENT ON COLUMN quake.quake.net_code IS 'the network''s own code for the event; not unique';
COMMENT ON COLUMN quake.quake.source IS 'the catalogue that the row comes from (usgs, emsc, geonet); local if no feed wrote it';
COMMENT ON COLUMN quake.quake.type IS 'kind of event: earthquake, quarry blast, ice quake, explosion, ...';
COMMENT ON COLUMN quake.quake.status IS 'automatic, reviewed or deleted, as the feed spells it';
COMMENT ON COLUMN quake.quake.magnitude IS 'preferred magnitude; zero and negative ones are ordinary; null: not determined';
COMMENT ON COLUMN quake.quake.magnitude_type IS 'magnitude type (ml, md, mb, mww, ...), as the feed spells it';
COMMENT ON COLUMN quake.quake.place IS 'description of the place, for people';
COMMENT ON COLUMN quake.quake."time" IS 'origin time';
COMMENT ON COLUMN quake.quake.updated IS 'when the source last changed the event. It is not a version number: it can also move backwards';
COMMENT ON COLUMN quake.quake.longitude IS 'degrees east, -180 to 180; null together with latitude';
COMMENT ON COLUMN quake.quake.latitude IS 'degrees north, -90 to 90; null together with longitude';
COMMENT ON COLUMN quake.quake.depth IS 'hypocentre depth in kilometres, positive down; negative: above sea level';
COMMENT ON COLUMN quake.quake.title IS 'headline, for people';
COMMENT ON COLUMN quake.quake.url IS 'the event''s page, for people';
COMMENT ON COLUMN quake.quake.detail IS 'address of the event''s detail feed';
COMMENT ON COLUMN quake.quake.felt IS 'number of felt reports';
COMMENT ON COLUMN quake.quake.cdi IS 'maximum reported intensity, 0 to 12';
COMMENT ON COLUMN quake.quake.mmi IS 'maximum estimated instrumental intensity, 0 to 12';
COMMENT ON COLUMN quake.quake.alert IS 'PAGER alert level: green, yellow, orange, red, pending';
COMMENT ON COLUMN quake.quake.tsunami IS '1 if the event is large and in an oceanic region; does not say whether there was a tsunami';
COMMENT ON COLUMN quake.quake.sig IS 'significance, 0 to about 3000; the significant feeds hold events from 600 on';
COMMENT ON COLUMN quake.quake.nst IS 'number of stations used for the location';
COMMENT ON COLUMN quake.quake.dmin IS 'degrees from the epicentre to the nearest station';
COMMENT ON COLUMN quake.quake.rms IS 'root mean square of the travel time residuals, seconds';
COMMENT ON COLUMN quake.quake.gap IS 'largest azimuthal gap between stations, degrees';
COMMENT ON COLUMN quake.quake.ids IS 'every id of the event, as the feed gives them: comma before, between and after';
COMMENT ON COLUMN quake.quake.sources IS 'networks that contributed, in the same form';
COMMENT ON COLUMN quake.quake.types IS 'product types available, in the same form';
COMMENT ON COLUMN quake.quake.as_of IS 'when the snapshot that the contents of the row come from was generated. An older snapshot does not overwrite them; null: not known, or no snapshot wrote them';
COMMENT ON COLUMN quake.quake.validated IS 'state of our own, which no feed overwrites: a person has checked the event';
COMMENT ON COLUMN quake.quake.withdrawn_at IS 'state of our own: when the event was withdrawn, because feeds that should hold it do not; null: it is not withdrawn';
COMMENT ON COLUMN quake.quake.superseded_by IS 'state of our own: code of the row that describes this earthquake now; null: this row does';
CREATE FUNCTION quake.find(p_id text) RETURNS SETOF quake.quake
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  -- Begins at the row of the id, and follows superseded_by to the row that describes the earthquake now.
  -- It visits each row once, so that it also ends in a cycle that a person made by hand.
  with recursive way (code, next, seen) as (
    select q.code, q.superseded_by, array[q.code]
      from quake.quake q
     where q.code = p_id
        or not exists (select from quake.quake o where o.code = p_id)
           and q.code = (select a.code from quake.quake_alias a where a.id = p_id)
    union all
    select q.code, q.superseded_by, w.seen || q.code
      from way w join quake.quake q on q.code = w.next
     where q.code <> all (w.seen)
  )
  select q.* from quake.quake q
   where q.code = (select w.code from way w order by cardinality(w.seen) desc limit 1)
$$;
COMMENT ON FUNCTION quake.find(p_id text) IS 'the event that has or had this id: no row or one; a superseded event leads to its successor';
CREATE FUNCTION quake.history_covers(p_number bigint) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if p_number < (select f.token from quake.history_floor f) then
    perform quake.token__refuse_expired(p_number::text);
  end if;
  return true;
end
$$;
COMMENT ON FUNCTION quake.history_covers(p_number bigint) IS 'true if the history after the token of this number is complete, otherwise an error with SQLSTATE QK002; to be called in the statement that reads the history';
CREATE FUNCTION quake.latest_token() RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select coalesce((select t.token || '.' || t.nonce from quake.change_transaction t order by t.token desc limit 1), '0')
$$;
COMMENT ON FUNCTION quake.latest_token() IS 'the newest token; 0 before the first change';
CREATE FUNCTION quake.oldest_token() RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select coalesce((select t.token || '.' || t.nonce
                     from quake.history_floor f join quake.change_transaction t on t.token = f.token), '0')
$$;
COMMENT ON FUNCTION quake.oldest_token() IS 'the oldest valid token; 0 if nothing was ever purged';
CREATE FUNCTION quake.purge_history(p_rows integer, OUT versions bigint, OUT transactions bigint, OUT finished boolean) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    AS $$
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
COMMENT ON FUNCTION quake.purge_history(p_rows integer, OUT versions bigint, OUT transactions bigint, OUT finished boolean) IS 'removes a batch of the history below the floor; returns how many versions and transactions, and whether the purge is finished';
CREATE FUNCTION quake.purgeable_to(p_token text, p_hold_limit interval) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select coalesce((
    select t.token || '.' || t.nonce from quake.change_transaction t
     where t.token <= least(
       quake.token_number(p_token),
       (select min(w.needs) from quake.watcher_lag w
         where not w.expired and w.time_behind <= p_hold_limit))
     order by t.token desc limit 1), quake.oldest_token())
$$;
COMMENT ON FUNCTION quake.purgeable_to(p_token text, p_hold_limit interval) IS 'the token to which a purge up to the given token may go: no further than the durable cursors that lag behind by at most the limit';
CREATE FUNCTION quake.quake__record_delete() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  again text;
begin
  -- A trigger cannot know whether a statement inserted or deleted an event first, and the history could
  -- end with a delete of an event that exists.
  select q.code into again from old_rows o join quake.quake q on q.code = o.code limit 1;
  if found then
    raise exception 'cannot delete and insert event "%" in one statement', again
      using errcode = 'feature_not_supported', schema = 'quake', table = 'quake',
            hint = 'Use two statements, in one transaction, or an update.';
  end if;
  with pending as (
    select quake.change_pending__add(0, 0, count(*), 0) as transaction_id from old_rows
  )
  insert into quake.quake_version (
    transaction_id, op,
      code, net, net_code, source, type, status, magnitude, magnitude_type,
      place, time, updated, longitude, latitude, depth, title, url,
      detail, felt, cdi, mmi, alert, tsunami, sig, nst,
      dmin, rms, gap, ids, sources, types, as_of, validated,
      withdrawn_at, superseded_by)
  select (select p.transaction_id from pending p), 'delete',
      o.code, o.net, o.net_code, o.source, o.type, o.status, o.magnitude, o.magnitude_type,
      o.place, o.time, o.updated, o.longitude, o.latitude, o.depth, o.title, o.url,
      o.detail, o.felt, o.cdi, o.mmi, o.alert, o.tsunami, o.sig, o.nst,
      o.dmin, o.rms, o.gap, o.ids, o.sources, o.types, o.as_of, o.validated,
      o.withdrawn_at, o.superseded_by
    from old_rows o;
  return null;
end
$$;
COMMENT ON FUNCTION quake.quake__record_delete() IS 'records deleted events, with their last values, in quake_version';
CREATE FUNCTION quake.quake__record_insert() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  with pending as (
    select quake.change_pending__add(count(*), 0, 0, 0) as transaction_id from new_rows
  )
  insert into quake.quake_version (
    transaction_id, op,
      code, net, net_code, source, type, status, magnitude, magnitude_type,
      place, time, updated, longitude, latitude, depth, title, url,
      detail, felt, cdi, mmi, alert, tsunami, sig, nst,
      dmin, rms, gap, ids, sources, types, as_of, validated,
      withdrawn_at, superseded_by)
  select (select p.transaction_id from pending p), 'insert',
      n.code, n.net, n.net_code, n.source, n.type, n.status, n.magnitude, n.magnitude_type,
      n.place, n.time, n.updated, n.longitude, n.latitude, n.depth, n.title, n.url,
      n.detail, n.felt, n.cdi, n.mmi, n.alert, n.tsunami, n.sig, n.nst,
      n.dmin, n.rms, n.gap, n.ids, n.sources, n.types, n.as_of, n.validated,
      n.withdrawn_at, n.superseded_by
    from new_rows n;
  return null;
end
$$;
COMMENT ON FUNCTION quake.quake__record_insert() IS 'records inserted events in quake_version';
CREATE FUNCTION quake.quake__record_truncate() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into quake.quake_version (transaction_id, op)
  values (quake.change_pending__add(0, 0, 0, 1), 'truncate');
  return null;
end
$$;
COMMENT ON FUNCTION quake.quake__record_truncate() IS 'records that the table of events was truncated';
CREATE FUNCTION quake.quake__record_update() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_nestloop TO 'off'
    SET jit TO 'off'
    AS $$
begin
  with difference as materialized (
    select n as row, c.changed
      from old_rows o
      join new_rows n on n.code = o.code
     cross join lateral (
        select array_remove(array[
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
        ], null)) c (changed)
     where c.changed <> '{}'
  ), pending as (
    select quake.change_pending__add(0, count(*), 0, 0) as transaction_id from difference
  )
  insert into quake.quake_version (
    transaction_id, op, changed,
      code, net, net_code, source, type, status, magnitude, magnitude_type,
      place, time, updated, longitude, latitude, depth, title, url,
      detail, felt, cdi, mmi, alert, tsunami, sig, nst,
      dmin, rms, gap, ids, sources, types, as_of, validated,
      withdrawn_at, superseded_by)
  select (select p.transaction_id from pending p), 'update', d.changed,
      (d.row).code, (d.row).net, (d.row).net_code, (d.row).source, (d.row).type,
      (d.row).status, (d.row).magnitude, (d.row).magnitude_type, (d.row).place, (d.row).time,
      (d.row).updated, (d.row).longitude, (d.row).latitude, (d.row).depth, (d.row).title,
      (d.row).url, (d.row).detail, (d.row).felt, (d.row).cdi, (d.row).mmi,
      (d.row).alert, (d.row).tsunami, (d.row).sig, (d.row).nst, (d.row).dmin,
      (d.row).rms, (d.row).gap, (d.row).ids, (d.row).sources, (d.row).types,
      (d.row).as_of, (d.row).validated, (d.row).withdrawn_at, (d.row).superseded_by
    from difference d;
  return null;
end
$$;
COMMENT ON FUNCTION quake.quake__record_update() IS 'records updates that changed something in quake_version';
CREATE FUNCTION quake.quake__refuse_code_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  raise exception 'cannot change the code of event "%" to "%"', old.code, new.code
    using errcode = 'integrity_constraint_violation', schema = 'quake', table = 'quake', column = 'code',
          hint = 'Delete the event and insert it under its new code.';
end
$$;
COMMENT ON FUNCTION quake.quake__refuse_code_change() IS 'refuses to change the code of an event, by which its history is found';
CREATE FUNCTION quake.raise_history_floor(p_token text, p_hold_limit interval) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION quake.raise_history_floor(p_token text, p_hold_limit interval) IS 'raises the floor to a token, as far as purgeable_to allows, so that older tokens expire; returns the new floor. To be committed before purge_history removes anything';
CREATE FUNCTION quake.request_refresh(feed text DEFAULT NULL::text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  asked text[];
  request bigint;
begin
  if not exists (select from quake.feed f where f.name = request_refresh.feed or request_refresh.feed is null) then
    if exists (select from quake.feed f) then
      raise exception 'unknown feed "%"', left(request_refresh.feed, 200)
        using errcode = 'QK005',
              detail = format('The feeds are %s.', (select string_agg(f.name, ', ' order by f.name) from quake.feed f));
    end if;
    raise exception 'there is no feed to refresh'
      using errcode = 'QK005', hint = 'A feed is known as soon as a worker ("quake-ingest run") polls it.';
  end if;
  if request_refresh.feed is not null then
    asked := array[request_refresh.feed];
  else
    -- To find out which feeds are polled takes a look at all locks of the server. A request of the last
    -- second is reused without that look.
    select r.id into request from quake.refresh_request r
     where r.every_feed and r.done_at is null and r.begun_at is null
       and r.requested_at > clock_timestamp() - interval '1 second'
     order by r.id desc limit 1;
    if found then
      return request;
    end if;
    -- A request for a feed that no worker polls any more would never be answered.
    select array_agg(s.name) into asked from quake.feed_status s
     where s.held or not exists (select from quake.feed_status o where o.held);
  end if;

  -- Reuses a request for the same feeds that no poll has begun to answer. Workers ignore requests older
  -- than ten minutes.
  select r.id into request from quake.refresh_request r
   where r.feed = any (asked) and r.done_at is null and r.begun_at is null
     and r.every_feed = (request_refresh.feed is null)
     and r.requested_at > clock_timestamp() - interval '9 minutes'
     and not exists (select from quake.refresh_request o where o.id = r.id and o.feed <> all (asked))
   group by r.id having count(*) = cardinality(asked)
   order by r.id desc limit 1;
  if found then
    return request;
  end if;

  delete from quake.refresh_request r where r.requested_at < now() - interval '1 day';
  delete from quake.refresh_request r
   where r.done_at is not null
     and r.id < (select d.id from quake.refresh_request d where d.done_at is not null
                  order by d.id desc offset 1000 limit 1);
  request := nextval('quake.refresh_request_id');
  insert into quake.refresh_request (id, feed, every_feed)
  select request, a.name, request_refresh.feed is null from unnest(asked) a (name);
  if pg_notification_queue_usage() < 0.25 then
    perform pg_notify('quake_refresh', '');
  end if;
  return request;
end
$$;
COMMENT ON FUNCTION quake.request_refresh(feed text) IS 'requests that workers poll a feed now, or all feeds; returns the number of the request, whose result appears in refresh_request. If the same request was made before and no poll has begun to answer it, it returns the number of that one. An unknown feed is an error with SQLSTATE QK005';
CREATE FUNCTION quake.token__refuse_expired(p_token text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  raise exception 'token % has expired', p_token
    using errcode = 'QK002',
          detail = format('The history up to %s was purged; that is the oldest token that is still valid.', quake.oldest_token()),
          hint = 'Begin again with a snapshot.';
end
$$;
COMMENT ON FUNCTION quake.token__refuse_expired(p_token text) IS 'raises the error for a token below the floor';
CREATE FUNCTION quake.token_at(p_time timestamp with time zone) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  -- By token, not by time: a clock that was set back must not hide later transactions.
  select coalesce((select t.token || '.' || t.nonce from quake.change_transaction t
                    where t.at <= p_time order by t.token desc limit 1), '0')
$$;
COMMENT ON FUNCTION quake.token_at(p_time timestamp with time zone) IS 'the newest token of a transaction that had committed at a time, by the server''s clock; 0 before the first';
CREATE FUNCTION quake.token_number(p_token text) RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  number bigint := 0;
  floor bigint;
  newest quake.change_transaction;
  found_nonce text;
begin
  if p_token is null or p_token !~ '^(0|[1-9][0-9]{0,17}\.[0-9a-f]{8})$' then
    raise exception 'malformed token "%"', p_token
      using errcode = 'QK001', hint = 'A token is a number, a dot and 8 hexadecimal digits, such as 1042.9f3ac2d1; 0 stands for the beginning.';
  end if;
  select f.token into floor from quake.history_floor f;
  if p_token <> '0' then
    number := split_part(p_token, '.', 1)::bigint;
    select t.nonce into found_nonce from quake.change_transaction t where t.token = number;
    if found_nonce is null or found_nonce <> split_part(p_token, '.', 2) then
      select t.* into newest from quake.change_transaction t order by t.token desc limit 1;
      if newest.token is null or number > newest.token then
        raise exception 'token % is in the future', p_token
          using errcode = 'QK004', detail = format('The newest token here is %s.', quake.latest_token()),
                hint = 'The database was restored to an earlier state, or the token is another database''s.';
      end if;
      -- A purged transaction has left no nonce to compare: its token has expired, see below.
      if found_nonce is not null or number > floor then
        raise exception 'history diverged at token %', p_token
          using errcode = 'QK003',
                detail = case when found_nonce is null then format('There is no transaction %s here.', number)
                              else format('Transaction %s is %s.%s here.', number, number, found_nonce) end,
                hint = 'The database was restored or failed over and lost that transaction, or the token is another database''s. Begin again with a snapshot.';
      end if;
    end if;
  end if;
  if number < floor then
    perform quake.token__refuse_expired(p_token);
  end if;
  return number;
end
$_$;
COMMENT ON FUNCTION quake.token_number(p_token text) IS 'the number of a token whose nonce proves that it belongs to this history; otherwise an error with SQLSTATE QK001 (malformed), QK002 (expired), QK003 (diverged) or QK004 (in the future)';
CREATE FUNCTION quake.versions(p_code text) RETURNS TABLE(token text, "position" bigint, op text, changed text[], event quake.event, author text, context text, application_name text, database_user text, process_id integer, client_address inet, at timestamp with time zone, import_id bigint)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    AS $$
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
    -- The truncates that removed the event.
    select e.id, e.transaction_id, e.op, '{}', null
      from own o
     cross join lateral (
       select v.id, v.transaction_id, v.op from quake.quake_version v
        where v.op = 'truncate' and v.id > o.id and (o.next is null or v.id < o.next)
        order by v.id limit 1) e
     where o.op <> 'delete'
  )
  select t.token || '.' || t.nonce,
         -- Up to the floor, other changes of the transaction may have been purged.
         case when t.token > (select f.token from quake.history_floor f)
              then (select count(*) from quake.quake_version o
                     where o.transaction_id = v.transaction_id and o.id < v.id) end,
         v.op, v.changed, v.event,
         t.author, t.context, t.application_name, t.database_user, t.process_id,
         t.client_address, t.at, t.import_id
    from version v join quake.change_transaction t on t.transaction_id = v.transaction_id
   order by v.id
$$;
COMMENT ON FUNCTION quake.versions(p_code text) IS 'the versions of an event that the history holds, the oldest first; event is null for a truncate that removed it';
CREATE TABLE quake.absence (
    code text NOT NULL,
    feed text NOT NULL,
    snapshots integer NOT NULL,
    since timestamp with time zone NOT NULL,
    withdrawn_at timestamp with time zone,
    asked_at timestamp with time zone,
    CONSTRAINT absence_short_text_length CHECK ((GREATEST(octet_length(code), octet_length(feed)) <= 1024)),
    CONSTRAINT absence_snapshots_count CHECK ((snapshots > 0))
);
COMMENT ON TABLE quake.absence IS 'events that were missing from the latest good snapshots that should have held them';
COMMENT ON COLUMN quake.absence.code IS 'the event (quake.code)';
COMMENT ON COLUMN quake.absence.feed IS 'the feed that it is missing from (all_day), whatever its address';
COMMENT ON COLUMN quake.absence.snapshots IS 'number of successive snapshots from which it was missing';
COMMENT ON COLUMN quake.absence.since IS 'when the first of these snapshots was generated';
COMMENT ON COLUMN quake.absence.withdrawn_at IS 'the value of quake.withdrawn_at, if it was set because of this absence; null: it was not';
COMMENT ON COLUMN quake.absence.asked_at IS 'when the event''s own page was last requested without telling whether the event still exists; null: never';
CREATE TABLE quake.backfill (
    id bigint NOT NULL,
    url text NOT NULL,
    source text,
    start_time timestamp with time zone,
    end_time timestamp with time zone,
    min_magnitude double precision,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    expected bigint,
    seen bigint DEFAULT 0 NOT NULL,
    inserted bigint DEFAULT 0 NOT NULL,
    updated bigint DEFAULT 0 NOT NULL,
    unchanged bigint DEFAULT 0 NOT NULL,
    rejected bigint DEFAULT 0 NOT NULL,
    duplicate bigint DEFAULT 0 NOT NULL,
    lock_key bigint DEFAULT ((('x'::text || translate((gen_random_uuid())::text, '-'::text, ''::text)))::bit(64))::bigint NOT NULL,
    CONSTRAINT backfill_counts_whole CHECK ((seen = ((((inserted + updated) + unchanged) + rejected) + duplicate))),
    CONSTRAINT backfill_long_text_length CHECK ((octet_length(url) <= 65536)),
    CONSTRAINT backfill_short_text_length CHECK ((octet_length(source) <= 1024)),
    CONSTRAINT backfill_span_order CHECK ((start_time < end_time)),
    CONSTRAINT backfill_span_whole CHECK (((start_time IS NULL) = (end_time IS NULL)))
);
COMMENT ON TABLE quake.backfill IS 'backfills: one row for each span of time requested from an event service, and for each folder or file';
COMMENT ON COLUMN quake.backfill.id IS 'number of the backfill';
COMMENT ON COLUMN quake.backfill.url IS 'base address of the event service, without user name and password, or the absolute path of the folder or file';
COMMENT ON COLUMN quake.backfill.source IS 'the data centre, as in quake.source; null: the files say it';
COMMENT ON COLUMN quake.backfill.start_time IS 'origin time from which on events are requested; null for files';
COMMENT ON COLUMN quake.backfill.end_time IS 'origin time before which events are requested; null for files';
COMMENT ON COLUMN quake.backfill.min_magnitude IS 'smallest magnitude requested; null: all events, also those without a magnitude';
COMMENT ON COLUMN quake.backfill.started_at IS 'when it began';
COMMENT ON COLUMN quake.backfill.finished_at IS 'when all of it was stored; null: it is running, or was stopped and can be resumed';
COMMENT ON COLUMN quake.backfill.expected IS 'number of events in the span, as the service said when the backfill began; null: not known';
COMMENT ON COLUMN quake.backfill.seen IS 'records received: the sum of inserted, updated, unchanged, rejected and duplicate; an event on the border of two windows counts in both';
COMMENT ON COLUMN quake.backfill.inserted IS 'events that were new';
COMMENT ON COLUMN quake.backfill.updated IS 'events whose contents differed';
COMMENT ON COLUMN quake.backfill.unchanged IS 'events left unchanged';
COMMENT ON COLUMN quake.backfill.rejected IS 'records that were rejected; see import_reject';
COMMENT ON COLUMN quake.backfill.duplicate IS 'records whose code occurred again later in the same answer';
COMMENT ON COLUMN quake.backfill.lock_key IS 'key of the advisory lock of the session that works on the backfill';
CREATE TABLE quake.backfill_file (
    path text NOT NULL,
    backfill_id bigint NOT NULL,
    size bigint NOT NULL,
    modified_at timestamp with time zone NOT NULL,
    import_id bigint,
    finished_at timestamp with time zone NOT NULL,
    CONSTRAINT backfill_file_size CHECK ((size >= 0))
);
COMMENT ON TABLE quake.backfill_file IS 'the files that backfills have stored; a file of the same path, size and modification time is not read again';
COMMENT ON COLUMN quake.backfill_file.path IS 'absolute path on the machine that ran the backfill';
COMMENT ON COLUMN quake.backfill_file.backfill_id IS 'the backfill that last stored it (backfill.id)';
COMMENT ON COLUMN quake.backfill_file.size IS 'size of the file at that time, in bytes';
COMMENT ON COLUMN quake.backfill_file.modified_at IS 'modification time of the file at that time';
COMMENT ON COLUMN quake.backfill_file.import_id IS 'the import that stored its events (import.id)';
COMMENT ON COLUMN quake.backfill_file.finished_at IS 'when its events were stored';
ALTER TABLE quake.backfill ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME quake.backfill_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE quake.backfill_window (
    backfill_id bigint NOT NULL,
    start_time timestamp with time zone NOT NULL,
    end_time timestamp with time zone NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    count bigint,
    import_id bigint,
    finished_at timestamp with time zone,
    CONSTRAINT backfill_window_count CHECK ((count >= 0)),
    CONSTRAINT backfill_window_span_order CHECK ((start_time < end_time)),
    CONSTRAINT backfill_window_state_finished CHECK (((state = 'done'::text) = (finished_at IS NOT NULL))),
    CONSTRAINT backfill_window_state_known CHECK ((state = ANY (ARRAY['pending'::text, 'done'::text])))
);
COMMENT ON TABLE quake.backfill_window IS 'the windows of time that a backfill requests one by one; together they cover its span';
COMMENT ON COLUMN quake.backfill_window.backfill_id IS 'the backfill (backfill.id)';
COMMENT ON COLUMN quake.backfill_window.start_time IS 'origin time from which on the window holds events';
COMMENT ON COLUMN quake.backfill_window.end_time IS 'origin time before which the window holds events';
COMMENT ON COLUMN quake.backfill_window.state IS 'pending: still to be requested; done: its events are stored';
COMMENT ON COLUMN quake.backfill_window.count IS 'while pending, the number of events that the service says it holds; when done, the number of records received; null: not known';
COMMENT ON COLUMN quake.backfill_window.import_id IS 'the import that stored its events (import.id); null: pending';
COMMENT ON COLUMN quake.backfill_window.finished_at IS 'when its events were stored';
CREATE UNLOGGED TABLE quake.change_pending (
    xid xid8 NOT NULL,
    transaction_id bigint NOT NULL,
    inserted bigint NOT NULL,
    updated bigint NOT NULL,
    deleted bigint NOT NULL,
    truncated bigint NOT NULL
);
COMMENT ON TABLE quake.change_pending IS 'transactions that have changed events and have not committed yet';
COMMENT ON COLUMN quake.change_pending.xid IS 'the transaction id of PostgreSQL';
COMMENT ON COLUMN quake.change_pending.transaction_id IS 'the transaction id of the versions';
COMMENT ON COLUMN quake.change_pending.inserted IS 'events inserted so far';
COMMENT ON COLUMN quake.change_pending.updated IS 'updates that changed something so far';
COMMENT ON COLUMN quake.change_pending.deleted IS 'events deleted so far';
COMMENT ON COLUMN quake.change_pending.truncated IS 'times the table was truncated so far';
CREATE TABLE quake.change_transaction (
    token bigint NOT NULL,
    nonce text NOT NULL,
    transaction_id bigint NOT NULL,
    author text,
    context text,
    application_name text,
    database_user text NOT NULL,
    process_id integer NOT NULL,
    client_address inet,
    at timestamp with time zone NOT NULL,
    inserted bigint NOT NULL,
    updated bigint NOT NULL,
    deleted bigint NOT NULL,
    truncated bigint NOT NULL,
    import_id bigint
);
COMMENT ON TABLE quake.change_transaction IS 'one row for each committed transaction that changed events, in commit order';
COMMENT ON COLUMN quake.change_transaction.token IS 'number of the transaction, in commit order; written token.nonce where it leaves the database';
COMMENT ON COLUMN quake.change_transaction.nonce IS 'random, 8 hexadecimal digits: proves that a token belongs to this history';
COMMENT ON COLUMN quake.change_transaction.transaction_id IS 'ties the versions in quake_version to the transaction';
COMMENT ON COLUMN quake.change_transaction.author IS 'who made the change, as set by the writer: set local quake.author = ...; cut after 200 characters';
COMMENT ON COLUMN quake.change_transaction.context IS 'why the change was made, as set by the writer: set local quake.context = ...; cut after 2,000 characters';
COMMENT ON COLUMN quake.change_transaction.application_name IS 'application_name of the writing session';
COMMENT ON COLUMN quake.change_transaction.database_user IS 'role that the session had logged in as';
COMMENT ON COLUMN quake.change_transaction.process_id IS 'process id of the server process that wrote';
COMMENT ON COLUMN quake.change_transaction.client_address IS 'address of the client; null over a Unix socket';
COMMENT ON COLUMN quake.change_transaction.at IS 'when it got its token, just before its commit';
COMMENT ON COLUMN quake.change_transaction.inserted IS 'events inserted';
COMMENT ON COLUMN quake.change_transaction.updated IS 'updates that changed something';
COMMENT ON COLUMN quake.change_transaction.deleted IS 'events deleted';
COMMENT ON COLUMN quake.change_transaction.truncated IS 'times the table was truncated';
COMMENT ON COLUMN quake.change_transaction.import_id IS 'the import that made the change (import.id); null: none did';
CREATE TABLE quake.commit_lock (
);
COMMENT ON TABLE quake.commit_lock IS 'empty: transactions that changed events lock it at commit, one at a time';
CREATE VIEW quake.current_quake AS
 SELECT quake.code,
    quake.net,
    quake.net_code,
    quake.source,
    quake.type,
    quake.status,
    quake.magnitude,
    quake.magnitude_type,
    quake.place,
    quake."time",
    quake.updated,
    quake.longitude,
    quake.latitude,
    quake.depth,
    quake.title,
    quake.url,
    quake.detail,
    quake.felt,
    quake.cdi,
    quake.mmi,
    quake.alert,
    quake.tsunami,
    quake.sig,
    quake.nst,
    quake.dmin,
    quake.rms,
    quake.gap,
    quake.ids,
    quake.sources,
    quake.types,
    quake.as_of,
    quake.validated,
    quake.withdrawn_at,
    quake.superseded_by
   FROM quake.quake
  WHERE ((quake.superseded_by IS NULL) AND (quake.withdrawn_at IS NULL));
COMMENT ON VIEW quake.current_quake IS 'the events that are neither superseded nor withdrawn: one row for each earthquake';
COMMENT ON COLUMN quake.current_quake.code IS 'the event''s id in its feed, network and number together (us7000pn9s); unique, and never changed in place. The feed''s own property called code is net_code: different networks use the same ones';
COMMENT ON COLUMN quake.current_quake.net IS 'id of the network that is the preferred source (us, ci, ak, ...)';
COMMENT ON COLUMN quake.current_quake.net_code IS 'the network''s own code for the event; not unique';
COMMENT ON COLUMN quake.current_quake.source IS 'the catalogue that the row comes from (usgs, emsc, geonet); local if no feed wrote it';
COMMENT ON COLUMN quake.current_quake.type IS 'kind of event: earthquake, quarry blast, ice quake, explosion, ...';
COMMENT ON COLUMN quake.current_quake.status IS 'automatic, reviewed or deleted, as the feed spells it';
COMMENT ON COLUMN quake.current_quake.magnitude IS 'preferred magnitude; zero and negative ones are ordinary; null: not determined';
COMMENT ON COLUMN quake.current_quake.magnitude_type IS 'magnitude type (ml, md, mb, mww, ...), as the feed spells it';
COMMENT ON COLUMN quake.current_quake.place IS 'description of the place, for people';
COMMENT ON COLUMN quake.current_quake."time" IS 'origin time';
COMMENT ON COLUMN quake.current_quake.updated IS 'when the source last changed the event. It is not a version number: it can also move backwards';
COMMENT ON COLUMN quake.current_quake.longitude IS 'degrees east, -180 to 180; null together with latitude';
COMMENT ON COLUMN quake.current_quake.latitude IS 'degrees north, -90 to 90; null together with longitude';
COMMENT ON COLUMN quake.current_quake.depth IS 'hypocentre depth in kilometres, positive down; negative: above sea level';
COMMENT ON COLUMN quake.current_quake.title IS 'headline, for people';
COMMENT ON COLUMN quake.current_quake.url IS 'the event''s page, for people';
COMMENT ON COLUMN quake.current_quake.detail IS 'address of the event''s detail feed';
COMMENT ON COLUMN quake.current_quake.felt IS 'number of felt reports';
COMMENT ON COLUMN quake.current_quake.cdi IS 'maximum reported intensity, 0 to 12';
COMMENT ON COLUMN quake.current_quake.mmi IS 'maximum estimated instrumental intensity, 0 to 12';
COMMENT ON COLUMN quake.current_quake.alert IS 'PAGER alert level: green, yellow, orange, red, pending';
COMMENT ON COLUMN quake.current_quake.tsunami IS '1 if the event is large and in an oceanic region; does not say whether there was a tsunami';
COMMENT ON COLUMN quake.current_quake.sig IS 'significance, 0 to about 3000; the significant feeds hold events from 600 on';
COMMENT ON COLUMN quake.current_quake.nst IS 'number of stations used for the location';
COMMENT ON COLUMN quake.current_quake.dmin IS 'degrees from the epicentre to the nearest station';
COMMENT ON COLUMN quake.current_quake.rms IS 'root mean square of the travel time residuals, seconds';
COMMENT ON COLUMN quake.current_quake.gap IS 'largest azimuthal gap between stations, degrees';
COMMENT ON COLUMN quake.current_quake.ids IS 'every id of the event, as the feed gives them: comma before, between and after';
COMMENT ON COLUMN quake.current_quake.sources IS 'networks that contributed, in the same form';
COMMENT ON COLUMN quake.current_quake.types IS 'product types available, in the same form';
COMMENT ON COLUMN quake.current_quake.as_of IS 'when the snapshot that the contents of the row come from was generated. An older snapshot does not overwrite them; null: not known, or no snapshot wrote them';
COMMENT ON COLUMN quake.current_quake.validated IS 'state of our own, which no feed overwrites: a person has checked the event';
COMMENT ON COLUMN quake.current_quake.withdrawn_at IS 'state of our own: when the event was withdrawn, because feeds that should hold it do not; null: it is not withdrawn';
COMMENT ON COLUMN quake.current_quake.superseded_by IS 'state of our own: code of the row that describes this earthquake now; null: this row does';
CREATE TABLE quake.feed (
    name text NOT NULL,
    url text NOT NULL,
    etag text,
    last_modified text,
    generated timestamp with time zone,
    polled_at timestamp with time zone,
    succeeded_at timestamp with time zone,
    failures integer DEFAULT 0 NOT NULL,
    error text,
    every interval,
    next_due timestamp with time zone,
    fresh_until timestamp with time zone,
    retry_after timestamp with time zone,
    last_import_id bigint,
    lock_key integer DEFAULT ((('x'::text || "left"((gen_random_uuid())::text, 8)))::bit(32))::integer NOT NULL,
    CONSTRAINT feed_every_positive CHECK ((every > '00:00:00'::interval)),
    CONSTRAINT feed_failures_count CHECK ((failures >= 0)),
    CONSTRAINT feed_long_text_length CHECK ((GREATEST(octet_length(url), octet_length(error)) <= 65536)),
    CONSTRAINT feed_short_text_length CHECK ((GREATEST(octet_length(name), octet_length(etag), octet_length(last_modified)) <= 1024))
);
COMMENT ON TABLE quake.feed IS 'state of the feeds that workers poll';
COMMENT ON COLUMN quake.feed.name IS 'the feed''s short name';
COMMENT ON COLUMN quake.feed.url IS 'the address that is polled, without a password';
COMMENT ON COLUMN quake.feed.etag IS 'ETag of the last snapshot; sent with the next request, so that the server need not send an unchanged snapshot';
COMMENT ON COLUMN quake.feed.last_modified IS 'Last-Modified of the last snapshot, unchanged; sent as well';
COMMENT ON COLUMN quake.feed.generated IS 'when the last snapshot was generated';
COMMENT ON COLUMN quake.feed.polled_at IS 'when it was last polled';
COMMENT ON COLUMN quake.feed.succeeded_at IS 'when a poll last succeeded; "not modified" is a success';
COMMENT ON COLUMN quake.feed.failures IS 'failed polls since then';
COMMENT ON COLUMN quake.feed.error IS 'error of the last poll; null: it succeeded';
COMMENT ON COLUMN quake.feed.every IS 'time between two polls, as configured for the worker that last polled it';
COMMENT ON COLUMN quake.feed.next_due IS 'when a worker is to poll it next, whichever it is; null: at once';
COMMENT ON COLUMN quake.feed.fresh_until IS 'until when the last answer is fresh, as the server says (Cache-Control, Expires); null: it does not say';
COMMENT ON COLUMN quake.feed.retry_after IS 'when the server may be asked again, as it says (Retry-After); refresh requests wait for that as well; null: it does not say';
COMMENT ON COLUMN quake.feed.last_import_id IS 'its last import (import.id); null: none yet';
COMMENT ON COLUMN quake.feed.lock_key IS 'second key of the advisory lock of the session that polls the feed; the first is 1903518059';
CREATE VIEW quake.feed_status AS
 SELECT f.name,
    f.url,
    f.generated,
    f.polled_at,
    f.succeeded_at,
    f.every,
    f.next_due,
    f.failures,
    f.error,
    f.last_import_id,
    h.pid AS holder_pid,
    h.application_name AS holder_application,
    h.client_addr AS holder_address,
    (h.pid IS NOT NULL) AS held
   FROM (quake.feed f
     LEFT JOIN ( SELECT l.objid,
            a.pid,
            a.application_name,
            a.client_addr
           FROM (pg_locks l
             JOIN pg_stat_activity a ON ((a.pid = l.pid)))
          WHERE ((l.locktype = 'advisory'::text) AND l.granted AND (l.mode = 'ExclusiveLock'::text) AND (l.database = ( SELECT d.oid
                   FROM pg_database d
                  WHERE (d.datname = current_database()))) AND (l.classid = (1903518059)::oid) AND (l.objsubid = 2) AND has_table_privilege(a.usesysid, 'quake.feed'::text, 'update'::text))) h ON (((h.objid)::bigint = ((f.lock_key)::bigint & '4294967295'::bigint))));
COMMENT ON VIEW quake.feed_status IS 'the feeds, their state, and the session that polls each';
COMMENT ON COLUMN quake.feed_status.name IS 'the feed''s short name';
COMMENT ON COLUMN quake.feed_status.url IS 'the address that is polled, without a password';
COMMENT ON COLUMN quake.feed_status.generated IS 'when the last snapshot was generated';
COMMENT ON COLUMN quake.feed_status.polled_at IS 'when it was last polled';
COMMENT ON COLUMN quake.feed_status.succeeded_at IS 'when a poll last succeeded; "not modified" is a success';
COMMENT ON COLUMN quake.feed_status.every IS 'time between two polls';
COMMENT ON COLUMN quake.feed_status.next_due IS 'when a worker is to poll it next';
COMMENT ON COLUMN quake.feed_status.failures IS 'failed polls since the last that succeeded';
COMMENT ON COLUMN quake.feed_status.error IS 'error of the last poll; null: it succeeded';
COMMENT ON COLUMN quake.feed_status.last_import_id IS 'its last import (import.id)';
COMMENT ON COLUMN quake.feed_status.holder_pid IS 'process id of the server process of the worker that polls it; null: no worker does';
COMMENT ON COLUMN quake.feed_status.holder_application IS 'application_name of that worker';
COMMENT ON COLUMN quake.feed_status.holder_address IS 'address of that worker; null over a Unix socket';
COMMENT ON COLUMN quake.feed_status.held IS 'whether a worker polls it now';
CREATE TABLE quake.history_floor (
    single boolean DEFAULT true NOT NULL,
    token bigint DEFAULT 0 NOT NULL,
    raised_at timestamp with time zone,
    purged_to bigint DEFAULT 0 NOT NULL,
    purged_version bigint DEFAULT 0 NOT NULL,
    CONSTRAINT history_floor_single CHECK (single)
);
COMMENT ON TABLE quake.history_floor IS 'how far back the history reaches: one row';
COMMENT ON COLUMN quake.history_floor.single IS 'always true, so that there is one row only';
COMMENT ON COLUMN quake.history_floor.token IS 'number of the oldest valid token; 0: nothing was ever purged';
COMMENT ON COLUMN quake.history_floor.raised_at IS 'when the floor was last raised';
COMMENT ON COLUMN quake.history_floor.purged_to IS 'number of the transaction that the purge has reached; the purge is done when that is the floor';
COMMENT ON COLUMN quake.history_floor.purged_version IS 'id of the last version of that transaction that the purge has passed';
CREATE TABLE quake.import (
    id bigint NOT NULL,
    source text NOT NULL,
    feed text NOT NULL,
    format text NOT NULL,
    http_status integer,
    etag text,
    last_modified text,
    generated timestamp with time zone,
    seen bigint DEFAULT 0 NOT NULL,
    inserted bigint DEFAULT 0 NOT NULL,
    updated bigint DEFAULT 0 NOT NULL,
    unchanged bigint DEFAULT 0 NOT NULL,
    rejected bigint DEFAULT 0 NOT NULL,
    duplicate bigint DEFAULT 0 NOT NULL,
    stale bigint DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    receive_duration interval,
    merge_duration interval,
    complete boolean DEFAULT false NOT NULL,
    program text NOT NULL,
    token bigint,
    superseded bigint DEFAULT 0 NOT NULL,
    withdrawn bigint DEFAULT 0 NOT NULL,
    restored bigint DEFAULT 0 NOT NULL,
    scope text,
    covers_from timestamp with time zone,
    covers_to timestamp with time zone,
    reaches_from timestamp with time zone,
    minimum_magnitude double precision,
    quarantined_at timestamp with time zone,
    quarantine_reason text,
    quarantine_detail text,
    decision text,
    decided_at timestamp with time zone,
    applied_import_id bigint,
    CONSTRAINT import_counts_whole CHECK ((seen = ((((inserted + updated) + unchanged) + rejected) + duplicate))),
    CONSTRAINT import_decision CHECK ((decision = ANY (ARRAY['applied'::text, 'discarded'::text]))),
    CONSTRAINT import_decision_whole CHECK ((((decision IS NULL) = (decided_at IS NULL)) AND ((decision IS NULL) OR (quarantined_at IS NOT NULL)))),
    CONSTRAINT import_long_text_length CHECK ((GREATEST(octet_length(source), octet_length(quarantine_detail)) <= 65536)),
    CONSTRAINT import_quarantine_reason CHECK ((quarantine_reason = ANY (ARRAY['implausible times'::text, 'mass loss'::text, 'stale'::text, 'empty'::text, 'truncated'::text, 'damaged'::text]))),
    CONSTRAINT import_quarantine_untouched CHECK (((quarantined_at IS NULL) OR ((inserted = 0) AND (updated = 0) AND (superseded = 0) AND (withdrawn = 0) AND (restored = 0) AND (token IS NULL)))),
    CONSTRAINT import_quarantine_whole CHECK (((quarantined_at IS NULL) = (quarantine_reason IS NULL))),
    CONSTRAINT import_short_text_length CHECK ((GREATEST(octet_length(feed), octet_length(format), octet_length(etag), octet_length(last_modified), octet_length(program), octet_length(scope), octet_length(decision)) <= 1024)),
    CONSTRAINT import_stale_unchanged CHECK ((stale <= unchanged))
);
COMMENT ON TABLE quake.import IS 'one row for each import that reached the store, written in the transaction of its data';
COMMENT ON COLUMN quake.import.id IS 'number of the import';
COMMENT ON COLUMN quake.import.source IS 'the URL (without a password) or the path that was read; - is standard input';
COMMENT ON COLUMN quake.import.feed IS 'short name of the feed';
COMMENT ON COLUMN quake.import.format IS 'usgs-geojson, usgs-csv, emsc-json, ...';
COMMENT ON COLUMN quake.import.http_status IS 'status of the HTTP answer; null for a file';
COMMENT ON COLUMN quake.import.etag IS 'ETag of the HTTP answer';
COMMENT ON COLUMN quake.import.last_modified IS 'Last-Modified of the HTTP answer, unchanged';
COMMENT ON COLUMN quake.import.generated IS 'when the snapshot was generated, as it says itself, else Last-Modified or Date of the HTTP answer; null: not known';
COMMENT ON COLUMN quake.import.seen IS 'records in the feed: the sum of inserted, updated, unchanged, rejected and duplicate';
COMMENT ON COLUMN quake.import.inserted IS 'events that were new';
COMMENT ON COLUMN quake.import.updated IS 'events whose contents differed';
COMMENT ON COLUMN quake.import.unchanged IS 'events left unchanged, stale ones included';
COMMENT ON COLUMN quake.import.rejected IS 'records that were rejected; see import_reject';
COMMENT ON COLUMN quake.import.duplicate IS 'records whose code occurred again later in the same feed; the last one is imported';
COMMENT ON COLUMN quake.import.stale IS 'events left unchanged because their row comes from a newer snapshot';
COMMENT ON COLUMN quake.import.bytes IS 'bytes of the body after decompression';
COMMENT ON COLUMN quake.import.started_at IS 'when the import began';
COMMENT ON COLUMN quake.import.finished_at IS 'when its last merge ended';
COMMENT ON COLUMN quake.import.receive_duration IS 'time spent on receiving, decoding and staging';
COMMENT ON COLUMN quake.import.merge_duration IS 'time spent on merging';
COMMENT ON COLUMN quake.import.complete IS 'false while an import that commits in batches has not reached its end';
COMMENT ON COLUMN quake.import.program IS 'program and version that ran the import';
COMMENT ON COLUMN quake.import.token IS 'number of the (last) transaction in which it changed events; null: it changed none';
COMMENT ON COLUMN quake.import.superseded IS 'events that were superseded by another row of the same earthquake (quake.superseded_by)';
COMMENT ON COLUMN quake.import.withdrawn IS 'events that were withdrawn, because they had been missing from several snapshots (quake.withdrawn_at)';
COMMENT ON COLUMN quake.import.restored IS 'events that were superseded or withdrawn and are so no longer';
COMMENT ON COLUMN quake.import.scope IS 'the feed whose events the snapshot should hold (all_day), whatever its address; null: not known';
COMMENT ON COLUMN quake.import.covers_from IS 'start of the period, in origin times, of which the snapshot should hold every event of its catalogue; null: not known';
COMMENT ON COLUMN quake.import.covers_to IS 'end of that period';
COMMENT ON COLUMN quake.import.reaches_from IS 'origin time from which on the snapshot really held events of that period';
COMMENT ON COLUMN quake.import.minimum_magnitude IS 'the snapshot holds events of this magnitude or more; null: of any';
COMMENT ON COLUMN quake.import.quarantined_at IS 'when the snapshot was quarantined instead of being applied; null: it was applied';
COMMENT ON COLUMN quake.import.quarantine_reason IS 'why it was quarantined: implausible times, mass loss, stale, empty, truncated, damaged';
COMMENT ON COLUMN quake.import.quarantine_detail IS 'the figures behind the reason';
COMMENT ON COLUMN quake.import.decision IS 'what a person decided about the quarantined snapshot: applied, discarded; null: nothing yet';
COMMENT ON COLUMN quake.import.decided_at IS 'when the person decided';
COMMENT ON COLUMN quake.import.applied_import_id IS 'the import that applied the quarantined snapshot (import.id)';
CREATE TABLE quake.import_body (
    import_id bigint NOT NULL,
    part integer NOT NULL,
    bytes bytea NOT NULL
);
ALTER TABLE ONLY quake.import_body ALTER COLUMN bytes SET STORAGE EXTERNAL;
COMMENT ON TABLE quake.import_body IS 'bodies of quarantined snapshots, gzip data in parts';
COMMENT ON COLUMN quake.import_body.import_id IS 'the import (import.id)';
COMMENT ON COLUMN quake.import_body.part IS 'number of the part, from 0';
COMMENT ON COLUMN quake.import_body.bytes IS 'the part''s bytes; all parts together are one gzip file';
ALTER TABLE quake.import ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME quake.import_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE quake.import_reject (
    import_id bigint NOT NULL,
    record bigint NOT NULL,
    place text NOT NULL,
    reason text NOT NULL,
    raw text NOT NULL,
    CONSTRAINT import_reject_long_text_length CHECK ((GREATEST(octet_length(reason), octet_length(raw)) <= 65536)),
    CONSTRAINT import_reject_short_text_length CHECK ((octet_length(place) <= 1024))
);
COMMENT ON TABLE quake.import_reject IS 'records of a feed that were rejected';
COMMENT ON COLUMN quake.import_reject.import_id IS 'the import (import.id)';
COMMENT ON COLUMN quake.import_reject.record IS 'number of the record in the feed, from 1';
COMMENT ON COLUMN quake.import_reject.place IS 'where the record begins in the input: line or byte offset';
COMMENT ON COLUMN quake.import_reject.reason IS 'why it was rejected';
COMMENT ON COLUMN quake.import_reject.raw IS 'the record as received, at most 64 KiB; bytes that are not UTF-8 are replaced';
CREATE TABLE quake.migration (
    version integer NOT NULL,
    name text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    program text NOT NULL
);
COMMENT ON TABLE quake.migration IS 'the steps of the schema that have been applied, in order';
COMMENT ON COLUMN quake.migration.version IS 'number of the step, from 1';
COMMENT ON COLUMN quake.migration.name IS 'name of its file, without number and ending';
COMMENT ON COLUMN quake.migration.sha256 IS 'SHA-256 of the file, hexadecimal';
COMMENT ON COLUMN quake.migration.applied_at IS 'when it was applied';
COMMENT ON COLUMN quake.migration.program IS 'program and version that applied it';
CREATE TABLE quake.quake_alias (
    id text NOT NULL,
    code text NOT NULL,
    named_by text,
    as_of timestamp with time zone,
    CONSTRAINT quake_alias_other CHECK ((id <> code)),
    CONSTRAINT quake_alias_short_text_length CHECK ((GREATEST(octet_length(id), octet_length(code), octet_length(named_by)) <= 1024))
);
COMMENT ON TABLE quake.quake_alias IS 'the other ids under which feeds have listed events (quake.ids); the present code of an event needs no row here';
COMMENT ON COLUMN quake.quake_alias.id IS 'an id that is or was one of the event''s';
COMMENT ON COLUMN quake.quake_alias.code IS 'the present code of the event';
COMMENT ON COLUMN quake.quake_alias.named_by IS 'the event whose ids last included this one, if that event was superseded since; null: it is the event in code';
COMMENT ON COLUMN quake.quake_alias.as_of IS 'when the first snapshot that said so was generated; null: not known';
CREATE TABLE quake.quake_version (
    id bigint NOT NULL,
    transaction_id bigint NOT NULL,
    op text NOT NULL,
    changed text[],
    code text,
    net text,
    net_code text,
    source text,
    type text,
    status text,
    magnitude double precision,
    magnitude_type text,
    place text,
    "time" timestamp with time zone,
    updated timestamp with time zone,
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
    as_of timestamp with time zone,
    validated boolean,
    withdrawn_at timestamp with time zone,
    superseded_by text
);
COMMENT ON TABLE quake.quake_version IS 'one row for each change of one event: the event as it was after the change (for a delete: before it)';
COMMENT ON COLUMN quake.quake_version.id IS 'number of the change; increases within an event and within a transaction';
COMMENT ON COLUMN quake.quake_version.transaction_id IS 'the transaction it belongs to (change_transaction.transaction_id)';
COMMENT ON COLUMN quake.quake_version.op IS 'insert, update, delete or truncate; a truncate has no event';
COMMENT ON COLUMN quake.quake_version.changed IS 'names of the columns that an update changed';
COMMENT ON COLUMN quake.quake_version.code IS 'the event''s id in its feed, network and number together (us7000pn9s); unique, and never changed in place. The feed''s own property called code is net_code: different networks use the same ones';
COMMENT ON COLUMN quake.quake_version.net IS 'id of the network that is the preferred source (us, ci, ak, ...)';
COMMENT ON COLUMN quake.quake_version.net_code IS 'the network''s own code for the event; not unique';
COMMENT ON COLUMN quake.quake_version.source IS 'the catalogue that the row comes from (usgs, emsc, geonet); local if no feed wrote it';
COMMENT ON COLUMN quake.quake_version.type IS 'kind of event: earthquake, quarry blast, ice quake, explosion, ...';
COMMENT ON COLUMN quake.quake_version.status IS 'automatic, reviewed or deleted, as the feed spells it';
COMMENT ON COLUMN quake.quake_version.magnitude IS 'preferred magnitude; zero and negative ones are ordinary; null: not determined';
COMMENT ON COLUMN quake.quake_version.magnitude_type IS 'magnitude type (ml, md, mb, mww, ...), as the feed spells it';
COMMENT ON COLUMN quake.quake_version.place IS 'description of the place, for people';
COMMENT ON COLUMN quake.quake_version."time" IS 'origin time';
COMMENT ON COLUMN quake.quake_version.updated IS 'when the source last changed the event. It is not a version number: it can also move backwards';
COMMENT ON COLUMN quake.quake_version.longitude IS 'degrees east, -180 to 180; null together with latitude';
COMMENT ON COLUMN quake.quake_version.latitude IS 'degrees north, -90 to 90; null together with longitude';
COMMENT ON COLUMN quake.quake_version.depth IS 'hypocentre depth in kilometres, positive down; negative: above sea level';
COMMENT ON COLUMN quake.quake_version.title IS 'headline, for people';
COMMENT ON COLUMN quake.quake_version.url IS 'the event''s page, for people';
COMMENT ON COLUMN quake.quake_version.detail IS 'address of the event''s detail feed';
COMMENT ON COLUMN quake.quake_version.felt IS 'number of felt reports';
COMMENT ON COLUMN quake.quake_version.cdi IS 'maximum reported intensity, 0 to 12';
COMMENT ON COLUMN quake.quake_version.mmi IS 'maximum estimated instrumental intensity, 0 to 12';
COMMENT ON COLUMN quake.quake_version.alert IS 'PAGER alert level: green, yellow, orange, red, pending';
COMMENT ON COLUMN quake.quake_version.tsunami IS '1 if the event is large and in an oceanic region; does not say whether there was a tsunami';
COMMENT ON COLUMN quake.quake_version.sig IS 'significance, 0 to about 3000; the significant feeds hold events from 600 on';
COMMENT ON COLUMN quake.quake_version.nst IS 'number of stations used for the location';
COMMENT ON COLUMN quake.quake_version.dmin IS 'degrees from the epicentre to the nearest station';
COMMENT ON COLUMN quake.quake_version.rms IS 'root mean square of the travel time residuals, seconds';
COMMENT ON COLUMN quake.quake_version.gap IS 'largest azimuthal gap between stations, degrees';
COMMENT ON COLUMN quake.quake_version.ids IS 'every id of the event, as the feed gives them: comma before, between and after';
COMMENT ON COLUMN quake.quake_version.sources IS 'networks that contributed, in the same form';
COMMENT ON COLUMN quake.quake_version.types IS 'product types available, in the same form';
COMMENT ON COLUMN quake.quake_version.as_of IS 'when the snapshot that the contents of the row come from was generated. An older snapshot does not overwrite them; null: not known, or no snapshot wrote them';
COMMENT ON COLUMN quake.quake_version.validated IS 'state of our own, which no feed overwrites: a person has checked the event';
COMMENT ON COLUMN quake.quake_version.withdrawn_at IS 'state of our own: when the event was withdrawn, because feeds that should hold it do not; null: it is not withdrawn';
COMMENT ON COLUMN quake.quake_version.superseded_by IS 'state of our own: code of the row that describes this earthquake now; null: this row does';
ALTER TABLE quake.quake_version ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME quake.quake_version_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE quake.refresh_request (
    id bigint NOT NULL,
    feed text NOT NULL,
    requested_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    requested_by text DEFAULT SESSION_USER NOT NULL,
    taken_at timestamp with time zone,
    done_at timestamp with time zone,
    outcome text,
    import_id bigint,
    seen bigint,
    inserted bigint,
    updated bigint,
    error text,
    begun_at timestamp with time zone,
    every_feed boolean DEFAULT false NOT NULL,
    CONSTRAINT refresh_request_long_text_length CHECK ((octet_length(error) <= 65536)),
    CONSTRAINT refresh_request_outcome_known CHECK ((outcome = ANY (ARRAY['imported'::text, 'not_modified'::text, 'bad_data'::text, 'unavailable'::text, 'failed'::text]))),
    CONSTRAINT refresh_request_outcome_whole CHECK (((outcome IS NULL) = (done_at IS NULL))),
    CONSTRAINT refresh_request_short_text_length CHECK ((GREATEST(octet_length(feed), octet_length(outcome)) <= 1024))
);
COMMENT ON TABLE quake.refresh_request IS 'requests to poll feeds now, one row for each requested feed; finished requests are kept for a day, at most the last thousand of them';
COMMENT ON COLUMN quake.refresh_request.id IS 'number of the request, as returned by request_refresh';
COMMENT ON COLUMN quake.refresh_request.feed IS 'the feed (feed.name)';
COMMENT ON COLUMN quake.refresh_request.requested_at IS 'when it was made; a poll that begins later answers it';
COMMENT ON COLUMN quake.refresh_request.requested_by IS 'role that made the request';
COMMENT ON COLUMN quake.refresh_request.taken_at IS 'when a worker saw it; null: none has';
COMMENT ON COLUMN quake.refresh_request.done_at IS 'when the poll that answers it ended; null: it has not';
COMMENT ON COLUMN quake.refresh_request.outcome IS 'imported, not_modified, or for a failed poll bad_data, unavailable or failed';
COMMENT ON COLUMN quake.refresh_request.import_id IS 'the import that the poll made (import.id)';
COMMENT ON COLUMN quake.refresh_request.seen IS 'records in the feed';
COMMENT ON COLUMN quake.refresh_request.inserted IS 'events that were new';
COMMENT ON COLUMN quake.refresh_request.updated IS 'events whose contents differed';
COMMENT ON COLUMN quake.refresh_request.error IS 'error of the poll; null: it succeeded';
COMMENT ON COLUMN quake.refresh_request.begun_at IS 'when the poll that will answer it began; later requests need another poll. null: it has not begun';
COMMENT ON COLUMN quake.refresh_request.every_feed IS 'whether all feeds were requested at once';
CREATE SEQUENCE quake.refresh_request_id
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
COMMENT ON SEQUENCE quake.refresh_request_id IS 'numbers of requests to poll feeds now';
CREATE SEQUENCE quake.token
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
COMMENT ON SEQUENCE quake.token IS 'numbers transactions at their commit, in commit order';
CREATE SEQUENCE quake.transaction_id
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
COMMENT ON SEQUENCE quake.transaction_id IS 'numbers transactions at their first change; ties versions to their transaction, and has nothing to do with the commit order';
CREATE TABLE quake.watcher (
    name text NOT NULL,
    token bigint NOT NULL,
    nonce text,
    changes bigint DEFAULT 0 NOT NULL,
    holder text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    moved_at timestamp with time zone DEFAULT now() NOT NULL,
    seen_at timestamp with time zone DEFAULT now() NOT NULL,
    role name DEFAULT CURRENT_USER,
    CONSTRAINT watcher_changes_count CHECK ((changes >= 0)),
    CONSTRAINT watcher_name_length CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT watcher_nonce_form CHECK ((nonce ~ '^[0-9a-f]{8}$'::text)),
    CONSTRAINT watcher_short_text_length CHECK ((octet_length(holder) <= 1024)),
    CONSTRAINT watcher_token_whole CHECK (((nonce IS NULL) = (token = 0)))
);
COMMENT ON TABLE quake.watcher IS 'durable cursors: how far each named watcher has come; they hold a purge back';
COMMENT ON COLUMN quake.watcher.name IS 'the watcher''s name';
COMMENT ON COLUMN quake.watcher.token IS 'number of the last transaction whose changes it has delivered, all or some; 0: none';
COMMENT ON COLUMN quake.watcher.nonce IS 'nonce of that transaction; null for 0';
COMMENT ON COLUMN quake.watcher.changes IS 'number of changes of that transaction that it has delivered; 0: all of them';
COMMENT ON COLUMN quake.watcher.holder IS 'random text of the process that moves the cursor. A process that no longer finds its own text here has been replaced';
COMMENT ON COLUMN quake.watcher.created_at IS 'when the name was first used';
COMMENT ON COLUMN quake.watcher.moved_at IS 'when the cursor last moved';
COMMENT ON COLUMN quake.watcher.seen_at IS 'when its process last reported';
COMMENT ON COLUMN quake.watcher.role IS 'the role that moves the cursor; null: the next role that moves it';
CREATE VIEW quake.watcher_lag AS
 SELECT w.name,
        CASE
            WHEN (w.token = 0) THEN '0'::text
            ELSE ((w.token || '.'::text) || w.nonce)
        END AS token,
    w.changes,
    w.created_at,
    w.moved_at,
    w.seen_at,
    ( SELECT count(*) AS count
           FROM quake.change_transaction t
          WHERE (t.token > w.needs)) AS transactions_behind,
    GREATEST((clock_timestamp() - ( SELECT t.at
           FROM quake.change_transaction t
          WHERE (t.token > w.needs)
          ORDER BY t.token
         LIMIT 1)), '00:00:00'::interval) AS time_behind,
    w.needs,
    (w.needs < ( SELECT f.token
           FROM quake.history_floor f)) AS expired
   FROM ( SELECT w_1.name,
            w_1.token,
            w_1.nonce,
            w_1.changes,
            w_1.holder,
            w_1.created_at,
            w_1.moved_at,
            w_1.seen_at,
                CASE
                    WHEN (w_1.changes > 0) THEN (w_1.token - 1)
                    ELSE w_1.token
                END AS needs
           FROM quake.watcher w_1) w;
COMMENT ON VIEW quake.watcher_lag IS 'the durable cursors, and how far they lag behind';
COMMENT ON COLUMN quake.watcher_lag.name IS 'the watcher''s name';
COMMENT ON COLUMN quake.watcher_lag.token IS 'token of the last transaction whose changes it has delivered, all or some';
COMMENT ON COLUMN quake.watcher_lag.changes IS 'number of changes of that transaction that it has delivered; 0: all of them';
COMMENT ON COLUMN quake.watcher_lag.created_at IS 'when the name was first used';
COMMENT ON COLUMN quake.watcher_lag.moved_at IS 'when the cursor last moved';
COMMENT ON COLUMN quake.watcher_lag.seen_at IS 'when its process last reported';
COMMENT ON COLUMN quake.watcher_lag.transactions_behind IS 'transactions that it has not delivered, or not completely';
COMMENT ON COLUMN quake.watcher_lag.time_behind IS 'how long ago the oldest of them committed';
COMMENT ON COLUMN quake.watcher_lag.needs IS 'number of the token after which it needs the history';
COMMENT ON COLUMN quake.watcher_lag.expired IS 'whether that part of the history has been purged: the watcher cannot continue';
ALTER TABLE ONLY quake.absence
    ADD CONSTRAINT absence_pkey PRIMARY KEY (code, feed);
ALTER TABLE ONLY quake.backfill_file
    ADD CONSTRAINT backfill_file_pkey PRIMARY KEY (path);
ALTER TABLE ONLY quake.backfill
    ADD CONSTRAINT backfill_pkey PRIMARY KEY (id);
ALTER TABLE ONLY quake.backfill_window
    ADD CONSTRAINT backfill_window_pkey PRIMARY KEY (backfill_id, start_time);
ALTER TABLE ONLY quake.change_transaction
    ADD CONSTRAINT change_transaction_pkey PRIMARY KEY (token);
ALTER TABLE ONLY quake.change_transaction
    ADD CONSTRAINT change_transaction_transaction_id UNIQUE (transaction_id);
ALTER TABLE ONLY quake.feed
    ADD CONSTRAINT feed_pkey PRIMARY KEY (name);
ALTER TABLE ONLY quake.history_floor
    ADD CONSTRAINT history_floor_pkey PRIMARY KEY (single);
ALTER TABLE ONLY quake.import_body
    ADD CONSTRAINT import_body_pkey PRIMARY KEY (import_id, part);
ALTER TABLE ONLY quake.import
    ADD CONSTRAINT import_pkey PRIMARY KEY (id);
ALTER TABLE ONLY quake.import_reject
    ADD CONSTRAINT import_reject_pkey PRIMARY KEY (import_id, record);
ALTER TABLE ONLY quake.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (version);
ALTER TABLE ONLY quake.quake_alias
    ADD CONSTRAINT quake_alias_pkey PRIMARY KEY (id);
ALTER TABLE ONLY quake.quake
    ADD CONSTRAINT quake_pkey PRIMARY KEY (code);
ALTER TABLE ONLY quake.quake_version
    ADD CONSTRAINT quake_version_pkey PRIMARY KEY (transaction_id, id);
ALTER TABLE ONLY quake.refresh_request
    ADD CONSTRAINT refresh_request_pkey PRIMARY KEY (id, feed);
ALTER TABLE ONLY quake.watcher
    ADD CONSTRAINT watcher_pkey PRIMARY KEY (name);
CREATE INDEX backfill_file_backfill ON quake.backfill_file USING btree (backfill_id);
CREATE INDEX change_transaction_at ON quake.change_transaction USING btree (at);
CREATE INDEX change_transaction_import_id ON quake.change_transaction USING btree (import_id) WHERE (import_id IS NOT NULL);
CREATE INDEX import_applied_import_id ON quake.import USING btree (applied_import_id) WHERE (applied_import_id IS NOT NULL);
CREATE INDEX import_covers ON quake.import USING btree (generated) WHERE ((covers_to IS NOT NULL) AND (quarantined_at IS NULL));
CREATE INDEX import_feed ON quake.import USING btree (feed, id);
CREATE INDEX import_generated ON quake.import USING btree (generated);
CREATE INDEX import_quarantined_at ON quake.import USING btree (quarantined_at) WHERE (quarantined_at IS NOT NULL);
CREATE INDEX import_started_at ON quake.import USING btree (started_at);
CREATE INDEX quake_alias_code ON quake.quake_alias USING btree (code);
CREATE INDEX quake_alias_named_by ON quake.quake_alias USING btree (COALESCE(named_by, code));
CREATE INDEX quake_superseded_by ON quake.quake USING btree (superseded_by) WHERE (superseded_by IS NOT NULL);
CREATE INDEX quake_time ON quake.quake USING btree ("time");
CREATE INDEX quake_version_code ON quake.quake_version USING btree (code, id);
CREATE INDEX quake_version_truncate ON quake.quake_version USING btree (id) WHERE (op = 'truncate'::text);
CREATE INDEX quake_withdrawn_at ON quake.quake USING btree (withdrawn_at) WHERE (withdrawn_at IS NOT NULL);
CREATE INDEX refresh_request_done ON quake.refresh_request USING btree (id) WHERE (done_at IS NOT NULL);
CREATE INDEX refresh_request_pending ON quake.refresh_request USING btree (feed) WHERE (done_at IS NULL);
CREATE INDEX refresh_request_requested_at ON quake.refresh_request USING btree (requested_at);
CREATE CONSTRAINT TRIGGER change_pending_10_number AFTER INSERT ON quake.change_pending DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION quake.change_pending__number();
CREATE TRIGGER quake_10_refuse_code_change BEFORE UPDATE OF code ON quake.quake FOR EACH ROW WHEN ((old.code IS DISTINCT FROM new.code)) EXECUTE FUNCTION quake.quake__refuse_code_change();
CREATE TRIGGER quake_20_record_delete AFTER DELETE ON quake.quake REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION quake.quake__record_delete();
CREATE TRIGGER quake_20_record_insert AFTER INSERT ON quake.quake REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quake.quake__record_insert();
CREATE TRIGGER quake_20_record_truncate AFTER TRUNCATE ON quake.quake FOR EACH STATEMENT EXECUTE FUNCTION quake.quake__record_truncate();
CREATE TRIGGER quake_20_record_update AFTER UPDATE ON quake.quake REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quake.quake__record_update();
ALTER TABLE ONLY quake.backfill_file
    ADD CONSTRAINT backfill_file_backfill FOREIGN KEY (backfill_id) REFERENCES quake.backfill(id) ON DELETE CASCADE;
ALTER TABLE ONLY quake.backfill_window
    ADD CONSTRAINT backfill_window_backfill FOREIGN KEY (backfill_id) REFERENCES quake.backfill(id) ON DELETE CASCADE;
ALTER TABLE ONLY quake.change_transaction
    ADD CONSTRAINT change_transaction_import FOREIGN KEY (import_id) REFERENCES quake.import(id) ON DELETE SET NULL;
ALTER TABLE ONLY quake.import
    ADD CONSTRAINT import_applied FOREIGN KEY (applied_import_id) REFERENCES quake.import(id) ON DELETE SET NULL;
ALTER TABLE ONLY quake.import_body
    ADD CONSTRAINT import_body_import FOREIGN KEY (import_id) REFERENCES quake.import(id) ON DELETE CASCADE;
ALTER TABLE ONLY quake.import_reject
    ADD CONSTRAINT import_reject_import FOREIGN KEY (import_id) REFERENCES quake.import(id) ON DELETE CASCADE;
ALTER TABLE quake.watcher ENABLE ROW LEVEL SECURITY;
CREATE POLICY watcher_made ON quake.watcher FOR INSERT WITH CHECK ((role = CURRENT_USER));
CREATE POLICY watcher_moved ON quake.watcher FOR UPDATE USING (((role IS NULL) OR (role = CURRENT_USER))) WITH CHECK ((role = CURRENT_USER));
CREATE POLICY watcher_removed ON quake.watcher FOR DELETE USING (true);
CREATE POLICY watcher_seen ON quake.watcher FOR SELECT USING (true);
