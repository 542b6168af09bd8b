-- Queries for everyone: areas of the map, regions, days, and magnitude statistics.
--
-- The functions that a query has to see through, so that it can use an index or does not pay for a call a
-- row, have a body in the syntax of the SQL standard ("begin atomic"). PostgreSQL parses such a body once,
-- here, and not in the search path of the caller. They must not have settings of their own, or be strict:
-- both would keep the planner from replacing the call by the body.

-- The name of a place

create function quake.locality(place text) returns text
  language sql immutable parallel safe
begin atomic
  select nullif(
    regexp_replace(btrim(place, ' ,'),
      '^[0-9]+([.][0-9]+)? *([kK][mM]|[mM][iI]) +[NSEW]{1,3} +of +', ''), '');
end;
comment on function quake.locality(text) is 'the place without the distance and direction in front of it: "Pāhala, Hawaii" of "6 km SSW of Pāhala, Hawaii"; null: no place';

create function quake.region(place text) returns text
  language sql immutable parallel safe
begin atomic
  select btrim(split_part(quake.locality(place), ',', -1), ' ');
end;
comment on function quake.region(text) is 'the part of a place after its last comma: "Hawaii" of "6 km SSW of Pāhala, Hawaii"; without a comma, all of it; null: no place';

-- Areas of the map
--
-- An index on cells of the map finds the events of an area: a cell is a number, so that inserting into the
-- index costs less than into one on points, and an area is a list of cells. Whether an event of these cells
-- lies in the area is computed exactly. A cell is one degree of latitude high and as wide as one degree of
-- longitude is at the equator, so that there are few cells around a pole.

create function quake.quake__cell(longitude double precision, latitude double precision) returns integer
  language sql immutable parallel safe
begin atomic
  -- Rows are 361 numbers apart, because the columns of the widest are -180 to 180.
  select (floor(latitude) * 361::double precision + floor(longitude * cosd(floor(latitude))))::integer;
end;
comment on function quake.quake__cell(double precision, double precision) is 'private: number of the cell of the map in which an epicentre lies';

create function quake.quake__box_cells(
    p_west double precision, p_south double precision, p_east double precision, p_north double precision)
  returns integer[]
  language plpgsql immutable parallel safe
  set search_path = pg_catalog, pg_temp
as $$
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
comment on function quake.quake__box_cells(double precision, double precision, double precision, double precision) is 'private: the cells that a box touches; null: too many to list';

create function quake.quake__circle_cells(
    p_latitude double precision, p_longitude double precision, p_km double precision)
  returns integer[]
  language plpgsql immutable parallel safe
  set search_path = pg_catalog, pg_temp
as $$
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
comment on function quake.quake__circle_cells(double precision, double precision, double precision) is 'private: the cells that a circle touches; null: too many to list';

create index quake_cell on quake.quake (quake.quake__cell(longitude, latitude));

create function quake.in_box(
    west double precision, south double precision, east double precision, north double precision)
  returns setof quake.event
  language sql stable parallel safe
begin atomic
  select q.code, q.net, q.net_code, q.source, q.type, q.status, q.magnitude, q.magnitude_type,
         q.place, q.time, q.updated, q.longitude, q.latitude, q.depth, q.title, q.url,
         q.detail, q.felt, q.cdi, q.mmi, q.alert, q.tsunami, q.sig, q.nst, q.dmin, q.rms,
         q.gap, q.ids, q.sources, q.types, q.as_of, q.validated, q.withdrawn_at,
         q.superseded_by
    from quake.quake q
   where (quake.quake__box_cells(west, south, east, north) is null
          or quake.quake__cell(q.longitude, q.latitude) = any (quake.quake__box_cells(west, south, east, north)))
     and q.latitude >= south and q.latitude <= north
     and case when west <= east then q.longitude >= west and q.longitude <= east
              else q.longitude >= west or q.longitude <= east end
     and q.superseded_by is null and q.withdrawn_at is null;
end;
comment on function quake.in_box(double precision, double precision, double precision, double precision) is 'the events with epicentres in a box, edges included, in degrees; a box whose west edge lies east of its east edge crosses the 180th meridian. Without superseded and withdrawn events';

create function quake.within(lat double precision, lon double precision, km double precision)
  returns setof quake.event
  language sql stable parallel safe
begin atomic
  -- The great-circle distance by the haversine formula on a sphere with the Earth's mean radius, operation by
  -- operation the one of the option --within.
  select q.code, q.net, q.net_code, q.source, q.type, q.status, q.magnitude, q.magnitude_type,
         q.place, q.time, q.updated, q.longitude, q.latitude, q.depth, q.title, q.url,
         q.detail, q.felt, q.cdi, q.mmi, q.alert, q.tsunami, q.sig, q.nst, q.dmin, q.rms,
         q.gap, q.ids, q.sources, q.types, q.as_of, q.validated, q.withdrawn_at,
         q.superseded_by
    from quake.quake q
   where (quake.quake__circle_cells(lat, lon, km) is null
          or quake.quake__cell(q.longitude, q.latitude) = any (quake.quake__circle_cells(lat, lon, km)))
     and q.longitude is not null  -- least() leaves nulls out
     and 2::double precision * 6371.0088::double precision * asin(least(1::double precision, sqrt(
           sin((q.latitude - lat) * (pi() / 180::double precision) / 2::double precision)
           * sin((q.latitude - lat) * (pi() / 180::double precision) / 2::double precision)
           + cos(lat * (pi() / 180::double precision)) * cos(q.latitude * (pi() / 180::double precision))
           * sin((q.longitude - lon) * (pi() / 180::double precision) / 2::double precision)
           * sin((q.longitude - lon) * (pi() / 180::double precision) / 2::double precision)))) <= km
     and q.superseded_by is null and q.withdrawn_at is null;
