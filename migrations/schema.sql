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
	superseded_by text,
	first_stored timestamp with time zone
);
COMMENT ON TYPE quake.event IS 'an event as the history records it: the columns of quake.quake, without those that the owner of the database added';
CREATE FUNCTION quake.alerts_since(p_token text, newer_than interval DEFAULT NULL::interval, min_magnitude double precision DEFAULT NULL::double precision, types text[] DEFAULT NULL::text[], within_km double precision DEFAULT NULL::double precision, latitude double precision DEFAULT NULL::double precision, longitude double precision DEFAULT NULL::double precision, enters boolean DEFAULT false, leaves boolean DEFAULT false, magnitude_change double precision DEFAULT NULL::double precision, depth_change double precision DEFAULT NULL::double precision, place_change double precision DEFAULT NULL::double precision, limit_rate integer DEFAULT NULL::integer, limit_period interval DEFAULT '01:00:00'::interval) RETURNS TABLE(token text, "position" bigint, op text, code text, changed text[], old quake.event, new quake.event, author text, context text, at timestamp with time zone, held_back bigint)
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
-- Columns of the result have the names of columns that the statements read.
#variable_conflict use_column
declare
  -- Decimal numbers such as 5.9 and 6.2 differ by a little less than 0.3 as binary numbers.
  tolerance constant double precision := 1e-9;
  -- A program may bind null for a condition that it does not have.
  wants_enters constant boolean := coalesce(alerts_since.enters, false);
  wants_leaves constant boolean := coalesce(alerts_since.leaves, false);
  any_happening constant boolean := wants_enters or wants_leaves
    or magnitude_change is not null or depth_change is not null or place_change is not null;
  change record;
  -- The token bucket: how many changes may pass at the time of the change before.
  allowed double precision := limit_rate;
  moment timestamptz;
  refused bigint := 0;
begin
  if limit_rate < 1 or limit_period <= interval '0' or limit_rate is not null and limit_period is null then
    raise exception 'limit_rate must be at least 1, and limit_period longer than no time'
      using errcode = 'invalid_parameter_value';
  end if;
  if newer_than < interval '0' then
    raise exception 'newer_than must not be negative' using errcode = 'invalid_parameter_value';
  end if;
  -- NaN is greater than any number.
  if greatest(magnitude_change, depth_change, place_change, within_km, abs(min_magnitude)) > 'infinity'
     or least(magnitude_change, depth_change, place_change, within_km) < 0 then
    raise exception 'the changes and within_km must be numbers of at least 0, and min_magnitude a number'
      using errcode = 'invalid_parameter_value';
  end if;
  if (within_km is null) <> (latitude is null) or (within_km is null) <> (longitude is null) then
    raise exception 'within_km, latitude and longitude are needed together'
      using errcode = 'invalid_parameter_value';
  end if;
  for change in
    select c.token, c.position, c.op, c.code, c.changed, c.old, c.new, c.author, c.context, c.at
      from quake.changes_since(p_token) c
     cross join lateral (
       select coalesce(
                (newer_than is null or e.time >= c.at - newer_than)
                and (min_magnitude is null or e.magnitude >= min_magnitude)
                and (alerts_since.types is null or e.type = any (alerts_since.types))
                and (within_km is null or quake.distance(
                      alerts_since.latitude, alerts_since.longitude, e.latitude, e.longitude) <= within_km),
                false) as was_met
         from (select (c.old).time, (c.old).magnitude, (c.old).type, (c.old).latitude, (c.old).longitude) e) o
     cross join lateral (
       select coalesce(
                (newer_than is null or e.time >= c.at - newer_than)
                and (min_magnitude is null or e.magnitude >= min_magnitude)
                and (alerts_since.types is null or e.type = any (alerts_since.types))
                and (within_km is null or quake.distance(
                      alerts_since.latitude, alerts_since.longitude, e.latitude, e.longitude) <= within_km),
                false) as is_met
         from (select (c.new).time, (c.new).magnitude, (c.new).type, (c.new).latitude, (c.new).longitude) e) n
     cross join lateral (
       -- A withdrawn or superseded event is in no selection.
       select c.op in ('update', 'delete') and o.was_met
              and (c.old).withdrawn_at is null and (c.old).superseded_by is null as was_selected,
              c.op in ('insert', 'update') and n.is_met
              and (c.new).withdrawn_at is null and (c.new).superseded_by is null as is_selected,
              c.op = 'update' and (c.old).code is not null as is_known_update) k
     cross join lateral (
       select k.was_selected, k.is_selected,
              -- No list shows a revision of an event that is in no selection.
              k.is_known_update and (k.was_selected or k.is_selected) as is_revision,
              -- Which event is shown for an earthquake says nothing about the earthquake.
              (c.op <> 'update' or k.is_known_update)
              and not (c.changed = '{superseded_by}' and coalesce(c.context = 'association', false)) as may_move) s
     where case when c.op = 'truncate' then wants_leaves or not any_happening
           else (c.op in ('update', 'delete') and (c.old).code is not null and o.was_met
                 or c.op in ('insert', 'update') and n.is_met)
            and (not any_happening
                 or wants_enters and s.may_move and s.is_selected and not s.was_selected
                 or wants_leaves and s.may_move and s.was_selected and not s.is_selected
                 or s.is_revision and (c.old).magnitude is distinct from (c.new).magnitude
                    and magnitude_change is not null
                    and coalesce(abs((c.new).magnitude - (c.old).magnitude) >= magnitude_change - tolerance, true)
                 or s.is_revision and (c.old).depth is distinct from (c.new).depth
                    and depth_change is not null
                    and coalesce(abs((c.new).depth - (c.old).depth) >= depth_change - tolerance, true)
                 or s.is_revision and place_change is not null
                    and ((c.old).latitude is distinct from (c.new).latitude
                         or (c.old).longitude is distinct from (c.new).longitude)
                    and ((c.old).latitude is not null and (c.old).longitude is not null
                         or (c.new).latitude is not null and (c.new).longitude is not null)
                    and coalesce(quake.distance((c.old).latitude, (c.old).longitude,
                                                (c.new).latitude, (c.new).longitude) >= place_change - tolerance,
                                 true))
           end
     order by quake.token_number(c.token), c.position
  loop
    if limit_rate is not null then
      -- Times of transactions may go back when somebody sets the clock.
      allowed := least(limit_rate, allowed + limit_rate * greatest(0::double precision,
        coalesce(extract(epoch from change.at - moment), 0)::double precision)
        / extract(epoch from limit_period)::double precision);
      moment := change.at;
      if allowed < 1 then
        refused := refused + 1;
        continue;
      end if;
      allowed := allowed - 1;
    end if;
    token := change.token;
    "position" := change.position;
    op := change.op;
    code := change.code;
    changed := change.changed;
    old := change.old;
    new := change.new;
    author := change.author;
    context := change.context;
    at := change.at;
    held_back := refused;
    refused := 0;
    return next;
  end loop;
end
$$;
COMMENT ON FUNCTION quake.alerts_since(p_token text, newer_than interval, min_magnitude double precision, types text[], within_km double precision, latitude double precision, longitude double precision, enters boolean, leaves boolean, magnitude_change double precision, depth_change double precision, place_change double precision, limit_rate integer, limit_period interval) IS 'the changes after a token that an alert needs, in commit order, with the conditions of quake-watch; held_back is the number of changes that limit_rate left out before this one';
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
         n.withdrawn_at, n.superseded_by, n.first_stored
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
CREATE FUNCTION quake.as_of(p_token text, p_earliest timestamp with time zone, p_end timestamp with time zone, p_cells integer[] DEFAULT NULL::integer[]) RETURNS SETOF quake.event
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    AS $_$
declare
  number bigint := quake.token_number(p_token);
  reach bigint := quake.past__reach(number);
  first timestamptz;
  last timestamptz;
begin
  if reach is null then
    return query
      select q.* from quake.as_of(p_token) q
       where (p_earliest is null or q.time >= p_earliest) and (p_end is null or q.time < p_end)
         and (p_cells is null or quake.quake__cell(q.longitude, q.latitude) = any (p_cells));
    return;
  end if;
  if number <= reach then
    p_end := quake.past__end(number, coalesce(p_end, 'infinity'));
    if p_end is null then
      return;
    end if;
  end if;
  -- The hours of these times are looked at whole.
  first := date_trunc('hour', p_earliest, 'UTC');
  last := date_trunc('hour', p_end - interval '1 microsecond', 'UTC');
  -- "execute" plans the statement for these values.
  return query execute $query$
    select n.code, n.net, n.net_code, n.source, n.type, n.status, n.magnitude, n.magnitude_type,
           n.place, n.time, n.updated, n.longitude, n.latitude, n.depth, n.title, n.url,
           n.detail, n.felt, n.cdi, n.mmi, n.alert, n.tsunami, n.sig, n.nst,
           n.dmin, n.rms, n.gap, n.ids, n.sources, n.types, n.as_of, n.validated,
           n.withdrawn_at, n.superseded_by, n.first_stored
      from (
        -- Of the present events, and of those that left, those of the days that had any by then, if the notes reach
        -- the token. Without cells, the days lead to the events.
        select q.code
          from quake.past_day d
         cross join lateral (
            select q.code from quake.quake q
             where q.time >= greatest(d.day::timestamp at time zone 'UTC', $6)
               and q.time < least((d.day + 1)::timestamp at time zone 'UTC', $7 + interval '1 hour')
            offset 0) q
         where $5 is null and $1 <= $2 and d.token <= $1
           and ($6 is null or d.day >= ($6 at time zone 'UTC')::date)
           and ($7 is null or d.day <= ($7 at time zone 'UTC')::date)
        union
        select q.code from quake.quake q
         where ($5 is not null or $1 > $2)
           and ($6 is null or q.time >= $6)
           and ($7 is null or q.time < $7 + interval '1 hour')
           and ($5 is null or quake.quake__cell(q.longitude, q.latitude) = any ($5))
           and ($1 > $2 or (q.time at time zone 'UTC')::date in (
                  select d.day from quake.past_day d where d.token <= $1))
        union
        select p.code from quake.past_place p
         where p.token > $1
           and ($6 is null or (p.day, p.hour)
                >= (($6 at time zone 'UTC')::date, extract(hour from $6 at time zone 'UTC')::smallint))
           and ($7 is null or (p.day, p.hour)
                <= (($7 at time zone 'UTC')::date, extract(hour from $7 at time zone 'UTC')::smallint))
           and ($5 is null or p.cell = any ($5))
           and ($1 > $2 or p.day in (select d.day from quake.past_day d where d.token <= $1))
        union
        select v.code
          from quake.change_transaction t
         cross join lateral (
            select v.code from quake.quake_version v
             where v.transaction_id = t.transaction_id
               and (v.op = 'delete' or v.op = 'update' and v.changed && '{time,longitude,latitude}')
            offset 0) v
         where t.token > greatest($1, $2) and t.updated + t.deleted > 0) c
     cross join lateral (
        select * from quake.quake_version v
         where v.code = c.code
           and (select t.token from quake.change_transaction t where t.transaction_id = v.transaction_id) <= $1
         order by v.id desc limit 1) n
     where n.op <> 'delete'
       and n.id > coalesce((select max(e.id) from quake.quake_version e where e.op = 'truncate'), 0)
       and ($3 is null or n.time >= $3) and ($4 is null or n.time < $4)
       and ($5 is null or quake.quake__cell(n.longitude, n.latitude) = any ($5))
    $query$ using number, reach, p_earliest, p_end, p_cells, first, last;
end
$_$;
COMMENT ON FUNCTION quake.as_of(p_token text, p_earliest timestamp with time zone, p_end timestamp with time zone, p_cells integer[]) IS 'of the events as they were just after the transaction of a token, those with origin times from one time to before another and epicentres in cells of the map (quake__box_cells, quake__circle_cells); null: any. With the notes of note_past it takes as long as these events need, however long the history is';
CREATE FUNCTION quake.as_of__window(p_token text, p_end timestamp with time zone, p_events bigint) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    AS $$
declare
  number bigint := quake.token_number(p_token);
  reach bigint := quake.past__reach(number);
  top timestamptz := coalesce(p_end, 'infinity');
  start timestamptz;
begin
  if reach is null then
    return null;
  end if;
  if number <= reach then
    top := quake.past__end(number, top);
  end if;
  select q.time into start from quake.quake q where q.time < top order by q.time desc offset p_events limit 1;
  -- If more events than that have left these hours, the window is shorter.
  return date_trunc('hour', coalesce(
    (select (p.day + make_interval(hours => p.hour)) at time zone 'UTC' from quake.past_place p
      where (p.day, p.hour) < ((top at time zone 'UTC')::date, extract(hour from top at time zone 'UTC')::smallint)
        and (p.day, p.hour) >= (coalesce(start at time zone 'UTC', '-infinity')::date,
                                extract(hour from start at time zone 'UTC')::smallint)
        and p.token > number
      order by p.day desc, p.hour desc offset p_events limit 1), start), 'UTC');
end
$$;
COMMENT ON FUNCTION quake.as_of__window(p_token text, p_end timestamp with time zone, p_events bigint) IS 'private: an origin time before another one, with about so many events in between as of a token, or more of them; null: there are fewer before it';
CREATE FUNCTION quake.as_of_feed(p_time timestamp with time zone) RETURNS SETOF quake.event
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET jit TO 'off'
    AS $$
declare
  complete_from timestamptz;
