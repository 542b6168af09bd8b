-- Alerts: the changes that somebody should hear of, with the conditions of quake-watch.

create function quake.distance(
    from_latitude double precision, from_longitude double precision,
    to_latitude double precision, to_longitude double precision)
  returns double precision
  language sql immutable parallel safe
begin atomic
  -- The haversine formula, operation by operation as the tools compute it: see quake.within. least() leaves out
  -- a null, so that the test for null has to be made first.
  select case when from_latitude is not null and from_longitude is not null
                   and to_latitude is not null and to_longitude is not null then
    2::double precision * 6371.0088::double precision * asin(least(1::double precision, sqrt(
      sin((((to_latitude + 1::double precision) - 1::double precision)
           - ((from_latitude + 1::double precision) - 1::double precision)) * (pi() / 180) / 2)
      * sin((((to_latitude + 1::double precision) - 1::double precision)
             - ((from_latitude + 1::double precision) - 1::double precision)) * (pi() / 180) / 2)
      + cos(((from_latitude + 1::double precision) - 1::double precision) * (pi() / 180))
        * cos(((to_latitude + 1::double precision) - 1::double precision) * (pi() / 180))
        * sin((((to_longitude + 1::double precision) - 1::double precision)
               - ((from_longitude + 1::double precision) - 1::double precision)) * (pi() / 180) / 2)
        * sin((((to_longitude + 1::double precision) - 1::double precision)
               - ((from_longitude + 1::double precision) - 1::double precision)) * (pi() / 180) / 2)))) end;
end;
comment on function quake.distance(double precision, double precision, double precision, double precision) is 'great-circle distance between two points in kilometres, on a sphere with the Earth''s mean radius; null if a coordinate is';

create function quake.alerts_since(
    p_token text,
    newer_than interval default null,
    min_magnitude double precision default null,
    types text[] default null,
    within_km double precision default null,
    latitude double precision default null,
    longitude double precision default null,
    enters boolean default false,
    leaves boolean default false,
    magnitude_change double precision default null,
    depth_change double precision default null,
    place_change double precision default null,
    limit_rate integer default null,
    limit_period interval default '1 hour')
  returns table (
    token text, "position" bigint, op text, code text, changed text[], old quake.event, new quake.event,
    author text, context text, at timestamptz, held_back bigint)
  language plpgsql stable
  set search_path = pg_catalog, pg_temp
as $$
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
comment on function quake.alerts_since(
  text, interval, double precision, text[], double precision, double precision, double precision, boolean,
  boolean, double precision, double precision, double precision, integer, interval)
  is 'the changes after a token that an alert needs, in commit order, with the conditions of quake-watch; held_back is the number of changes that limit_rate left out before this one';