end;
comment on function quake.within(double precision, double precision, double precision) is 'the events with epicentres at most this many kilometres from a point, measured along the ground; right at the poles and the 180th meridian. Without superseded and withdrawn events';

-- Magnitudes

create function quake.energy(magnitude double precision) returns double precision
  language sql immutable parallel safe
begin atomic
  select power(10::double precision, 1.5::double precision * magnitude + 4.8::double precision);
end;
comment on function quake.energy(double precision) is 'radiated energy in joules: 10^(1.5 M + 4.8) (Gutenberg and Richter, 1956)';

create function quake.moment(magnitude double precision) returns double precision
  language sql immutable parallel safe
begin atomic
  select power(10::double precision, 1.5::double precision * magnitude + 9.1::double precision);
end;
comment on function quake.moment(double precision) is 'seismic moment in newton metres, as if the magnitude were a moment magnitude: 10^(1.5 M + 9.1) (Hanks and Kanamori, 1979)';

create function quake.b_value(
    magnitudes double precision[], completeness double precision default null,
    bin double precision default 0.1)
  returns table (
    completeness_magnitude double precision, events bigint, mean_magnitude double precision,
    b double precision, standard_error double precision)
  language sql immutable parallel safe
  set search_path = pg_catalog, pg_temp
as $$
  -- A magnitude belongs to the class of the nearest multiple of the width, the greater one if two are equally
  -- near. The small number makes up for multiples that are no binary fractions.
  with class as materialized (
    select floor(m / b_value.bin + 0.5 + 1e-9) as number, count(*) as events
      from unnest(b_value.magnitudes) m
     where m is not null
     group by 1
  ), least_class as (
    select coalesce(
      floor(b_value.completeness / b_value.bin + 0.5 + 1e-9),
      (select c.number from class c order by c.events desc, c.number desc limit 1)) as number
  ), complete as materialized (
    select c.number * b_value.bin as magnitude, c.events
      from class c where c.number >= (select l.number from least_class l)
  ), total as materialized (
    select sum(c.events)::bigint as events, sum(c.events * c.magnitude) / sum(c.events) as mean
      from complete c
  ), estimate as (
    select round((l.number * b_value.bin)::numeric, 6)::double precision as completeness,
           coalesce(t.events, 0) as events, t.mean,
           log(exp(1::double precision))
             / nullif(t.mean - (l.number * b_value.bin - b_value.bin / 2), 0) as b,
           (select sum(c.events * (c.magnitude - t.mean) ^ 2) from complete c) as squares
      from least_class l cross join total t
     where l.number is not null
  )
  select e.completeness, e.events, e.mean, e.b,
         case when e.events > 1 then
           ln(10::double precision) * e.b ^ 2
             * sqrt(e.squares / (e.events::double precision * (e.events - 1))) end
    from estimate e
$$;
comment on function quake.b_value(double precision[], double precision, double precision) is 'the b-value of the Gutenberg-Richter relation: magnitude of completeness by maximum curvature (Wiemer and Wyss, 2000) unless it is given, b by Aki (1965) with the correction for classes by Utsu (1966), its standard error by Shi and Bolt (1982). No row if there is no magnitude';

-- Views

create view quake.live as
  select q.code, q.net, q.net_code, q.source, q.type, q.status, q.magnitude, q.magnitude_type,
         q.place, q.time, q.updated, q.longitude, q.latitude, q.depth, q.title, q.url,
         q.detail, q.felt, q.cdi, q.mmi, q.alert, q.tsunami, q.sig, q.nst, q.dmin, q.rms,
         q.gap, q.ids, q.sources, q.types, q.as_of, q.validated,
         quake.region(q.place) as region
    from quake.quake q
   where q.superseded_by is null and q.withdrawn_at is null and q.longitude is not null;
comment on view quake.live is 'the present events for a map: one row for each earthquake with an epicentre, with its region';
comment on column quake.live.region is 'the part of the place after its last comma; see quake.region';

create view quake.daily as
  select (q.time at time zone 'UTC')::date as day, count(*) as events,
         count(q.magnitude) as with_magnitude, avg(q.magnitude) as average_magnitude,
         min(q.magnitude) as minimum_magnitude, max(q.magnitude) as maximum_magnitude,
         sum(quake.energy(q.magnitude)) as energy, sum(quake.moment(q.magnitude)) as moment
    from quake.quake q
   where q.superseded_by is null and q.withdrawn_at is null
   group by 1;
comment on view quake.daily is 'the present events of each day with one, by origin time in UTC';
comment on column quake.daily.day is 'the day in UTC';
comment on column quake.daily.events is 'number of events';
comment on column quake.daily.with_magnitude is 'number of events with a magnitude';
comment on column quake.daily.average_magnitude is 'average of the magnitudes';
comment on column quake.daily.minimum_magnitude is 'smallest magnitude';
comment on column quake.daily.maximum_magnitude is 'greatest magnitude';
comment on column quake.daily.energy is 'sum of the radiated energies in joules; see quake.energy';
comment on column quake.daily.moment is 'sum of the seismic moments in newton metres; see quake.moment';

-- The other columns of the view have the comments of the table's columns.
do $$
declare
  described record;
begin
  for described in
    select a.attname as name, col_description('quake.quake'::regclass, t.attnum) as text
      from pg_catalog.pg_attribute a
      join pg_catalog.pg_attribute t
        on t.attrelid = 'quake.quake'::regclass and t.attname = a.attname and t.attnum > 0
     where a.attrelid = 'quake.live'::regclass and a.attnum > 0
  loop
    execute format('comment on column quake.live.%I is %L', described.name, described.text);
  end loop;
end
$$;