begin
  -- Below the floor there is only the newest version of each event, so that earlier states are unknown.
  select max(case when t.import_id is not null then coalesce(greatest(i.generated, v.withdrawn_at), v.as_of, t.at)
                  when v.op = 'insert' then coalesce(v.as_of, t.at)
                  else t.at end)
    into complete_from
    from quake.change_transaction t
    join quake.quake_version v on v.transaction_id = t.transaction_id
    left join quake.import i on i.id = t.import_id
   where t.token <= (select f.token from quake.history_floor f);
  if p_time < complete_from then
    raise exception 'the history of the feeds at % was purged', to_char(p_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
      using errcode = 'QK002',
            detail = format('It is complete from %s on.', to_char(complete_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')),
            hint = 'Ask for that time or a later one.';
  end if;
  return query
    with version as materialized (
      select v.id, v.code, v.op, t.at,
             case when t.import_id is not null then coalesce(greatest(i.generated, v.withdrawn_at), v.as_of, t.at)
                  when v.op = 'insert' then coalesce(v.as_of, t.at)
                  else t.at end as feed_time
        from quake.quake_version v
        join quake.change_transaction t on t.transaction_id = v.transaction_id
        left join quake.import i on i.id = t.import_id
    ), newest as (
      select distinct on (v.code) v.id, v.op
        from version v
       where v.op <> 'truncate' and v.feed_time <= p_time
         and v.id > coalesce((select max(e.id) from version e where e.op = 'truncate' and e.at <= p_time), 0)
       order by v.code, v.feed_time desc, v.id desc
    )
    select n.code, n.net, n.net_code, n.source, n.type, n.status, n.magnitude, n.magnitude_type,
           n.place, n.time, n.updated, n.longitude, n.latitude, n.depth, n.title, n.url,
           n.detail, n.felt, n.cdi, n.mmi, n.alert, n.tsunami, n.sig, n.nst,
           n.dmin, n.rms, n.gap, n.ids, n.sources, n.types, n.as_of, n.validated,
           n.withdrawn_at, n.superseded_by, n.first_stored
      from newest w join quake.quake_version n on n.id = w.id
     where w.op <> 'delete';
end
$$;
COMMENT ON FUNCTION quake.as_of_feed(p_time timestamp with time zone) IS 'the events as the snapshots had them that were generated by a time, whenever they were imported; changes that did not come from a feed count from their commit';
CREATE FUNCTION quake.b_value(magnitudes double precision[], completeness double precision DEFAULT NULL::double precision, bin double precision DEFAULT 0.1) RETURNS TABLE(completeness_magnitude double precision, events bigint, mean_magnitude double precision, b double precision, standard_error double precision)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select g.completeness_magnitude, g.events, g.mean_magnitude, g.b, g.standard_error
    from quake.gutenberg_richter(b_value.magnitudes, b_value.completeness, 'maximum-curvature', b_value.bin) g
$$;
COMMENT ON FUNCTION quake.b_value(magnitudes double precision[], completeness double precision, bin double precision) IS 'the b-value as quake.gutenberg_richter computes it with maximum curvature; null where no b-value describes the magnitudes. No row if there is no magnitude';
CREATE FUNCTION quake.change_pending__add(p_inserted bigint, p_updated bigint, p_deleted bigint, p_truncated bigint) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $_$
declare
  place text := current_setting('quake.pending', true);
  transaction_id bigint;
begin
  if place ~ '^[(][0-9]{1,9},[0-9]{1,4}[)]$' then
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
    SET enable_seqscan TO 'off'
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
$_$;
COMMENT ON FUNCTION quake.change_pending__number() IS 'gives a transaction its token at commit, in commit order, and notifies the channel quake_changes unless the notification queue is a quarter full';
CREATE FUNCTION quake.change_transaction__notify() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION quake.change_transaction__notify() IS 'notifies the channel quake_changes of a transaction that a subscription has written';
CREATE FUNCTION quake.change_transaction__predecessor(p_token bigint) RETURNS text
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION quake.change_transaction__predecessor(p_token bigint) IS 'the predecessor of the transaction that has just drawn this number, if its snapshot does not have it under the number before';
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
COMMENT ON FUNCTION quake.difference(p_from text, p_to text) IS 'net changes between two tokens, in the order of codes; from a later token to an earlier one, the changes that would undo them';
CREATE FUNCTION quake.distance(from_latitude double precision, from_longitude double precision, to_latitude double precision, to_longitude double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT
         CASE
             WHEN ((from_latitude IS NOT NULL) AND (from_longitude IS NOT NULL) AND (to_latitude IS NOT NULL) AND (to_longitude IS NOT NULL)) THEN (((2)::double precision * (6371.0088)::double precision) * asin(LEAST((1)::double precision, sqrt(((sin((((((to_latitude + (1)::double precision) - (1)::double precision) - ((from_latitude + (1)::double precision) - (1)::double precision)) * (pi() / (180)::double precision)) / (2)::double precision)) * sin((((((to_latitude + (1)::double precision) - (1)::double precision) - ((from_latitude + (1)::double precision) - (1)::double precision)) * (pi() / (180)::double precision)) / (2)::double precision))) + (((cos((((from_latitude + (1)::double precision) - (1)::double precision) * (pi() / (180)::double precision))) * cos((((to_latitude + (1)::double precision) - (1)::double precision) * (pi() / (180)::double precision)))) * sin((((((to_longitude + (1)::double precision) - (1)::double precision) - ((from_longitude + (1)::double precision) - (1)::double precision)) * (pi() / (180)::double precision)) / (2)::double precision))) * sin((((((to_longitude + (1)::double precision) - (1)::double precision) - ((from_longitude + (1)::double precision) - (1)::double precision)) * (pi() / (180)::double precision)) / (2)::double precision))))))))
             ELSE NULL::double precision
         END AS "case";
END;
COMMENT ON FUNCTION quake.distance(from_latitude double precision, from_longitude double precision, to_latitude double precision, to_longitude double precision) IS 'great-circle distance between two points in kilometres, on a sphere with the Earth''s mean radius; null if a coordinate is';
CREATE FUNCTION quake.energy(magnitude double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT power((10)::double precision, (((1.5)::double precision * magnitude) + (4.8)::double precision)) AS power;
END;
COMMENT ON FUNCTION quake.energy(magnitude double precision) IS 'radiated energy in joules: 10^(1.5 M + 4.8) (Gutenberg and Richter, 1956)';
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
      -- PostgreSQL keeps its list of sessions until the end of the transaction: the holder may have connected since.
      perform pg_stat_clear_snapshot();
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
    first_stored timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT quake_as_of_range CHECK (((as_of >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (as_of < '10000-01-01 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT quake_code_length CHECK (((length(code) >= 1) AND (length(code) <= 256))),
    CONSTRAINT quake_depth_range CHECK (((depth >= ('-100'::integer)::double precision) AND (depth <= (7000)::double precision))),
    CONSTRAINT quake_epicentre_whole CHECK (((longitude IS NULL) = (latitude IS NULL))),
    CONSTRAINT quake_first_stored_range CHECK (((first_stored >= '0001-01-01 00:00:00+00'::timestamp with time zone) AND (first_stored < '10000-01-01 00:00:00+00'::timestamp with time zone))),
    CONSTRAINT quake_latitude_range CHECK (((latitude >= ('-90'::integer)::double precision) AND (latitude <= (90)::double precision))),
    CONSTRAINT quake_long_text_length CHECK ((GREATEST(octet_length(place), octet_length(title), octet_length(url), octet_length(detail), octet_length(ids), octet_length(sources), octet_length(types)) <= 65536)),
    CONSTRAINT quake_longitude_range CHECK (((longitude >= ('-180'::integer)::double precision) AND (longitude <= (180)::double precision))),
    CONSTRAINT quake_magnitude_range CHECK (((magnitude >= ('-10'::integer)::double precision) AND (magnitude <= (12)::double precision))),
    CONSTRAINT quake_number_finite CHECK ((GREATEST(abs(cdi), abs(mmi), abs(dmin), abs(rms), abs(gap)) < 'Infinity'::double precision)),
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
COMMENT ON COLUMN quake.quake.type IS 'kind of event, in the words of QuakeML 1.2: earthquake, quarry blast, ice quake, explosion, ...; where QuakeML has no word, the source''s own. not existing: its agency says that there was no event';
COMMENT ON COLUMN quake.quake.status IS 'automatic, reviewed, ... as the feed spells it; deleted or rejected: its agency has deleted the event';
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
COMMENT ON COLUMN quake.quake.withdrawn_at IS 'state of our own: when the event was withdrawn, because feeds that should hold it do not, or because its agency has deleted it (status, type); null: it is not withdrawn';
COMMENT ON COLUMN quake.quake.superseded_by IS 'state of our own: code of the row that describes this earthquake now; null: this row does';
COMMENT ON COLUMN quake.quake.first_stored IS 'when the event was first stored; no update changes it, and a restored event has its old one';
CREATE FUNCTION quake.find(p_id text) RETURNS SETOF quake.quake
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  -- Begins at the row of the id, and follows superseded_by to the row that describes the earthquake now.
  -- "union" leaves out a row that was visited before, so that it also ends in a cycle that a person made by hand,
  -- and its cost grows with the length of the way alone.
  with recursive way (code, next) as (
    select q.code, q.superseded_by
      from quake.quake q
     where q.code = find.p_id
        or not exists (select from quake.quake o where o.code = find.p_id)
           and q.code = (select a.code from quake.quake_alias a where a.id = find.p_id)
     union
    select q.code, q.superseded_by
      from way w join quake.quake q on q.code = w.next
  )
  select q.* from quake.quake q
   where q.code = (
     -- The rows come in the order in which they were visited.
     select v.code from (select w.code, row_number() over () as place from way w) v order by v.place desc limit 1)
$$;
COMMENT ON FUNCTION quake.find(p_id text) IS 'the event that has or had this id: no row or one; a superseded event leads to its successor';
CREATE FUNCTION quake.gutenberg_richter(magnitudes double precision[], completeness double precision DEFAULT NULL::double precision, method text DEFAULT 'maximum-curvature'::text, bin double precision DEFAULT 0.1) RETURNS TABLE(completeness_magnitude double precision, events bigint, mean_magnitude double precision, b double precision, standard_error double precision, refusal text, refused_b double precision, other_magnitude double precision, other_b double precision, steady_from double precision)
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
  -- The fewest events of a b-value, and of one that it is compared with.
  fewest constant double precision := 50;
  fewest_of_other constant double precision := 10;
  -- A difference of b-values that means something, in standard errors of their logarithms.
  errors constant double precision := 3;
  -- The same for a cutoff that is recommended.
  errors_of_steady constant double precision := 2;
  -- What maximum curvature underestimates, and the range over which a stable b-value does not change.
  correction constant double precision := ceil(0.2 / bin - 1e-9);
  range constant integer := greatest(2, ceil(0.5 / bin - 1e-9)::integer);
begin
  if not (bin >= 0.01 and bin <= 1) then
    raise exception 'the width of the classes must be 0.01 to 1'
      using errcode = 'invalid_parameter_value', detail = format('It is %s.', coalesce(bin::text, 'null'));
  end if;
  if method is null or method not in ('maximum-curvature', 'b-stability') then
    raise exception 'there is no method "%" for the magnitude of completeness', method
      using errcode = 'invalid_parameter_value',
            hint = 'The methods are maximum-curvature and b-stability.';
  end if;
  return query
  -- A magnitude belongs to the class of the nearest multiple of the width, the greater one if two are equally
  -- near. The small number makes up for multiples that are no binary fractions. Numbers of classes and their
  -- sums are whole, and exact.
  with class as materialized (
    select floor(m / bin + 0.5 + 1e-9) as number, count(*)::double precision as n
      from unnest(magnitudes) m
     where m between -10 and 12
     group by 1
  ), above as materialized (
    -- All events of each class and above.
    select c.number, sum(c.n) over w as n, sum(c.n * c.number) over w as total,
           sum(c.n * c.number * c.number) over w as squares
      from class c window w as (order by c.number desc)
  ), cutoff as materialized (
    select a.number, a.n, ln(1 + 1 / nullif(a.total / a.n - a.number, 0)) / (ln(10::double precision) * bin) as b
      from above a
  ), step as materialized (
    -- The cutoffs of the b-stability method, also those between two classes with events.
    select z.number, a.n,
           ln(1 + 1 / nullif(a.total / a.n - z.number, 0)) / (ln(10::double precision) * bin) as b,
           a.squares - a.total * a.total / a.n as squares
      from (select min(c.number) as lowest, max(c.number) as highest from class c) c
     cross join lateral generate_series(c.lowest::integer, c.highest::integer - 1) z (number)
     cross join lateral (
       select a.* from above a where a.number >= z.number order by a.number limit 1) a
     where completeness is null and method = 'b-stability'
  ), stable as (
    select min(s.number) as number
      from (
        select s.number, s.b, s.n, s.squares, avg(s.b) over w as average, count(*) over w as steps
          from step s
        window w as (order by s.number rows between current row and range - 1 following)) s
     where s.steps = range and s.n > 1
       and abs(s.average - s.b)
           <= ln(10::double precision) * s.b * s.b * bin * sqrt(greatest(s.squares, 0) / (s.n * (s.n - 1)))
  ), least_class as (
    select case
             when completeness is not null then floor(completeness / bin + 0.5 + 1e-9)
             when method = 'b-stability' then (select s.number from stable s)
             else (select c.number from class c order by c.n desc, c.number limit 1) + correction
           end as number
     where exists (select from class)
  ), complete as (
    select l.number, coalesce(a.n, 0) as n, a.total / a.n as mean,
           ln(1 + 1 / nullif(a.total / a.n - l.number, 0)) / (ln(10::double precision) * bin) as b,
           greatest(a.squares - a.total * a.total / a.n, 0) as squares
      from least_class l
      left join lateral (
        select a.* from above a where a.number >= l.number order by a.number limit 1) a on true
  ), other as (
    -- The cutoff whose b-value differs most.
    select c.number, c.b, abs(ln(c.b / e.b)) / sqrt(1 / e.n + 1 / c.n) as difference
      from complete e join cutoff c on c.number > e.number and c.n >= fewest_of_other and c.b is not null
     where e.b is not null
     order by 3 desc limit 1
  ), judged as (
    select e.*, o.number as other_number, o.b as other_b,
           case
             when e.number is null then 'no-stable-cutoff'
             when e.n < fewest then 'few-events'
             when e.b is null then 'one-class'
             when o.difference > errors then 'depends-on-cutoff'
           end as refusal
      from complete e left join other o on true
  ), steady as (
    -- The least cutoff above it from which the b-value does not depend on the cutoff.
    select min(c.number) as number
      from judged j
      join cutoff c on c.number > j.number and c.n >= fewest and c.b is not null
     where j.refusal = 'depends-on-cutoff'
       and not exists (
         select from cutoff d
          where d.number > c.number and d.n >= fewest_of_other and d.b is not null
            and abs(ln(d.b / c.b)) > errors_of_steady * sqrt(1 / c.n + 1 / d.n))
  )
  select round((j.number * bin)::numeric, 6)::double precision, j.n::bigint, j.mean * bin,
         case when j.refusal is null then j.b end,
         case when j.refusal is null then
           ln(10::double precision) * j.b * j.b * bin * sqrt(j.squares / (j.n * (j.n - 1)))
         end,
         j.refusal,
         case when j.refusal = 'depends-on-cutoff' then j.b end,
         case when j.refusal = 'depends-on-cutoff' then round((j.other_number * bin)::numeric, 6)::double precision end,
         case when j.refusal = 'depends-on-cutoff' then j.other_b end,
         round((s.number * bin)::numeric, 6)::double precision
    from judged j cross join steady s;
end
$$;
COMMENT ON FUNCTION quake.gutenberg_richter(magnitudes double precision[], completeness double precision, method text, bin double precision) IS 'magnitude of completeness and b-value of the Gutenberg-Richter relation. The magnitude of completeness is given, or found by "maximum-curvature", the class with the most events plus 0.2 (Wiemer and Wyss, 2000; Woessner and Wiemer, 2005), or by "b-stability" (Cao and Gao, 2002). b is by maximum likelihood for classes (Aki, 1965; Tinti and Mulargia, 1987), its standard error by Shi and Bolt (1982). Both are null, and refusal says why: "few-events", fewer than 50; "one-class"; "no-stable-cutoff"; "depends-on-cutoff", because b (refused_b) differs from the b-value from other_magnitude on (other_b); from steady_from on, b no longer depends on the cutoff. Magnitudes below -10 and above 12 do not count. No row if there is no magnitude';
CREATE FUNCTION quake.history__changes(p_after bigint, p_up_to bigint) RETURNS bigint
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
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
COMMENT ON FUNCTION quake.history__changes(p_after bigint, p_up_to bigint) IS 'how many changes the transactions after one number and up to another had; an error with SQLSTATE QK003 if one of these transactions is missing. null: up to the newest';
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
CREATE FUNCTION quake.history_floor__follow() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION quake.history_floor__follow() IS 'purges the history of a region when the centre''s has been purged, as far as its own durable cursors that lag behind by at most 7 days allow';
CREATE FUNCTION quake.history_is_whole(p_after bigint, p_up_to bigint DEFAULT NULL::bigint) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
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
COMMENT ON FUNCTION quake.history_is_whole(p_after bigint, p_up_to bigint) IS 'true if no transaction, and no change of one, is missing after one number and up to another, otherwise an error with SQLSTATE QK003; to be called in the transaction that reads the history. null: up to the newest';
CREATE FUNCTION quake.import__forget() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  if current_setting('session_replication_role') = 'replica' then
    update quake.change_transaction t set import_id = null where t.import_id = old.id;
  end if;
  return null;
end
$$;
COMMENT ON FUNCTION quake.import__forget() IS 'clears the number of an import in the transactions that only this region still holds, when the centre has deleted it';
CREATE FUNCTION quake.import__replace_unchanged(p_id bigint) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  delete from quake.import i using quake.import n
   where n.id = p_id
     and i.id = (select l.id from quake.import l where l.feed = n.feed and l.id < n.id order by l.id desc limit 1)
     and i.source = n.source and (i.generated is null or i.generated <= n.generated)
     and i.complete and i.token is null and i.covers_to is null and i.quarantined_at is null
     and i.inserted + i.updated + i.rejected + i.superseded + i.withdrawn + i.restored = 0
     and n.complete and n.token is null and n.covers_to is null and n.quarantined_at is null
     and n.inserted + n.updated + n.rejected + n.superseded + n.withdrawn + n.restored = 0
$$;
COMMENT ON FUNCTION quake.import__replace_unchanged(p_id bigint) IS 'deletes the previous import of the feed, if both it and the given one have changed nothing. For the import itself';
CREATE FUNCTION quake.quake__box_cells(p_west double precision, p_south double precision, p_east double precision, p_north double precision) RETURNS integer[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  -- The most cells in a list: the planner looks at each of them.
  most constant integer := 2048;
  cells integer[];
begin
  if p_west is null or p_south is null or p_east is null or p_north is null then
    return '{}';
  end if;
  if not (p_south between -90 and 90 and p_north between -90 and 90 and p_south <= p_north) then
    raise exception 'the south and north edges of a box must be latitudes, south first'
      using errcode = 'invalid_parameter_value',
            detail = format('South is %s and north is %s.', p_south, p_north);
  end if;
  if not (p_west between -180 and 180 and p_east between -180 and 180) then
    raise exception 'the west and east edges of a box must be longitudes from -180 to 180'
      using errcode = 'invalid_parameter_value',
            detail = format('West is %s and east is %s.', p_west, p_east),
            hint = 'A box whose west edge lies east of its east edge crosses the 180th meridian.';
  end if;
  cells := array(
    select y * 361 + x.number
      from generate_series(floor(p_south)::integer, floor(p_north)::integer) y
     cross join lateral (
       select generate_series(
                floor(p_west * cosd(y))::integer,
                floor(case when p_west <= p_east then p_east else 180 end * cosd(y))::integer)
       union all
       select generate_series(floor(-180 * cosd(y))::integer, floor(p_east * cosd(y))::integer)
        where p_west > p_east) x (number)
     limit most + 1);
  return case when cardinality(cells) <= most then cells end;
end
$$;
COMMENT ON FUNCTION quake.quake__box_cells(p_west double precision, p_south double precision, p_east double precision, p_north double precision) IS 'private: the cells that a box touches; null: too many to list';
CREATE FUNCTION quake.quake__cell(longitude double precision, latitude double precision) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT (((floor(latitude) * (361)::double precision) + floor((longitude * cosd(floor(latitude))))))::integer AS int4;
END;
COMMENT ON FUNCTION quake.quake__cell(longitude double precision, latitude double precision) IS 'private: number of the cell of the map in which an epicentre lies';
CREATE FUNCTION quake.in_box(west double precision, south double precision, east double precision, north double precision) RETURNS SETOF quake.event
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT q.code,
     q.net,
     q.net_code,
     q.source,
     q.type,
     q.status,
     q.magnitude,
     q.magnitude_type,
     q.place,
     q."time",
     q.updated,
     q.longitude,
     q.latitude,
     q.depth,
     q.title,
     q.url,
     q.detail,
     q.felt,
     q.cdi,
     q.mmi,
     q.alert,
     q.tsunami,
     q.sig,
     q.nst,
     q.dmin,
     q.rms,
     q.gap,
     q.ids,
     q.sources,
     q.types,
     q.as_of,
     q.validated,
     q.withdrawn_at,
     q.superseded_by,
     q.first_stored
    FROM quake.quake q
   WHERE (((quake.quake__box_cells(in_box.west, in_box.south, in_box.east, in_box.north) IS NULL) OR (quake.quake__cell(q.longitude, q.latitude) = ANY (quake.quake__box_cells(in_box.west, in_box.south, in_box.east, in_box.north)))) AND (q.latitude >= in_box.south) AND (q.latitude <= in_box.north) AND
         CASE
             WHEN (in_box.west <= in_box.east) THEN ((q.longitude >= in_box.west) AND (q.longitude <= in_box.east))
             ELSE ((q.longitude >= in_box.west) OR (q.longitude <= in_box.east))
         END AND (q.superseded_by IS NULL) AND (q.withdrawn_at IS NULL));
END;
COMMENT ON FUNCTION quake.in_box(west double precision, south double precision, east double precision, north double precision) IS 'the events with epicentres in a box, edges included, in degrees; a box whose west edge lies east of its east edge crosses the 180th meridian. Without superseded and withdrawn events';
CREATE FUNCTION quake.latest_token() RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select coalesce((select t.token || '.' || t.nonce from quake.change_transaction t order by t.token desc limit 1), '0')
$$;
COMMENT ON FUNCTION quake.latest_token() IS 'the newest token; 0 before the first change';
CREATE FUNCTION quake.locality(place text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT NULLIF(regexp_replace(btrim(place, ' ,'::text), '^[0-9]+([.][0-9]+)? *([kK][mM]|[mM][iI]) +[NSEW]{1,3} +of +'::text, ''::text), ''::text) AS "nullif";
END;
COMMENT ON FUNCTION quake.locality(place text) IS 'the place without the distance and direction in front of it: "Pāhala, Hawaii" of "6 km SSW of Pāhala, Hawaii"; null: no place';
CREATE FUNCTION quake.moment(magnitude double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT power((10)::double precision, (((1.5)::double precision * magnitude) + (9.1)::double precision)) AS power;
END;
COMMENT ON FUNCTION quake.moment(magnitude double precision) IS 'seismic moment in newton metres, as if the magnitude were a moment magnitude: 10^(1.5 M + 9.1) (Hanks and Kanamori, 1979)';
CREATE FUNCTION quake.note_past(p_rows integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
declare
  floor bigint;
  place quake.past_noted;
  portion record;
begin
  select f.token into floor from quake.history_floor f;
  select n.* into place from quake.past_noted n
   where n.since is null or n.version is not null
         or exists (select from quake.change_transaction t where t.token > n.token)
         or exists (select from quake.past_place p where p.token <= floor)
     for update skip locked;
  if not found then
    return true;  -- there is nothing to do, or another session does it
  end if;
  if place.since is null then
    if exists (select from quake.past_place) or exists (select from quake.past_day) then
      truncate quake.past_place, quake.past_day;
    end if;
    update quake.past_noted n set token = 0, version = null, since = floor
    returning n.* into place;
  end if;
  with passed as materialized (
    select t.token, v.*, v.at::date as day, extract(hour from v.at)::smallint as hour
      from (select t.token, t.transaction_id from quake.change_transaction t
             where t.token >= place.token + (place.version is null)::integer
             order by t.token limit p_rows + 1) t
     cross join lateral (
        select v.id, v.code, v.op, v.changed, v.time at time zone 'UTC' as at,
               quake.quake__cell(v.longitude, v.latitude) as cell
          from quake.quake_version v
         where v.transaction_id = t.transaction_id
           and v.id > case when t.token = place.token then place.version else 0 end
         order by v.id limit p_rows) v
     order by t.token, v.id limit p_rows
  ), day as (
    insert into quake.past_day as o (day, token, hours)
    select h.day, min(h.token), array_agg(h.token order by h.hour)
      from (select p.day, p.hour, min(p.token) as token
              from (select p.day, p.hour, p.token from passed p where p.op in ('insert', 'update')
                     union all
                    -- The array has all hours of the day.
                    select d.day, h.hour, null
                      from (select distinct p.day from passed p where p.op in ('insert', 'update')) d
                     cross join generate_series(0, 23) h (hour)) p
             group by p.day, p.hour) h
     group by h.day
    on conflict (day) do update
      set hours = (select array_agg(coalesce(h.old, h.new) order by h.number)
                     from unnest(o.hours, excluded.hours) with ordinality h (old, new, number))
      where exists (select from unnest(o.hours, excluded.hours) h (old, new)
                     where h.old is null and h.new is not null)
  ), place as (
    insert into quake.past_place (token, version, code, day, hour, cell)
    select p.token, p.id, p.code, o.at::date, extract(hour from o.at), o.cell
      from passed p
     cross join lateral (
        select v.op, v.time at time zone 'UTC' as at, quake.quake__cell(v.longitude, v.latitude) as cell
          from quake.quake_version v where v.code = p.code and v.id < p.id order by v.id desc limit 1) o
     where (p.op = 'delete' or p.op = 'update' and p.changed && '{time,longitude,latitude}')
       and o.op <> 'delete'
       and (p.op = 'delete' or date_trunc('hour', o.at) <> date_trunc('hour', p.at) or o.cell is distinct from p.cell)
  )
  select count(*) as size, (array_agg(p.token order by p.token desc, p.id desc))[1] as token,
         (array_agg(p.id order by p.token desc, p.id desc))[1] as version
    into portion from passed p;
  insert into quake.past_time as p (thousand, at)
  select t.token / 1000, min(t.at) from quake.change_transaction t
   where t.token > place.token and t.token <= portion.token group by 1
  on conflict (thousand) do update set at = excluded.at where excluded.at < p.at;
  -- What has been purged meanwhile was not noted. A region may still hold it.
  update quake.past_noted n
     set token = coalesce(portion.token, n.token), version = case when portion.size = p_rows then portion.version end,
         since = greatest(n.since, (select f.token from quake.history_floor f where f.token > place.token))
   where portion.size > 0 or place.version is not null;
  -- No question asks for the time before the floor.
  delete from quake.past_place p
   where (p.token, p.version) in (select o.token, o.version from quake.past_place o
                                   where o.token <= floor order by o.token, o.version limit p_rows);
  return portion.size < p_rows and not found;
end
$$;
COMMENT ON FUNCTION quake.note_past(p_rows integer) IS 'notes the places that events have left and the commit times in the next versions of the history, at most so many, and deletes places from before the floor; returns whether nothing is left to do';
CREATE FUNCTION quake.note_table_sizes() RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION quake.note_table_sizes() IS 'notes the sizes of the tables, at most once a day; returns the number of tables';
CREATE FUNCTION quake.oldest_token() RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select coalesce((select t.token || '.' || t.nonce
                     from quake.history_floor f join quake.change_transaction t on t.token = f.token), '0')
$$;
COMMENT ON FUNCTION quake.oldest_token() IS 'the oldest valid token; 0 if nothing was ever purged';
CREATE TABLE quake.association (
    code text NOT NULL,
    preferred text NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT association_short_text_length CHECK ((GREATEST(octet_length(code), octet_length(preferred)) <= 1024))
);
COMMENT ON TABLE quake.association IS 'events of different sources that are the same earthquake: one row for each event of an earthquake that has several';
COMMENT ON COLUMN quake.association.code IS 'the event (quake.code)';
COMMENT ON COLUMN quake.association.preferred IS 'the event that lists show for the earthquake; equal to code in the row of that event, and the superseded_by of the others';
COMMENT ON COLUMN quake.association.since IS 'since when the event has been associated with this preferred event';
CREATE FUNCTION quake.others(code text) RETURNS text[]
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT array_agg(a.code ORDER BY a.code) AS array_agg
    FROM quake.association a
   WHERE ((a.preferred = others.code) AND (a.code <> others.code));
END;
COMMENT ON FUNCTION quake.others(code text) IS 'the events of other sources that are the same earthquake as this preferred event; null: none';
CREATE FUNCTION quake.past__end(p_number bigint, p_end timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select least(p_end, (d.day + make_interval(hours => coalesce(
             (select max(h.number) from unnest(d.hours) with ordinality h (token, number)
               where h.token <= p_number), 0)::integer)) at time zone 'UTC')
    from quake.past_day d
   where d.day <= ((p_end - interval '1 microsecond') at time zone 'UTC')::date and d.token <= p_number
   order by d.day desc limit 1
$$;
COMMENT ON FUNCTION quake.past__end(p_number bigint, p_end timestamp with time zone) IS 'private: the end of the last hour before a time in which events had origin times as of a number, or earlier; null: there is none';
CREATE FUNCTION quake.past__reach(p_number bigint) RETURNS bigint
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select case
    when exists (select from quake.quake_version v
                   join quake.change_transaction t on t.transaction_id = v.transaction_id
                  where v.op = 'truncate' and t.token > p_number) then null
    -- To look at more changes one by one takes longer than reading the history of a small store.
    when (select coalesce(sum(l.changes), 0)
            from (select t.inserted + t.updated + t.deleted as changes from quake.change_transaction t
                   where t.token > greatest(p_number, n.number) order by t.token limit 50000) l) > 50000 then null
    else n.number end
    -- Without complete notes, the changes after the token are enough.
    from (select coalesce((select p.token - (p.version is not null)::integer from quake.past_noted p
                            where p.since <= p_number), 0)) n (number)
$$;
COMMENT ON FUNCTION quake.past__reach(p_number bigint) IS 'private: the number up to which past_place and past_day answer a question about a token; null: only the whole history answers it';
CREATE FUNCTION quake.purge_edits(p_age interval, p_rows integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION quake.purge_edits(p_age interval, p_rows integer) IS 'deletes batch edits that are older, at most `p_rows`, of which the history has no change any more and which left no event deleted; returns their number';
CREATE FUNCTION quake.purge_history(p_rows integer, OUT versions bigint, OUT transactions bigint, OUT finished boolean) RETURNS record
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET jit TO 'off'
    SET enable_bitmapscan TO 'off'
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
CREATE FUNCTION quake.purge_imports(p_age interval, p_rows integer) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION quake.purge_imports(p_age interval, p_rows integer) IS 'deletes imports that are older, at most `p_rows`, except those that the history, the quarantine or the next import of a feed needs; returns their number';
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
CREATE FUNCTION quake.quake__circle_cells(p_latitude double precision, p_longitude double precision, p_km double precision) RETURNS integer[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  -- More than the rounding errors of the distance, in degrees.
  margin constant double precision := 1e-5;
  angle double precision;
  south double precision;
  north double precision;
  width double precision := 180;
begin
  if p_latitude is null or p_longitude is null or p_km is null then
    return '{}';
  end if;
  if not (p_latitude between -90 and 90 and p_longitude between -180 and 180) then
    raise exception 'the centre of a circle must be a latitude from -90 to 90 and a longitude from -180 to 180'
      using errcode = 'invalid_parameter_value',
            detail = format('Latitude is %s and longitude is %s.', p_latitude, p_longitude);
  end if;
  if not (p_km >= 0 and p_km < 'infinity') then
    raise exception 'the radius of a circle must be zero or more kilometres'
      using errcode = 'invalid_parameter_value', detail = format('It is %s.', p_km);
  end if;
  angle := degrees(p_km / 6371.0088);
  if angle >= 180 then
    return null;
  end if;
  south := p_latitude - angle - margin;
  north := p_latitude + angle + margin;
  -- A circle that contains a pole reaches all longitudes.
  if south > -90 and north < 90 then
    width := degrees(asin(least(1, sin(radians(angle)) / cos(radians(p_latitude))))) + margin;
  end if;
  if width >= 180 then
    return quake.quake__box_cells(-180, greatest(south, -90), 180, least(north, 90));
  end if;
  return quake.quake__box_cells(
    p_longitude - width + case when p_longitude - width < -180 then 360 else 0 end,
    greatest(south, -90),
    p_longitude + width - case when p_longitude + width > 180 then 360 else 0 end,
    least(north, 90));
end
$$;
COMMENT ON FUNCTION quake.quake__circle_cells(p_latitude double precision, p_longitude double precision, p_km double precision) IS 'private: the cells that a circle touches; null: too many to list';
CREATE FUNCTION quake.quake__note_for_association() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET enable_nestloop TO 'off'
    SET jit TO 'off'
    AS $$
begin
  case tg_op
    when 'INSERT' then
      insert into quake.association_pending (code) select n.code from new_rows n;
    when 'UPDATE' then
      insert into quake.association_pending (code)
      select n.code
        from old_rows o join new_rows n on n.code = o.code
       where (o.source, o.status, o.magnitude, o.time, o.longitude, o.latitude, o.depth, o.withdrawn_at,
              o.superseded_by)
             is distinct from
             (n.source, n.status, n.magnitude, n.time, n.longitude, n.latitude, n.depth, n.withdrawn_at,
              n.superseded_by);
    when 'DELETE' then
      insert into quake.association_pending (code) select o.code from old_rows o;
    else
      insert into quake.association_pending (code) select a.code from quake.association a;
  end case;
  return null;
end
$$;
COMMENT ON FUNCTION quake.quake__note_for_association() IS 'notes the events of a statement in association_pending';
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
      withdrawn_at, superseded_by, first_stored)
  select (select p.transaction_id from pending p), 'delete',
      o.code, o.net, o.net_code, o.source, o.type, o.status, o.magnitude, o.magnitude_type,
      o.place, o.time, o.updated, o.longitude, o.latitude, o.depth, o.title, o.url,
      o.detail, o.felt, o.cdi, o.mmi, o.alert, o.tsunami, o.sig, o.nst,
      o.dmin, o.rms, o.gap, o.ids, o.sources, o.types, o.as_of, o.validated,
      o.withdrawn_at, o.superseded_by, o.first_stored
    from old_rows o;
  return null;
end
$$;
COMMENT ON FUNCTION quake.quake__record_delete() IS 'records deleted events, with their last values, in quake_version';
CREATE FUNCTION quake.quake__record_insert() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
  removed text[];
  deleted text;
begin
  -- Planned for each statement, because either table may have any size: a kept plan for a small one could
  -- scan the other once for each row.
  if exists (select from quake.tombstone) then
    execute $query$
      select array_agg(d.code), min(d.code) filter (where d.stays)
        from new_rows n
       cross join lateral (
          select t.code, t.older_than is null or n.time <= now() - t.older_than as stays
            from quake.tombstone t where t.code = n.code offset 0) d
      $query$ into removed, deleted;
    if deleted is not null and current_setting('quake.keep_deleted', true) = 'on' then
      raise exception 'event "%" has been deleted', deleted
        using errcode = 'QK006', schema = 'quake', table = 'quake',
              hint = 'Imports leave deleted events deleted until they are restored: quake-admin events restore.';
    end if;
    delete from quake.tombstone t where t.code = any (removed);
  end if;
  with pending as (
    select quake.change_pending__add(count(*), 0, 0, 0) as transaction_id from new_rows
  )
  insert into quake.quake_version (
    transaction_id, op,
      code, net, net_code, source, type, status, magnitude, magnitude_type,
      place, time, updated, longitude, latitude, depth, title, url,
      detail, felt, cdi, mmi, alert, tsunami, sig, nst,
      dmin, rms, gap, ids, sources, types, as_of, validated,
      withdrawn_at, superseded_by, first_stored)
  select (select p.transaction_id from pending p), 'insert',
      n.code, n.net, n.net_code, n.source, n.type, n.status, n.magnitude, n.magnitude_type,
      n.place, n.time, n.updated, n.longitude, n.latitude, n.depth, n.title, n.url,
      n.detail, n.felt, n.cdi, n.mmi, n.alert, n.tsunami, n.sig, n.nst,
      n.dmin, n.rms, n.gap, n.ids, n.sources, n.types, n.as_of, n.validated,
      n.withdrawn_at, n.superseded_by, n.first_stored
    from new_rows n;
  return null;
end
$_$;
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
    -- By name: a column of a person's own may have the name of any alias.
    select c.changed,
           n.code, n.net, n.net_code, n.source, n.type, n.status, n.magnitude, n.magnitude_type, n.place,
           n.time, n.updated, n.longitude, n.latitude, n.depth, n.title, n.url, n.detail, n.felt, n.cdi,
           n.mmi, n.alert, n.tsunami, n.sig, n.nst, n.dmin, n.rms, n.gap, n.ids, n.sources, n.types,
           n.as_of, n.validated, n.withdrawn_at, n.superseded_by, n.first_stored
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
          case when o.superseded_by is distinct from n.superseded_by then 'superseded_by' end,
          case when o.first_stored is distinct from n.first_stored then 'first_stored' end
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
      withdrawn_at, superseded_by, first_stored)
  select (select p.transaction_id from pending p), 'update', d.changed,
      d.code, d.net, d.net_code, d.source, d.type, d.status, d.magnitude, d.magnitude_type, d.place,
      d.time, d.updated, d.longitude, d.latitude, d.depth, d.title, d.url, d.detail, d.felt, d.cdi, d.mmi,
      d.alert, d.tsunami, d.sig, d.nst, d.dmin, d.rms, d.gap, d.ids, d.sources, d.types, d.as_of,
      d.validated, d.withdrawn_at, d.superseded_by, d.first_stored
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
CREATE FUNCTION quake.quake__refuse_first_stored_change() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  raise exception 'cannot change when event "%" was first stored', old.code
    using errcode = 'integrity_constraint_violation', schema = 'quake', table = 'quake', column = 'first_stored',
          hint = 'Leave the column first_stored out of the update.';
end
$$;
COMMENT ON FUNCTION quake.quake__refuse_first_stored_change() IS 'refuses to change when an event was first stored';
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
CREATE FUNCTION quake.region(place text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT btrim(split_part(quake.locality(place), ','::text, '-1'::integer), ' '::text) AS btrim;
END;
COMMENT ON FUNCTION quake.region(place text) IS 'the part of a place after its last comma: "Hawaii" of "6 km SSW of Pāhala, Hawaii"; without a comma, all of it; null: no place';
CREATE FUNCTION quake.region__refuse_write() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
COMMENT ON FUNCTION quake.region__refuse_write() IS 'refuses to write to a region, except for the workers of its subscription';
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
       and not exists (select from quake.refresh_request o join quake.feed f on f.name = o.feed
                        where o.id = r.id and f.paused_at is not null)
     order by r.id desc limit 1;
    if found then
      return request;
    end if;
    -- A request for a feed that no worker polls any more would never be answered.
    select array_agg(s.name) into asked from quake.feed_status s
     where s.paused_at is null
       and (s.held or not exists (select from quake.feed_status o where o.held and o.paused_at is null));
    if asked is null then
      raise exception 'there is no feed to refresh: all are paused'
        using errcode = 'QK005', hint = '"quake-admin feeds resume" resumes a feed.';
    end if;
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
CREATE FUNCTION quake.solutions(p_id text) RETURNS SETOF quake.event
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  select q.code, q.net, q.net_code, q.source, q.type, q.status, q.magnitude, q.magnitude_type,
         q.place, q.time, q.updated, q.longitude, q.latitude, q.depth, q.title, q.url,
         q.detail, q.felt, q.cdi, q.mmi, q.alert, q.tsunami, q.sig, q.nst, q.dmin, q.rms,
         q.gap, q.ids, q.sources, q.types, q.as_of, q.validated, q.withdrawn_at,
         q.superseded_by, q.first_stored
    from quake.find(p_id) p
   cross join lateral unnest(array[p.code] || coalesce(quake.others(p.code), '{}')) s (code)
    join quake.quake q on q.code = s.code
   order by q.code <> p.code, q.source, q.code
$$;
COMMENT ON FUNCTION quake.solutions(p_id text) IS 'all events of the earthquake that has or had this id, the preferred one first';
CREATE FUNCTION quake.token__refuse_expired(p_token text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
  oldest quake.change_transaction;
begin
  select t.* into oldest
    from quake.history_floor f join quake.change_transaction t on t.token = f.token;
  raise exception 'token % has expired', p_token
    using errcode = 'QK002',
          detail = format('The history up to %s.%s was purged; that is the oldest token that is still valid, of %s.',
                          oldest.token, oldest.nonce, to_char(oldest.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')),
          hint = 'To read the past, ask for that time or a later one; to watch, begin with the oldest change that is still held (--from-oldest), or with the present list of events (--snapshot).';
end
$$;
COMMENT ON FUNCTION quake.token__refuse_expired(p_token text) IS 'raises the error for a token below the floor';
CREATE FUNCTION quake.token__refuse_gap(p_token text, p_next text, p_predecessor text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  raise exception 'history diverged at token %', p_token
    using errcode = 'QK003',
          detail = format('The next transaction here, %s, names %s as the one before it.', p_next, p_predecessor),
          hint = 'Transactions in between are missing, because rows of the history were removed or not copied, or another history has taken its place; "quake-query verify" shows all such places. Begin again with a snapshot.';
end
$$;
COMMENT ON FUNCTION quake.token__refuse_gap(p_token text, p_next text, p_predecessor text) IS 'raises the error for a token that is not the predecessor of the next transaction';
CREATE FUNCTION quake.token__refuse_loss(p_token text, p_had bigint, p_holds bigint) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  raise exception 'history diverged at token %', p_token
    using errcode = 'QK003',
          detail = format('The number of the transaction''s changes was %s; the history holds %s.', p_had, p_holds),
          hint = 'Rows of the history were removed or not copied; "quake-query verify" shows all such places. Begin again with a snapshot.';
end
$$;
COMMENT ON FUNCTION quake.token__refuse_loss(p_token text, p_had bigint, p_holds bigint) IS 'raises the error for a transaction of which the history holds another number of changes than it had';
CREATE FUNCTION quake.token_at(p_time timestamp with time zone) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
  -- By token, not by time: a clock that was set back must not hide later transactions. First those that are not noted
  -- yet, then the last thousand that has one so early.
  select coalesce(
    (select t.token || '.' || t.nonce from quake.change_transaction t
      where t.at <= p_time and t.token > (select n.token from quake.past_noted n)
      order by t.token desc limit 1),
    (select t.token || '.' || t.nonce from quake.change_transaction t
      where t.at <= p_time
        and t.token < 1000 + 1000 * (select p.thousand from quake.past_time p
                                      where p.at <= p_time order by p.thousand desc limit 1)
      order by t.token desc limit 1), '0')
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
  if p_token is null or p_token !~ '^(0|[1-9][0-9]{0,17}[.][0-9a-f]{8})$' then
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
               o.withdrawn_at, o.superseded_by, o.first_stored)::quake.event as event
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
CREATE FUNCTION quake.watcher__note_removal() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
  insert into quake.watcher_removal as r (name, created_at) values (old.name, old.created_at)
  on conflict (name) do update set created_at = excluded.created_at
   where r.created_at < excluded.created_at;
  return null;
end
$$;
COMMENT ON FUNCTION quake.watcher__note_removal() IS 'notes that a durable cursor was removed';
CREATE FUNCTION quake.within(lat double precision, lon double precision, km double precision) RETURNS SETOF quake.event
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
 SELECT q.code,
     q.net,
     q.net_code,
     q.source,
     q.type,
     q.status,
     q.magnitude,
     q.magnitude_type,
     q.place,
     q."time",
     q.updated,
     q.longitude,
     q.latitude,
     q.depth,
     q.title,
     q.url,
     q.detail,
     q.felt,
     q.cdi,
     q.mmi,
     q.alert,
     q.tsunami,
     q.sig,
     q.nst,
     q.dmin,
     q.rms,
     q.gap,
     q.ids,
     q.sources,
     q.types,
     q.as_of,
     q.validated,
     q.withdrawn_at,
     q.superseded_by,
     q.first_stored
    FROM ((quake.quake q
      CROSS JOIN LATERAL ( SELECT ((q.latitude + (1)::double precision) - (1)::double precision) AS latitude,
             ((q.longitude + (1)::double precision) - (1)::double precision) AS longitude) e)
      CROSS JOIN LATERAL ( SELECT ((within.lat + (1)::double precision) - (1)::double precision) AS latitude,
             ((within.lon + (1)::double precision) - (1)::double precision) AS longitude) c)
   WHERE (((quake.quake__circle_cells(within.lat, within.lon, within.km) IS NULL) OR (quake.quake__cell(q.longitude, q.latitude) = ANY (quake.quake__circle_cells(within.lat, within.lon, within.km)))) AND (q.longitude IS NOT NULL) AND ((((2)::double precision * (6371.0088)::double precision) * asin(LEAST((1)::double precision, sqrt(((sin((((e.latitude - c.latitude) * (pi() / (180)::double precision)) / (2)::double precision)) * sin((((e.latitude - c.latitude) * (pi() / (180)::double precision)) / (2)::double precision))) + (((cos((c.latitude * (pi() / (180)::double precision))) * cos((e.latitude * (pi() / (180)::double precision)))) * sin((((e.longitude - c.longitude) * (pi() / (180)::double precision)) / (2)::double precision))) * sin((((e.longitude - c.longitude) * (pi() / (180)::double precision)) / (2)::double precision)))))))) <= within.km) AND (q.superseded_by IS NULL) AND (q.withdrawn_at IS NULL));
END;
COMMENT ON FUNCTION quake.within(lat double precision, lon double precision, km double precision) IS 'the events with epicentres at most this many kilometres from a point, measured along the ground; right at the poles and the 180th meridian. Without superseded and withdrawn events';
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
COMMENT ON TABLE quake.absence IS 'events that were missing from the latest good snapshots that should have held them, or that their agency has deleted';
COMMENT ON COLUMN quake.absence.code IS 'the event (quake.code)';
COMMENT ON COLUMN quake.absence.feed IS 'the feed that it is missing from (all_day), whatever its address, or whose import says that it was deleted';
COMMENT ON COLUMN quake.absence.snapshots IS 'number of successive snapshots from which it was missing; 1 if its agency has deleted it';
COMMENT ON COLUMN quake.absence.since IS 'when the first of these snapshots was generated';
COMMENT ON COLUMN quake.absence.withdrawn_at IS 'the value of quake.withdrawn_at, if it was set because of this absence; null: it was not';
COMMENT ON COLUMN quake.absence.asked_at IS 'when the event''s own page was last requested without telling whether the event still exists; null: never';
CREATE TABLE quake.association_pending (
    code text NOT NULL
);
ALTER TABLE ONLY quake.association_pending REPLICA IDENTITY FULL;
COMMENT ON TABLE quake.association_pending IS 'events that changed since they were last compared with those of other sources';
COMMENT ON COLUMN quake.association_pending.code IS 'the event (quake.code); it may have been deleted';
CREATE TABLE quake.association_pin (
    code text NOT NULL,
    other text NOT NULL,
    together boolean NOT NULL,
    author text,
    decided_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT association_pin_order CHECK (((code COLLATE "C") < (other COLLATE "C"))),
    CONSTRAINT association_pin_short_text_length CHECK ((GREATEST(octet_length(code), octet_length(other), octet_length(author)) <= 1024))
);
COMMENT ON TABLE quake.association_pin IS 'what persons have decided about pairs of events; it holds whatever their times, places and magnitudes are';
COMMENT ON COLUMN quake.association_pin.code IS 'one event (quake.code), that whose code comes first';
COMMENT ON COLUMN quake.association_pin.other IS 'the other event';
COMMENT ON COLUMN quake.association_pin.together IS 'true: they are the same earthquake; false: they are not';
COMMENT ON COLUMN quake.association_pin.author IS 'who decided it';
COMMENT ON COLUMN quake.association_pin.decided_at IS 'when it was decided';
CREATE TABLE quake.association_preference (
    west double precision NOT NULL,
    south double precision NOT NULL,
    east double precision NOT NULL,
    north double precision NOT NULL,
    sources text[] NOT NULL,
    CONSTRAINT association_preference_latitudes CHECK ((((south >= ('-90'::integer)::double precision) AND (south <= north)) AND ((north >= south) AND (north <= (90)::double precision)))),
    CONSTRAINT association_preference_longitudes CHECK ((((west >= ('-180'::integer)::double precision) AND (west <= (180)::double precision)) AND ((east >= ('-180'::integer)::double precision) AND (east <= (180)::double precision)))),
    CONSTRAINT association_preference_sources_count CHECK (((cardinality(sources) >= 1) AND (cardinality(sources) <= 100))),
    CONSTRAINT association_preference_sources_length CHECK ((octet_length(array_to_string(sources, ','::text, ''::text)) <= 65536))
);
COMMENT ON TABLE quake.association_preference IS 'which sources are preferred, by region; the smallest region that contains the earthquake counts';
COMMENT ON COLUMN quake.association_preference.west IS 'west edge, degrees; a region whose west edge lies east of its east edge crosses the 180th meridian';
COMMENT ON COLUMN quake.association_preference.south IS 'south edge, degrees';
COMMENT ON COLUMN quake.association_preference.east IS 'east edge, degrees';
COMMENT ON COLUMN quake.association_preference.north IS 'north edge, degrees';
COMMENT ON COLUMN quake.association_preference.sources IS 'sources (quake.source), the most preferred first; all others come after them, in the general order, then by name';
CREATE TABLE quake.association_settings (
    single boolean DEFAULT true NOT NULL,
    enabled boolean DEFAULT false NOT NULL,
    time_window double precision DEFAULT 16 NOT NULL,
    distance_window double precision DEFAULT 100 NOT NULL,
    magnitude_window double precision DEFAULT 1.5 NOT NULL,
    loose_factor double precision DEFAULT 1.5 NOT NULL,
    CONSTRAINT association_settings_distance_window_range CHECK (((distance_window >= (0.001)::double precision) AND (distance_window <= (2000)::double precision))),
    CONSTRAINT association_settings_loose_factor_range CHECK (((loose_factor >= (1)::double precision) AND (loose_factor <= (10)::double precision))),
    CONSTRAINT association_settings_magnitude_window_range CHECK (((magnitude_window >= (0.001)::double precision) AND (magnitude_window <= (22)::double precision))),
    CONSTRAINT association_settings_single CHECK (single),
    CONSTRAINT association_settings_time_window_range CHECK (((time_window >= (0.001)::double precision) AND (time_window <= (600)::double precision)))
);
COMMENT ON TABLE quake.association_settings IS 'whether events of different sources are associated, and how near they must be: one row';
COMMENT ON COLUMN quake.association_settings.single IS 'always true, so that there is one row only';
COMMENT ON COLUMN quake.association_settings.enabled IS 'whether events are associated; "quake-admin associations enable" and "disable" change it, together with the triggers';
COMMENT ON COLUMN quake.association_settings.time_window IS 'largest difference of the origin times, seconds';
COMMENT ON COLUMN quake.association_settings.distance_window IS 'largest distance of the epicentres, kilometres';
COMMENT ON COLUMN quake.association_settings.magnitude_window IS 'largest difference of the magnitudes, of whatever types; an event without a magnitude may be associated with any';
COMMENT ON COLUMN quake.association_settings.loose_factor IS 'the windows of time and distance are this much wider if either solution is automatic or at least 70 km deep';
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
    region text,
    CONSTRAINT backfill_counts_whole CHECK ((seen = ((((inserted + updated) + unchanged) + rejected) + duplicate))),
    CONSTRAINT backfill_long_text_length CHECK ((octet_length(url) <= 65536)),
    CONSTRAINT backfill_region_text_length CHECK ((octet_length(region) <= 1024)),
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
COMMENT ON COLUMN quake.backfill.region IS 'region of the epicentres requested, as the options --bbox and --within name it; null: everywhere';
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
    import_id bigint,
    predecessor text
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
COMMENT ON COLUMN quake.change_transaction.predecessor IS 'token of the transaction before it in commit order; 0: it is the first; a number without a nonce: it ran at repeatable read or serializable and could not see the nonce; null: unknown';
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
    superseded_by text,
    first_stored timestamp with time zone
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
COMMENT ON COLUMN quake.quake_version.type IS 'kind of event, in the words of QuakeML 1.2: earthquake, quarry blast, ice quake, explosion, ...; where QuakeML has no word, the source''s own. not existing: its agency says that there was no event';
COMMENT ON COLUMN quake.quake_version.status IS 'automatic, reviewed, ... as the feed spells it; deleted or rejected: its agency has deleted the event';
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
COMMENT ON COLUMN quake.quake_version.withdrawn_at IS 'state of our own: when the event was withdrawn, because feeds that should hold it do not, or because its agency has deleted it (status, type); null: it is not withdrawn';
COMMENT ON COLUMN quake.quake_version.superseded_by IS 'state of our own: code of the row that describes this earthquake now; null: this row does';
COMMENT ON COLUMN quake.quake_version.first_stored IS 'when the event was first stored; no update changes it, and a restored event has its old one; null: recorded before the store knew it';
CREATE VIEW quake.change AS
 SELECT t.token AS token_number,
    v.id AS version,
    ((t.token || '.'::text) || t.nonce) AS token,
    v.op,
    COALESCE(v.changed, '{}'::text[]) AS changed,
    v.code,
    v.net,
    v.net_code,
    v.source,
    v.type,
    v.status,
    v.magnitude,
    v.magnitude_type,
    v.place,
    v."time",
    v.updated,
    v.longitude,
    v.latitude,
    v.depth,
    v.title,
    v.url,
    v.detail,
    v.felt,
    v.cdi,
    v.mmi,
    v.alert,
    v.tsunami,
    v.sig,
    v.nst,
    v.dmin,
    v.rms,
    v.gap,
    v.ids,
    v.sources,
    v.types,
    v.as_of,
    v.validated,
    v.withdrawn_at,
    v.superseded_by,
    v.first_stored,
    t.author,
    t.context,
    t.application_name,
    t.database_user,
    t.process_id,
    t.client_address,
    t.at,
    t.import_id
   FROM (quake.change_transaction t
     JOIN quake.quake_version v ON ((v.transaction_id = t.transaction_id)));
COMMENT ON VIEW quake.change IS 'every change that the history holds, one row each: who made it, when, and the event as it was afterwards; in the order of token_number and version. Below the floor of the history it holds only the last change of each event';
COMMENT ON COLUMN quake.change.token_number IS 'number of the transaction, in commit order: a transaction that commits later has a greater one';
COMMENT ON COLUMN quake.change.version IS 'number of the version: orders the changes of one transaction';
COMMENT ON COLUMN quake.change.token IS 'token of the transaction, as in changes_since';
COMMENT ON COLUMN quake.change.op IS 'insert, update, delete or truncate';
COMMENT ON COLUMN quake.change.changed IS 'the columns that an update changed; empty for other changes';
COMMENT ON COLUMN quake.change.code IS 'the event (quake.code); null for a truncate. This and the following columns of quake.quake have the values after the change; a delete has the last ones';
COMMENT ON COLUMN quake.change.net IS 'id of the network that is the preferred source (us, ci, ak, ...)';
COMMENT ON COLUMN quake.change.net_code IS 'the network''s own code for the event; not unique';
COMMENT ON COLUMN quake.change.source IS 'the catalogue that the row comes from (usgs, emsc, geonet); local if no feed wrote it';
COMMENT ON COLUMN quake.change.type IS 'kind of event, in the words of QuakeML 1.2: earthquake, quarry blast, ice quake, explosion, ...; where QuakeML has no word, the source''s own. not existing: its agency says that there was no event';
COMMENT ON COLUMN quake.change.status IS 'automatic, reviewed, ... as the feed spells it; deleted or rejected: its agency has deleted the event';
COMMENT ON COLUMN quake.change.magnitude IS 'preferred magnitude; zero and negative ones are ordinary; null: not determined';
COMMENT ON COLUMN quake.change.magnitude_type IS 'magnitude type (ml, md, mb, mww, ...), as the feed spells it';
COMMENT ON COLUMN quake.change.place IS 'description of the place, for people';
COMMENT ON COLUMN quake.change."time" IS 'origin time';
COMMENT ON COLUMN quake.change.updated IS 'when the source last changed the event. It is not a version number: it can also move backwards';
COMMENT ON COLUMN quake.change.longitude IS 'degrees east, -180 to 180; null together with latitude';
COMMENT ON COLUMN quake.change.latitude IS 'degrees north, -90 to 90; null together with longitude';
COMMENT ON COLUMN quake.change.depth IS 'hypocentre depth in kilometres, positive down; negative: above sea level';
COMMENT ON COLUMN quake.change.title IS 'headline, for people';
COMMENT ON COLUMN quake.change.url IS 'the event''s page, for people';
COMMENT ON COLUMN quake.change.detail IS 'address of the event''s detail feed';
COMMENT ON COLUMN quake.change.felt IS 'number of felt reports';
COMMENT ON COLUMN quake.change.cdi IS 'maximum reported intensity, 0 to 12';
COMMENT ON COLUMN quake.change.mmi IS 'maximum estimated instrumental intensity, 0 to 12';
COMMENT ON COLUMN quake.change.alert IS 'PAGER alert level: green, yellow, orange, red, pending';
COMMENT ON COLUMN quake.change.tsunami IS '1 if the event is large and in an oceanic region; does not say whether there was a tsunami';
COMMENT ON COLUMN quake.change.sig IS 'significance, 0 to about 3000; the significant feeds hold events from 600 on';
COMMENT ON COLUMN quake.change.nst IS 'number of stations used for the location';
COMMENT ON COLUMN quake.change.dmin IS 'degrees from the epicentre to the nearest station';
COMMENT ON COLUMN quake.change.rms IS 'root mean square of the travel time residuals, seconds';
COMMENT ON COLUMN quake.change.gap IS 'largest azimuthal gap between stations, degrees';
COMMENT ON COLUMN quake.change.ids IS 'every id of the event, as the feed gives them: comma before, between and after';
COMMENT ON COLUMN quake.change.sources IS 'networks that contributed, in the same form';
COMMENT ON COLUMN quake.change.types IS 'product types available, in the same form';
COMMENT ON COLUMN quake.change.as_of IS 'when the snapshot that the contents of the row come from was generated. An older snapshot does not overwrite them; null: not known, or no snapshot wrote them';
COMMENT ON COLUMN quake.change.validated IS 'state of our own, which no feed overwrites: a person has checked the event';
COMMENT ON COLUMN quake.change.withdrawn_at IS 'state of our own: when the event was withdrawn, because feeds that should hold it do not, or because its agency has deleted it (status, type); null: it is not withdrawn';
COMMENT ON COLUMN quake.change.superseded_by IS 'state of our own: code of the row that describes this earthquake now; null: this row does';
COMMENT ON COLUMN quake.change.first_stored IS 'when the event was first stored; no update changes it, and a restored event has its old one';
COMMENT ON COLUMN quake.change.author IS 'who made the change, as set by the writer: set local quake.author = ...; cut after 200 characters';
COMMENT ON COLUMN quake.change.context IS 'why the change was made, as set by the writer: set local quake.context = ...; cut after 2,000 characters';
COMMENT ON COLUMN quake.change.application_name IS 'application_name of the writing session';
COMMENT ON COLUMN quake.change.database_user IS 'role that the session had logged in as';
COMMENT ON COLUMN quake.change.process_id IS 'process id of the server process that wrote';
COMMENT ON COLUMN quake.change.client_address IS 'address of the client; null over a Unix socket';
COMMENT ON COLUMN quake.change.at IS 'when it got its token, just before its commit';
COMMENT ON COLUMN quake.change.import_id IS 'the import that made the change (import.id); null: none did';
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
CREATE TABLE quake.commit_lock (
);
COMMENT ON TABLE quake.commit_lock IS 'empty: transactions that changed events lock it at commit, one at a time';
CREATE TABLE quake.consumer (
    name text NOT NULL,
    sink text NOT NULL,
    alert boolean DEFAULT false NOT NULL,
    made_at timestamp with time zone DEFAULT now() NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    paused_at timestamp with time zone,
    delivered bigint DEFAULT 0 NOT NULL,
    held_back bigint DEFAULT 0 NOT NULL,
    delivered_at timestamp with time zone,
    rate double precision DEFAULT 0 NOT NULL,
    failed_at timestamp with time zone,
    error text,
    rule text,
    CONSTRAINT consumer_counts CHECK (((delivered >= 0) AND (held_back >= 0))),
    CONSTRAINT consumer_text_length CHECK (((octet_length(sink) <= 4096) AND (octet_length(error) <= 4096) AND (octet_length(rule) <= 4096)))
);
COMMENT ON TABLE quake.consumer IS 'consumers: watchers that deliver messages to a receiver; the row of quake.watcher of the same name has the cursor';
COMMENT ON COLUMN quake.consumer.name IS 'the consumer''s name';
COMMENT ON COLUMN quake.consumer.sink IS 'what it delivers to, for people, without secrets';
COMMENT ON COLUMN quake.consumer.alert IS 'whether it tells of earthquakes (quake.conversation) and not of changes';
COMMENT ON COLUMN quake.consumer.made_at IS 'when the name was first used';
COMMENT ON COLUMN quake.consumer.changed_at IS 'when somebody last paused, resumed or rewound it, or changed its deliveries by hand: its process then reads them anew';
COMMENT ON COLUMN quake.consumer.paused_at IS 'since when it delivers nothing; null: it is not paused. What it owes goes on to be recorded, up to its limit';
COMMENT ON COLUMN quake.consumer.delivered IS 'how many messages its receiver has taken';
COMMENT ON COLUMN quake.consumer.held_back IS 'how many messages the limit of the rate has dropped';
COMMENT ON COLUMN quake.consumer.delivered_at IS 'when its receiver last took a message';
COMMENT ON COLUMN quake.consumer.rate IS 'how many messages an hour its receiver took of late, as of delivered_at; without further ones it falls by the factor e in an hour';
COMMENT ON COLUMN quake.consumer.failed_at IS 'when an attempt last failed';
COMMENT ON COLUMN quake.consumer.error IS 'why it failed';
COMMENT ON COLUMN quake.consumer.rule IS 'how a client over HTTP wants to be told of earthquakes: a parameter on each line';
CREATE TABLE quake.conversation (
    consumer text NOT NULL,
    id text NOT NULL,
    code text NOT NULL,
    state text NOT NULL,
    messages integer DEFAULT 0 NOT NULL,
    passed_at timestamp with time zone NOT NULL,
    told_at timestamp with time zone,
    due_at timestamp with time zone NOT NULL,
    muted boolean DEFAULT false NOT NULL,
    told_code text,
    "time" timestamp with time zone,
    magnitude double precision,
    depth double precision,
    latitude double precision,
    longitude double precision,
    place text,
    agency text,
    CONSTRAINT conversation_messages CHECK ((messages >= 0)),
    CONSTRAINT conversation_state CHECK ((state = ANY (ARRAY['waiting'::text, 'open'::text, 'retracted'::text, 'closed'::text]))),
    CONSTRAINT conversation_text_length CHECK (((octet_length(id) <= 64) AND (octet_length(code) <= 1024) AND (octet_length(told_code) <= 1024) AND (octet_length(place) <= 65536) AND (octet_length(agency) <= 1024)))
);
COMMENT ON TABLE quake.conversation IS 'what each alerting consumer has told of each earthquake';
COMMENT ON COLUMN quake.conversation.consumer IS 'the consumer';
COMMENT ON COLUMN quake.conversation.id IS 'token and position of the change by which the earthquake first passed: its id for life';
COMMENT ON COLUMN quake.conversation.code IS 'the event that the earthquake is shown as';
COMMENT ON COLUMN quake.conversation.state IS 'waiting: not told of yet; open; retracted: may come back; closed: nothing more is told';
COMMENT ON COLUMN quake.conversation.messages IS 'the number of messages so far, with those of a muted one; the next one''s id is the conversation''s id, a dash and this number';
COMMENT ON COLUMN quake.conversation.passed_at IS 'commit time of the change by which it first passed';
COMMENT ON COLUMN quake.conversation.told_at IS 'commit time of what was told last; null: nothing yet';
COMMENT ON COLUMN quake.conversation.due_at IS 'when its time is over: a waiting one is then told of, a closed one deleted, another one closed';
COMMENT ON COLUMN quake.conversation.muted IS 'whether the limit of the rate has dropped its first message: nothing is told of it';
COMMENT ON COLUMN quake.conversation.told_code IS 'the event that it was shown as when it was told last';
COMMENT ON COLUMN quake.conversation."time" IS 'the origin time that was told last';
COMMENT ON COLUMN quake.conversation.magnitude IS 'the magnitude that was told last';
COMMENT ON COLUMN quake.conversation.depth IS 'the hypocentre''s depth that was told last, in km';
COMMENT ON COLUMN quake.conversation.latitude IS 'the latitude that was told last';
COMMENT ON COLUMN quake.conversation.longitude IS 'the longitude that was told last';
COMMENT ON COLUMN quake.conversation.place IS 'the place that was told last';
COMMENT ON COLUMN quake.conversation.agency IS 'the agency that was told last (quake.source)';
CREATE TABLE quake.conversation_event (
    consumer text NOT NULL,
    code text NOT NULL,
    conversation text NOT NULL,
    CONSTRAINT conversation_event_text_length CHECK ((octet_length(code) <= 1024))
);
COMMENT ON TABLE quake.conversation_event IS 'the events that are the earthquake of a conversation';
COMMENT ON COLUMN quake.conversation_event.consumer IS 'the consumer';
COMMENT ON COLUMN quake.conversation_event.code IS 'an event that is or was the earthquake (quake.code)';
COMMENT ON COLUMN quake.conversation_event.conversation IS 'the conversation''s id';
CREATE TABLE quake.conversation_past (
    consumer text NOT NULL,
    conversation text NOT NULL,
    token bigint NOT NULL,
    before jsonb NOT NULL
);
COMMENT ON TABLE quake.conversation_past IS 'how conversations were before they changed, for quake-admin consumers rewind';
COMMENT ON COLUMN quake.conversation_past.consumer IS 'the consumer';
COMMENT ON COLUMN quake.conversation_past.conversation IS 'the conversation''s id';
COMMENT ON COLUMN quake.conversation_past.token IS 'number of the transaction that changed it, or after which it was due';
COMMENT ON COLUMN quake.conversation_past.before IS 'its columns and events (codes) as they were before';
CREATE VIEW quake.current_quake AS
 SELECT q.code,
    q.net,
    q.net_code,
    q.source,
    q.type,
    q.status,
    q.magnitude,
    q.magnitude_type,
    q.place,
    q."time",
    q.updated,
    q.longitude,
    q.latitude,
    q.depth,
    q.title,
    q.url,
    q.detail,
    q.felt,
    q.cdi,
    q.mmi,
    q.alert,
    q.tsunami,
    q.sig,
    q.nst,
    q.dmin,
    q.rms,
    q.gap,
    q.ids,
    q.sources,
    q.types,
    q.as_of,
    q.validated,
    q.withdrawn_at,
    q.superseded_by,
    q.first_stored
   FROM quake.quake q
  WHERE ((q.superseded_by IS NULL) AND (q.withdrawn_at IS NULL));
COMMENT ON VIEW quake.current_quake IS 'the events that are neither superseded nor withdrawn: one row for each earthquake';
COMMENT ON COLUMN quake.current_quake.code IS 'the event''s id in its feed, network and number together (us7000pn9s); unique, and never changed in place. The feed''s own property called code is net_code: different networks use the same ones';
COMMENT ON COLUMN quake.current_quake.net IS 'id of the network that is the preferred source (us, ci, ak, ...)';
COMMENT ON COLUMN quake.current_quake.net_code IS 'the network''s own code for the event; not unique';
COMMENT ON COLUMN quake.current_quake.source IS 'the catalogue that the row comes from (usgs, emsc, geonet); local if no feed wrote it';
COMMENT ON COLUMN quake.current_quake.type IS 'kind of event, in the words of QuakeML 1.2: earthquake, quarry blast, ice quake, explosion, ...; where QuakeML has no word, the source''s own. not existing: its agency says that there was no event';
COMMENT ON COLUMN quake.current_quake.status IS 'automatic, reviewed, ... as the feed spells it; deleted or rejected: its agency has deleted the event';
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
COMMENT ON COLUMN quake.current_quake.withdrawn_at IS 'state of our own: when the event was withdrawn, because feeds that should hold it do not, or because its agency has deleted it (status, type); null: it is not withdrawn';
COMMENT ON COLUMN quake.current_quake.superseded_by IS 'state of our own: code of the row that describes this earthquake now; null: this row does';
COMMENT ON COLUMN quake.current_quake.first_stored IS 'when the event was first stored; no update changes it, and a restored event has its old one';
CREATE VIEW quake.daily AS
 SELECT ((q."time" AT TIME ZONE 'UTC'::text))::date AS day,
    count(*) AS events,
    count(q.magnitude) AS with_magnitude,
    avg(q.magnitude) AS average_magnitude,
    min(q.magnitude) AS minimum_magnitude,
    max(q.magnitude) AS maximum_magnitude,
    sum(quake.energy(q.magnitude)) AS energy,
    sum(quake.moment(q.magnitude)) AS moment
   FROM quake.quake q
  WHERE ((q.superseded_by IS NULL) AND (q.withdrawn_at IS NULL))
  GROUP BY (((q."time" AT TIME ZONE 'UTC'::text))::date);
COMMENT ON VIEW quake.daily IS 'the present events of each day with one, by origin time in UTC';
COMMENT ON COLUMN quake.daily.day IS 'the day in UTC';
COMMENT ON COLUMN quake.daily.events IS 'number of events';
COMMENT ON COLUMN quake.daily.with_magnitude IS 'number of events with a magnitude';
COMMENT ON COLUMN quake.daily.average_magnitude IS 'average of the magnitudes';
COMMENT ON COLUMN quake.daily.minimum_magnitude IS 'smallest magnitude';
COMMENT ON COLUMN quake.daily.maximum_magnitude IS 'greatest magnitude';
COMMENT ON COLUMN quake.daily.energy IS 'sum of the radiated energies in joules; see quake.energy';
COMMENT ON COLUMN quake.daily.moment IS 'sum of the seismic moments in newton metres; see quake.moment';
CREATE TABLE quake.delivery (
    number bigint NOT NULL,
    consumer text NOT NULL,
    id text NOT NULL,
    subject text NOT NULL,
    kind text NOT NULL,
    token text NOT NULL,
    made_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    tried_for interval DEFAULT '00:00:00'::interval NOT NULL,
    due_at timestamp with time zone,
    parked_at timestamp with time zone,
    reason text,
    variables text NOT NULL,
    data text NOT NULL,
    CONSTRAINT delivery_attempts CHECK ((attempts >= 0)),
    CONSTRAINT delivery_kind CHECK ((kind = ANY (ARRAY['change'::text, 'opened'::text, 'updated'::text, 'retracted'::text, 'closed'::text]))),
    CONSTRAINT delivery_text_length CHECK (((octet_length(id) <= 64) AND (octet_length(subject) <= 1024) AND (octet_length(token) <= 64) AND (octet_length(reason) <= 4096) AND (octet_length(variables) <= 16777216) AND (octet_length(data) <= 16777216)))
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='1000');
COMMENT ON TABLE quake.delivery IS 'the messages that consumers owe: a row is deleted when the receiver has taken its message';
COMMENT ON COLUMN quake.delivery.number IS 'the order in which the messages were made';
COMMENT ON COLUMN quake.delivery.consumer IS 'the consumer';
COMMENT ON COLUMN quake.delivery.id IS 'the message''s id, the same in each attempt';
COMMENT ON COLUMN quake.delivery.subject IS 'the conversation, or the event''s code: messages with the same subject are delivered in order';
COMMENT ON COLUMN quake.delivery.kind IS 'what the message tells: a change, or what a conversation does';
COMMENT ON COLUMN quake.delivery.token IS 'token of the transaction that it tells of';
COMMENT ON COLUMN quake.delivery.made_at IS 'when it was made, or put on the way again by hand';
COMMENT ON COLUMN quake.delivery.attempts IS 'how many attempts have failed';
COMMENT ON COLUMN quake.delivery.tried_for IS 'how long it has been tried since its first attempt, without the time in which the consumer was paused or not run';
COMMENT ON COLUMN quake.delivery.due_at IS 'when to try again; null: at once';
COMMENT ON COLUMN quake.delivery.parked_at IS 'when the attempts were given up; null: they were not';
COMMENT ON COLUMN quake.delivery.reason IS 'why the last attempt failed';
COMMENT ON COLUMN quake.delivery.variables IS 'the values for commands and templates, one NAME=value on a line';
COMMENT ON COLUMN quake.delivery.data IS 'the message as JSON';
ALTER TABLE quake.delivery ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME quake.delivery_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE quake.edit (
    id bigint NOT NULL,
    action text NOT NULL,
    selection text NOT NULL,
    author text,
    context text,
    program text NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    CONSTRAINT edit_action_known CHECK ((action = ANY (ARRAY['validate'::text, 'unvalidate'::text, 'set'::text, 'delete'::text, 'restore'::text, 'expire'::text]))),
    CONSTRAINT edit_long_text_length CHECK ((GREATEST(octet_length(selection), octet_length(context)) <= 65536)),
    CONSTRAINT edit_short_text_length CHECK ((GREATEST(octet_length(action), octet_length(author), octet_length(program)) <= 1024))
);
COMMENT ON TABLE quake.edit IS 'batch edits, each of which is one or more transactions';
COMMENT ON COLUMN quake.edit.id IS 'number of the edit';
COMMENT ON COLUMN quake.edit.action IS 'validate, unvalidate, set, delete, restore or expire';
COMMENT ON COLUMN quake.edit.selection IS 'which events it was to change, and how; the same command after an interruption continues the edit';
COMMENT ON COLUMN quake.edit.author IS 'author of its transactions';
COMMENT ON COLUMN quake.edit.context IS 'context of its transactions, as the caller gave it; null: the number of the edit';
COMMENT ON COLUMN quake.edit.program IS 'program and version that made it';
COMMENT ON COLUMN quake.edit.started_at IS 'when it began';
COMMENT ON COLUMN quake.edit.finished_at IS 'when it was done; null: it is running, or was interrupted';
ALTER TABLE quake.edit ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME quake.edit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE quake.edit_transaction (
    edit_id bigint NOT NULL,
    transaction_id bigint NOT NULL,
    events bigint NOT NULL,
    CONSTRAINT edit_transaction_events_count CHECK ((events > 0))
);
COMMENT ON TABLE quake.edit_transaction IS 'the transactions of batch edits';
COMMENT ON COLUMN quake.edit_transaction.edit_id IS 'the edit (edit.id)';
COMMENT ON COLUMN quake.edit_transaction.transaction_id IS 'the transaction (change_transaction.transaction_id)';
COMMENT ON COLUMN quake.edit_transaction.events IS 'events that it changed';
CREATE TABLE quake.expiry (
    single boolean DEFAULT true NOT NULL,
    holder text,
    held_until timestamp with time zone,
    next_due timestamp with time zone,
    CONSTRAINT expiry_holder_whole CHECK (((holder IS NULL) = (held_until IS NULL))),
    CONSTRAINT expiry_short_text_length CHECK ((octet_length(holder) <= 1024)),
    CONSTRAINT expiry_single CHECK (single)
);
COMMENT ON TABLE quake.expiry IS 'when workers expire old events, and which of them does: one row';
COMMENT ON COLUMN quake.expiry.single IS 'always true, so that there is one row only';
COMMENT ON COLUMN quake.expiry.holder IS 'random text of the worker that expires events now; null: none does';
COMMENT ON COLUMN quake.expiry.held_until IS 'when another worker may take over, if this one does not report before';
COMMENT ON COLUMN quake.expiry.next_due IS 'when a worker is to look for old events next; null: at once';
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
    paused_at timestamp with time zone,
    paused_by text,
    reset_at timestamp with time zone,
    ended_at timestamp with time zone,
    moved_to text,
    CONSTRAINT feed_every_positive CHECK ((every > '00:00:00'::interval)),
    CONSTRAINT feed_failures_count CHECK ((failures >= 0)),
    CONSTRAINT feed_long_text_length CHECK ((GREATEST(octet_length(url), octet_length(error)) <= 65536)),
    CONSTRAINT feed_moved_to_text_length CHECK ((octet_length(moved_to) <= 65536)),
    CONSTRAINT feed_paused_by_text_length CHECK ((octet_length(paused_by) <= 1024)),
    CONSTRAINT feed_paused_whole CHECK (((paused_at IS NULL) = (paused_by IS NULL))),
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
COMMENT ON COLUMN quake.feed.paused_at IS 'since when no worker polls it although one may hold its lock; null: it is not paused';
COMMENT ON COLUMN quake.feed.paused_by IS 'role that paused it; null: it is not paused';
COMMENT ON COLUMN quake.feed.reset_at IS 'when its state was last reset; a poll that read the state before stores no validators. null: never';
COMMENT ON COLUMN quake.feed.ended_at IS 'when a worker ended that polled it only once; null: a worker polled it last that was to run until stopped';
COMMENT ON COLUMN quake.feed.moved_to IS 'the address to which its server redirects for good, or on another host; null: it does not';
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
    (h.pid IS NOT NULL) AS held,
    f.paused_at,
    f.paused_by,
    f.ended_at,
    f.moved_to
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
COMMENT ON COLUMN quake.feed_status.paused_at IS 'since when it is paused; null: it is not';
COMMENT ON COLUMN quake.feed_status.paused_by IS 'role that paused it; null: it is not paused';
COMMENT ON COLUMN quake.feed_status.ended_at IS 'when a worker ended that polled it only once; null: a worker polled it last that was to run until stopped';
COMMENT ON COLUMN quake.feed_status.moved_to IS 'the address to which its server redirects for good, or on another host; null: it does not';
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
COMMENT ON TABLE quake.import IS 'one row for each import that reached the store, written in the transaction of its data. Of polls in a row that changed nothing, of a feed whose expected events are not known, the newest one alone';
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
COMMENT ON COLUMN quake.import.withdrawn IS 'events that were withdrawn, because they had been missing from several snapshots or because their agency has deleted them (quake.withdrawn_at)';
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
CREATE VIEW quake.live AS
 SELECT q.code,
    q.net,
    q.net_code,
    q.source,
    q.type,
    q.status,
    q.magnitude,
    q.magnitude_type,
    q.place,
    q."time",
    q.updated,
    q.longitude,
    q.latitude,
    q.depth,
    q.title,
    q.url,
    q.detail,
    q.felt,
    q.cdi,
    q.mmi,
    q.alert,
    q.tsunami,
    q.sig,
    q.nst,
    q.dmin,
    q.rms,
    q.gap,
    q.ids,
    q.sources,
    q.types,
    q.as_of,
    q.validated,
    quake.region(q.place) AS region,
    q.first_stored
   FROM quake.quake q
  WHERE ((q.superseded_by IS NULL) AND (q.withdrawn_at IS NULL) AND (q.longitude IS NOT NULL));
COMMENT ON VIEW quake.live IS 'the present events for a map: one row for each earthquake with an epicentre, with its region';
COMMENT ON COLUMN quake.live.code IS 'the event''s id in its feed, network and number together (us7000pn9s); unique, and never changed in place. The feed''s own property called code is net_code: different networks use the same ones';
COMMENT ON COLUMN quake.live.net IS 'id of the network that is the preferred source (us, ci, ak, ...)';
COMMENT ON COLUMN quake.live.net_code IS 'the network''s own code for the event; not unique';
COMMENT ON COLUMN quake.live.source IS 'the catalogue that the row comes from (usgs, emsc, geonet); local if no feed wrote it';
COMMENT ON COLUMN quake.live.type IS 'kind of event, in the words of QuakeML 1.2: earthquake, quarry blast, ice quake, explosion, ...; where QuakeML has no word, the source''s own. not existing: its agency says that there was no event';
COMMENT ON COLUMN quake.live.status IS 'automatic, reviewed, ... as the feed spells it; deleted or rejected: its agency has deleted the event';
COMMENT ON COLUMN quake.live.magnitude IS 'preferred magnitude; zero and negative ones are ordinary; null: not determined';
COMMENT ON COLUMN quake.live.magnitude_type IS 'magnitude type (ml, md, mb, mww, ...), as the feed spells it';
COMMENT ON COLUMN quake.live.place IS 'description of the place, for people';
COMMENT ON COLUMN quake.live."time" IS 'origin time';
COMMENT ON COLUMN quake.live.updated IS 'when the source last changed the event. It is not a version number: it can also move backwards';
COMMENT ON COLUMN quake.live.longitude IS 'degrees east, -180 to 180; null together with latitude';
COMMENT ON COLUMN quake.live.latitude IS 'degrees north, -90 to 90; null together with longitude';
COMMENT ON COLUMN quake.live.depth IS 'hypocentre depth in kilometres, positive down; negative: above sea level';
COMMENT ON COLUMN quake.live.title IS 'headline, for people';
COMMENT ON COLUMN quake.live.url IS 'the event''s page, for people';
COMMENT ON COLUMN quake.live.detail IS 'address of the event''s detail feed';
COMMENT ON COLUMN quake.live.felt IS 'number of felt reports';
COMMENT ON COLUMN quake.live.cdi IS 'maximum reported intensity, 0 to 12';
COMMENT ON COLUMN quake.live.mmi IS 'maximum estimated instrumental intensity, 0 to 12';
COMMENT ON COLUMN quake.live.alert IS 'PAGER alert level: green, yellow, orange, red, pending';
COMMENT ON COLUMN quake.live.tsunami IS '1 if the event is large and in an oceanic region; does not say whether there was a tsunami';
COMMENT ON COLUMN quake.live.sig IS 'significance, 0 to about 3000; the significant feeds hold events from 600 on';
COMMENT ON COLUMN quake.live.nst IS 'number of stations used for the location';
COMMENT ON COLUMN quake.live.dmin IS 'degrees from the epicentre to the nearest station';
COMMENT ON COLUMN quake.live.rms IS 'root mean square of the travel time residuals, seconds';
COMMENT ON COLUMN quake.live.gap IS 'largest azimuthal gap between stations, degrees';
COMMENT ON COLUMN quake.live.ids IS 'every id of the event, as the feed gives them: comma before, between and after';
COMMENT ON COLUMN quake.live.sources IS 'networks that contributed, in the same form';
COMMENT ON COLUMN quake.live.types IS 'product types available, in the same form';
COMMENT ON COLUMN quake.live.as_of IS 'when the snapshot that the contents of the row come from was generated. An older snapshot does not overwrite them; null: not known, or no snapshot wrote them';
COMMENT ON COLUMN quake.live.validated IS 'state of our own, which no feed overwrites: a person has checked the event';
COMMENT ON COLUMN quake.live.region IS 'the part of the place after its last comma; see quake.region';
COMMENT ON COLUMN quake.live.first_stored IS 'when the event was first stored; no update changes it, and a restored event has its old one';
CREATE TABLE quake.migration (
    version integer NOT NULL,
    name text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL,
    program text NOT NULL,
    oldest_schema integer,
    CONSTRAINT migration_oldest_schema_range CHECK (((oldest_schema >= 1) AND (oldest_schema < version)))
);
COMMENT ON TABLE quake.migration IS 'the steps of the schema that have been applied, in order';
COMMENT ON COLUMN quake.migration.version IS 'number of the step, from 1';
COMMENT ON COLUMN quake.migration.name IS 'name of its file, without number and ending';
COMMENT ON COLUMN quake.migration.sha256 IS 'SHA-256 of the file, hexadecimal';
COMMENT ON COLUMN quake.migration.applied_at IS 'when it was applied';
COMMENT ON COLUMN quake.migration.program IS 'program and version that applied it';
COMMENT ON COLUMN quake.migration.oldest_schema IS 'the oldest schema whose programs may go on after this step; null: only programs that know the step';
CREATE TABLE quake.past_day (
    day date NOT NULL,
    token bigint NOT NULL,
    hours bigint[] DEFAULT '{}'::bigint[] NOT NULL
);
COMMENT ON TABLE quake.past_day IS 'when the history first had an event of each day and of each of its hours, for questions about the past; note_past derives it from the history';
COMMENT ON COLUMN quake.past_day.day IS 'day of an origin time, in UTC';
COMMENT ON COLUMN quake.past_day.token IS 'number of the first transaction after which an event had an origin time of that day';
COMMENT ON COLUMN quake.past_day.hours IS 'the same of each hour of the day, the first of them at 1; null: no event had an origin time in it';
CREATE TABLE quake.past_noted (
    single boolean DEFAULT true NOT NULL,
    token bigint DEFAULT 0 NOT NULL,
    version bigint,
    since bigint,
    CONSTRAINT past_noted_single CHECK (single)
);
COMMENT ON TABLE quake.past_noted IS 'how far past_place, past_day and past_time follow the history: one row';
COMMENT ON COLUMN quake.past_noted.single IS 'always true, so that there is one row only';
COMMENT ON COLUMN quake.past_noted.token IS 'number of the last transaction that is noted, whole or in part';
COMMENT ON COLUMN quake.past_noted.version IS 'the last version of that transaction that is noted; null: all are';
COMMENT ON COLUMN quake.past_noted.since IS 'the number from which on past_place and past_day are complete, by hour; null: they are not, and note_past begins anew';
CREATE TABLE quake.past_place (
    token bigint NOT NULL,
    version bigint NOT NULL,
    code text NOT NULL,
    day date NOT NULL,
    cell integer,
    hour smallint DEFAULT 0 NOT NULL,
    CONSTRAINT past_place_hour_range CHECK (((hour >= 0) AND (hour <= 23))),
    CONSTRAINT past_place_text_length CHECK ((octet_length(code) <= 1024))
);
COMMENT ON TABLE quake.past_place IS 'hours and cells that events have left, for questions about the past; note_past derives it from the history';
COMMENT ON COLUMN quake.past_place.token IS 'number of the transaction that moved or deleted the event';
COMMENT ON COLUMN quake.past_place.version IS 'the version that did (quake_version.id)';
COMMENT ON COLUMN quake.past_place.code IS 'the event''s code';
COMMENT ON COLUMN quake.past_place.day IS 'day of the origin time that it had before, in UTC';
COMMENT ON COLUMN quake.past_place.cell IS 'cell of the map in which its epicentre lay before; null: it had none';
COMMENT ON COLUMN quake.past_place.hour IS 'hour of that day';
CREATE TABLE quake.past_time (
    thousand bigint NOT NULL,
    at timestamp with time zone NOT NULL
);
COMMENT ON TABLE quake.past_time IS 'the earliest commit time of each thousand tokens, for questions about a time; note_past derives it from the history';
COMMENT ON COLUMN quake.past_time.thousand IS 'the thousand: 2 has the tokens 2000 to 2999';
COMMENT ON COLUMN quake.past_time.at IS 'no transaction of the thousand committed earlier, by the server''s clock';
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
CREATE TABLE quake.regional_database (
    name text NOT NULL,
    is_here boolean NOT NULL,
    schema_version integer NOT NULL,
    made_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT regional_database_name_form CHECK ((name ~ '^[a-z][a-z0-9_]{0,39}$'::text)),
    CONSTRAINT regional_database_schema_version_range CHECK ((schema_version >= 1))
);
COMMENT ON TABLE quake.regional_database IS 'databases that are copies by logical replication: in a centre its regions, in a region itself';
COMMENT ON COLUMN quake.regional_database.name IS 'the region''s name; slot and subscription are named quake_region_ and this';
COMMENT ON COLUMN quake.regional_database.is_here IS 'whether it is this database: then only the centre''s changes are written here';
COMMENT ON COLUMN quake.regional_database.schema_version IS 'number of its newest migration when "quake-admin region create" last ran there';
COMMENT ON COLUMN quake.regional_database.made_at IS 'when it became a region';
CREATE TABLE quake.table_size (
    name text NOT NULL,
    at timestamp with time zone NOT NULL,
    bytes bigint NOT NULL,
    CONSTRAINT table_size_name_text_length CHECK ((octet_length(name) <= 1024))
);
COMMENT ON TABLE quake.table_size IS 'sizes of the tables of this schema, noted by the workers once a day and kept for 30 days';
COMMENT ON COLUMN quake.table_size.name IS 'the table, without its schema';
COMMENT ON COLUMN quake.table_size.at IS 'when the size was noted';
COMMENT ON COLUMN quake.table_size.bytes IS 'bytes of the table with its indexes and large values';
CREATE SEQUENCE quake.token
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
COMMENT ON SEQUENCE quake.token IS 'numbers transactions at their commit, in commit order';
CREATE TABLE quake.tombstone (
    code text NOT NULL,
    reason text NOT NULL,
    older_than interval,
    deleted_at timestamp with time zone DEFAULT now() NOT NULL,
    author text,
    context text,
    edit_id bigint,
    CONSTRAINT tombstone_code_length CHECK (((length(code) >= 1) AND (length(code) <= 256))),
    CONSTRAINT tombstone_long_text_length CHECK ((octet_length(context) <= 65536)),
    CONSTRAINT tombstone_older_than_positive CHECK ((older_than > '00:00:00'::interval)),
    CONSTRAINT tombstone_reason_known CHECK ((reason = ANY (ARRAY['deleted'::text, 'expired'::text, 'undone'::text]))),
    CONSTRAINT tombstone_short_text_length CHECK ((GREATEST(octet_length(code), octet_length(reason), octet_length(author)) <= 1024))
);
COMMENT ON TABLE quake.tombstone IS 'events that were deleted and stay so although a feed still has them, until they are restored or somebody inserts them again';
COMMENT ON COLUMN quake.tombstone.code IS 'the event (quake.code)';
COMMENT ON COLUMN quake.tombstone.reason IS 'deleted: by a batch delete; expired: because it was old; undone: its insertion was undone';
COMMENT ON COLUMN quake.tombstone.older_than IS 'the age from which on events expire: a feed that gives the event a later origin time, so that it is younger, brings it back; null: nothing but restoring does';
COMMENT ON COLUMN quake.tombstone.deleted_at IS 'when the event was deleted';
COMMENT ON COLUMN quake.tombstone.author IS 'who deleted it';
COMMENT ON COLUMN quake.tombstone.context IS 'why it was deleted';
COMMENT ON COLUMN quake.tombstone.edit_id IS 'the edit that deleted it (edit.id)';
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
CREATE TABLE quake.watcher_removal (
    name text NOT NULL,
    created_at timestamp with time zone NOT NULL
);
COMMENT ON TABLE quake.watcher_removal IS 'the names of durable cursors that were removed, so that a watcher knows whether its cursor was removed or lost in a restore';
COMMENT ON COLUMN quake.watcher_removal.name IS 'the watcher''s name';
COMMENT ON COLUMN quake.watcher_removal.created_at IS 'when the last one of that name was created that was removed';
ALTER TABLE ONLY quake.absence
    ADD CONSTRAINT absence_pkey PRIMARY KEY (code, feed);
ALTER TABLE ONLY quake.association_pin
    ADD CONSTRAINT association_pin_pkey PRIMARY KEY (code, other);
ALTER TABLE ONLY quake.association
    ADD CONSTRAINT association_pkey PRIMARY KEY (code);
ALTER TABLE ONLY quake.association_preference
    ADD CONSTRAINT association_preference_pkey PRIMARY KEY (west, south, east, north);
ALTER TABLE ONLY quake.association_settings
    ADD CONSTRAINT association_settings_pkey PRIMARY KEY (single);
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
ALTER TABLE ONLY quake.consumer
    ADD CONSTRAINT consumer_pkey PRIMARY KEY (name);
ALTER TABLE ONLY quake.conversation_event
    ADD CONSTRAINT conversation_event_pkey PRIMARY KEY (consumer, code);
ALTER TABLE ONLY quake.conversation_past
    ADD CONSTRAINT conversation_past_pkey PRIMARY KEY (consumer, conversation, token);
ALTER TABLE ONLY quake.conversation
    ADD CONSTRAINT conversation_pkey PRIMARY KEY (consumer, id);
ALTER TABLE ONLY quake.delivery
    ADD CONSTRAINT delivery_id UNIQUE (consumer, id);
ALTER TABLE ONLY quake.delivery
    ADD CONSTRAINT delivery_pkey PRIMARY KEY (consumer, number);
ALTER TABLE ONLY quake.edit
    ADD CONSTRAINT edit_pkey PRIMARY KEY (id);
ALTER TABLE ONLY quake.edit_transaction
    ADD CONSTRAINT edit_transaction_pkey PRIMARY KEY (edit_id, transaction_id);
ALTER TABLE ONLY quake.expiry
    ADD CONSTRAINT expiry_pkey PRIMARY KEY (single);
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
ALTER TABLE ONLY quake.past_day
    ADD CONSTRAINT past_day_pkey PRIMARY KEY (day);
ALTER TABLE ONLY quake.past_noted
    ADD CONSTRAINT past_noted_pkey PRIMARY KEY (single);
ALTER TABLE ONLY quake.past_place
    ADD CONSTRAINT past_place_pkey PRIMARY KEY (token, version);
ALTER TABLE ONLY quake.past_time
    ADD CONSTRAINT past_time_pkey PRIMARY KEY (thousand);
ALTER TABLE ONLY quake.quake_alias
    ADD CONSTRAINT quake_alias_pkey PRIMARY KEY (id);
ALTER TABLE ONLY quake.quake
    ADD CONSTRAINT quake_pkey PRIMARY KEY (code);
ALTER TABLE ONLY quake.quake_version
    ADD CONSTRAINT quake_version_pkey PRIMARY KEY (transaction_id, id);
ALTER TABLE ONLY quake.refresh_request
    ADD CONSTRAINT refresh_request_pkey PRIMARY KEY (id, feed);
ALTER TABLE ONLY quake.regional_database
    ADD CONSTRAINT regional_database_pkey PRIMARY KEY (name);
ALTER TABLE ONLY quake.table_size
    ADD CONSTRAINT table_size_pkey PRIMARY KEY (name, at);
ALTER TABLE ONLY quake.tombstone
    ADD CONSTRAINT tombstone_pkey PRIMARY KEY (code);
ALTER TABLE ONLY quake.watcher
    ADD CONSTRAINT watcher_pkey PRIMARY KEY (name);
ALTER TABLE ONLY quake.watcher_removal
    ADD CONSTRAINT watcher_removal_pkey PRIMARY KEY (name);
CREATE INDEX association_pin_other ON quake.association_pin USING btree (other);
CREATE INDEX association_preferred ON quake.association USING btree (preferred);
CREATE INDEX backfill_file_backfill ON quake.backfill_file USING btree (backfill_id);
CREATE INDEX change_transaction_at ON quake.change_transaction USING btree (at);
CREATE INDEX change_transaction_import_id ON quake.change_transaction USING btree (import_id) WHERE (import_id IS NOT NULL);
CREATE INDEX conversation_due ON quake.conversation USING btree (consumer, due_at);
CREATE INDEX conversation_event_of ON quake.conversation_event USING btree (consumer, conversation);
CREATE INDEX edit_transaction_transaction_id ON quake.edit_transaction USING btree (transaction_id);
CREATE INDEX edit_unfinished ON quake.edit USING btree (id) WHERE (finished_at IS NULL);
CREATE INDEX import_applied_import_id ON quake.import USING btree (applied_import_id) WHERE (applied_import_id IS NOT NULL);
CREATE INDEX import_covers ON quake.import USING btree (generated) WHERE ((covers_to IS NOT NULL) AND (quarantined_at IS NULL));
CREATE INDEX import_feed ON quake.import USING btree (feed, id);
CREATE INDEX import_generated ON quake.import USING btree (generated);
CREATE INDEX import_quarantined_at ON quake.import USING btree (quarantined_at) WHERE (quarantined_at IS NOT NULL);
CREATE INDEX import_started_at ON quake.import USING btree (started_at);
CREATE INDEX past_place_cell ON quake.past_place USING btree (cell, token) INCLUDE (day, hour, code) WHERE (cell IS NOT NULL);
CREATE INDEX past_place_hour ON quake.past_place USING btree (day, hour, token) INCLUDE (cell, code);
CREATE INDEX quake_alias_code ON quake.quake_alias USING btree (code);
CREATE INDEX quake_alias_named_by ON quake.quake_alias USING btree (COALESCE(named_by, code));
CREATE INDEX quake_cell ON quake.quake USING btree (quake.quake__cell(longitude, latitude), "time");
CREATE INDEX quake_superseded_by ON quake.quake USING btree (superseded_by) WHERE (superseded_by IS NOT NULL);
CREATE INDEX quake_time ON quake.quake USING btree ("time");
CREATE INDEX quake_version_code ON quake.quake_version USING btree (code, id);
CREATE INDEX quake_version_truncate ON quake.quake_version USING btree (id) WHERE (op = 'truncate'::text);
CREATE INDEX quake_withdrawn_at ON quake.quake USING btree (withdrawn_at) WHERE (withdrawn_at IS NOT NULL);
CREATE INDEX refresh_request_done ON quake.refresh_request USING btree (id) WHERE (done_at IS NOT NULL);
CREATE INDEX refresh_request_pending ON quake.refresh_request USING btree (feed) WHERE (done_at IS NULL);
CREATE INDEX refresh_request_requested_at ON quake.refresh_request USING btree (requested_at);
CREATE UNIQUE INDEX regional_database_here ON quake.regional_database USING btree (is_here) WHERE is_here;
CREATE INDEX tombstone_deleted_at ON quake.tombstone USING btree (deleted_at);
CREATE CONSTRAINT TRIGGER change_pending_10_number AFTER INSERT ON quake.change_pending DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION quake.change_pending__number();
CREATE TRIGGER quake_10_refuse_code_change AFTER UPDATE ON quake.quake FOR EACH ROW WHEN ((old.code IS DISTINCT FROM new.code)) EXECUTE FUNCTION quake.quake__refuse_code_change();
CREATE TRIGGER quake_10_refuse_first_stored_change AFTER UPDATE ON quake.quake FOR EACH ROW WHEN ((old.first_stored IS DISTINCT FROM new.first_stored)) EXECUTE FUNCTION quake.quake__refuse_first_stored_change();
CREATE TRIGGER quake_20_record_delete AFTER DELETE ON quake.quake REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION quake.quake__record_delete();
CREATE TRIGGER quake_20_record_insert AFTER INSERT ON quake.quake REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quake.quake__record_insert();
CREATE TRIGGER quake_20_record_truncate AFTER TRUNCATE ON quake.quake FOR EACH STATEMENT EXECUTE FUNCTION quake.quake__record_truncate();
CREATE TRIGGER quake_20_record_update AFTER UPDATE ON quake.quake REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION quake.quake__record_update();
CREATE TRIGGER quake_30_note_delete AFTER DELETE ON quake.quake REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT WHEN ((current_setting('quake.associating'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION quake.quake__note_for_association();
ALTER TABLE quake.quake DISABLE TRIGGER quake_30_note_delete;
CREATE TRIGGER quake_30_note_insert AFTER INSERT ON quake.quake REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT WHEN ((current_setting('quake.associating'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION quake.quake__note_for_association();
ALTER TABLE quake.quake DISABLE TRIGGER quake_30_note_insert;
CREATE TRIGGER quake_30_note_truncate AFTER TRUNCATE ON quake.quake FOR EACH STATEMENT WHEN ((current_setting('quake.associating'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION quake.quake__note_for_association();
ALTER TABLE quake.quake DISABLE TRIGGER quake_30_note_truncate;
CREATE TRIGGER quake_30_note_update AFTER UPDATE ON quake.quake REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT WHEN ((current_setting('quake.associating'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION quake.quake__note_for_association();
ALTER TABLE quake.quake DISABLE TRIGGER quake_30_note_update;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.association FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.association DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.association_pin FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.association_pin DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.association_preference FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.association_preference DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.association_settings FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.association_settings DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.backfill FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.backfill DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.change_transaction FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.change_transaction DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.edit FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.edit DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.edit_transaction FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.edit_transaction DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.expiry FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.expiry DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.feed FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.feed DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.history_floor FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.history_floor DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.import FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.import DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.past_day FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.past_day DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.past_noted FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.past_noted DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.past_place FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.past_place DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.past_time FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.past_time DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.quake FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.quake DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.quake_alias FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.quake_alias DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.quake_version FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.quake_version DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.refresh_request FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.refresh_request DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_10_refuse_write BEFORE INSERT OR DELETE OR UPDATE OR TRUNCATE ON quake.tombstone FOR EACH STATEMENT EXECUTE FUNCTION quake.region__refuse_write();
ALTER TABLE quake.tombstone DISABLE TRIGGER region_10_refuse_write;
CREATE TRIGGER region_20_follow BEFORE INSERT OR UPDATE ON quake.history_floor FOR EACH ROW EXECUTE FUNCTION quake.history_floor__follow();
ALTER TABLE quake.history_floor ENABLE REPLICA TRIGGER region_20_follow;
CREATE TRIGGER region_20_forget AFTER DELETE ON quake.import FOR EACH ROW EXECUTE FUNCTION quake.import__forget();
ALTER TABLE quake.import ENABLE REPLICA TRIGGER region_20_forget;
CREATE TRIGGER region_20_notify AFTER INSERT ON quake.change_transaction FOR EACH ROW EXECUTE FUNCTION quake.change_transaction__notify();
ALTER TABLE quake.change_transaction ENABLE REPLICA TRIGGER region_20_notify;
CREATE TRIGGER region_30_purge AFTER UPDATE ON quake.history_floor FOR EACH ROW EXECUTE FUNCTION quake.history_floor__follow();
ALTER TABLE quake.history_floor ENABLE REPLICA TRIGGER region_30_purge;
CREATE TRIGGER watcher_10_note_removal AFTER DELETE ON quake.watcher FOR EACH ROW EXECUTE FUNCTION quake.watcher__note_removal();
ALTER TABLE ONLY quake.backfill_file
    ADD CONSTRAINT backfill_file_backfill FOREIGN KEY (backfill_id) REFERENCES quake.backfill(id) ON DELETE CASCADE;
ALTER TABLE ONLY quake.backfill_window
    ADD CONSTRAINT backfill_window_backfill FOREIGN KEY (backfill_id) REFERENCES quake.backfill(id) ON DELETE CASCADE;
ALTER TABLE ONLY quake.change_transaction
    ADD CONSTRAINT change_transaction_import FOREIGN KEY (import_id) REFERENCES quake.import(id) ON DELETE SET NULL;
ALTER TABLE ONLY quake.consumer
    ADD CONSTRAINT consumer_watcher FOREIGN KEY (name) REFERENCES quake.watcher(name) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY quake.conversation
    ADD CONSTRAINT conversation_consumer FOREIGN KEY (consumer) REFERENCES quake.consumer(name) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY quake.conversation_event
    ADD CONSTRAINT conversation_event_conversation FOREIGN KEY (consumer, conversation) REFERENCES quake.conversation(consumer, id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY quake.conversation_past
    ADD CONSTRAINT conversation_past_conversation FOREIGN KEY (consumer, conversation) REFERENCES quake.conversation(consumer, id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY quake.delivery
    ADD CONSTRAINT delivery_consumer FOREIGN KEY (consumer) REFERENCES quake.consumer(name) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE ONLY quake.edit_transaction
    ADD CONSTRAINT edit_transaction_edit FOREIGN KEY (edit_id) REFERENCES quake.edit(id) ON DELETE CASCADE;
ALTER TABLE ONLY quake.import
    ADD CONSTRAINT import_applied FOREIGN KEY (applied_import_id) REFERENCES quake.import(id) ON DELETE SET NULL;
ALTER TABLE ONLY quake.import_body
    ADD CONSTRAINT import_body_import FOREIGN KEY (import_id) REFERENCES quake.import(id) ON DELETE CASCADE;
ALTER TABLE ONLY quake.import_reject
    ADD CONSTRAINT import_reject_import FOREIGN KEY (import_id) REFERENCES quake.import(id) ON DELETE CASCADE;
ALTER TABLE quake.consumer ENABLE ROW LEVEL SECURITY;
CREATE POLICY consumer_changed ON quake.consumer USING ((EXISTS ( SELECT
   FROM quake.watcher w
  WHERE ((w.name = consumer.name) AND ((w.role IS NULL) OR (w.role = CURRENT_USER))))));
CREATE POLICY consumer_seen ON quake.consumer FOR SELECT USING (true);
ALTER TABLE quake.conversation ENABLE ROW LEVEL SECURITY;
CREATE POLICY conversation_changed ON quake.conversation USING ((EXISTS ( SELECT
   FROM quake.watcher w
  WHERE ((w.name = conversation.consumer) AND ((w.role IS NULL) OR (w.role = CURRENT_USER))))));
ALTER TABLE quake.conversation_event ENABLE ROW LEVEL SECURITY;
CREATE POLICY conversation_event_changed ON quake.conversation_event USING ((EXISTS ( SELECT
   FROM quake.watcher w
  WHERE ((w.name = conversation_event.consumer) AND ((w.role IS NULL) OR (w.role = CURRENT_USER))))));
CREATE POLICY conversation_event_seen ON quake.conversation_event FOR SELECT USING (true);
ALTER TABLE quake.conversation_past ENABLE ROW LEVEL SECURITY;
CREATE POLICY conversation_past_changed ON quake.conversation_past USING ((EXISTS ( SELECT
   FROM quake.watcher w
  WHERE ((w.name = conversation_past.consumer) AND ((w.role IS NULL) OR (w.role = CURRENT_USER))))));
CREATE POLICY conversation_past_seen ON quake.conversation_past FOR SELECT USING (true);
CREATE POLICY conversation_seen ON quake.conversation FOR SELECT USING (true);
ALTER TABLE quake.delivery ENABLE ROW LEVEL SECURITY;
CREATE POLICY delivery_changed ON quake.delivery USING ((EXISTS ( SELECT
   FROM quake.watcher w
  WHERE ((w.name = delivery.consumer) AND ((w.role IS NULL) OR (w.role = CURRENT_USER))))));
CREATE POLICY delivery_seen ON quake.delivery FOR SELECT USING (true);
ALTER TABLE quake.watcher ENABLE ROW LEVEL SECURITY;
CREATE POLICY watcher_made ON quake.watcher FOR INSERT WITH CHECK ((role = CURRENT_USER));
CREATE POLICY watcher_moved ON quake.watcher FOR UPDATE USING (((role IS NULL) OR (role = CURRENT_USER))) WITH CHECK ((role = CURRENT_USER));
CREATE POLICY watcher_removed ON quake.watcher FOR DELETE USING (true);
CREATE POLICY watcher_seen ON quake.watcher FOR SELECT USING (true);
