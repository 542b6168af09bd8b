-- Statistics: a b-value only where one b-value describes the events.
--
-- The small events of a mixture of regional catalogues and the large ones of the world have b-values of their
-- own; all together, each cutoff has another. The function finds this out from the events: it compares the
-- b-value from the magnitude of completeness with those from all greater cutoffs.

create function quake.gutenberg_richter(
    magnitudes double precision[], completeness double precision default null,
    method text default 'maximum-curvature', bin double precision default 0.1)
  returns table (
    completeness_magnitude double precision, events bigint, mean_magnitude double precision,
    b double precision, standard_error double precision, refusal text,
    refused_b double precision, other_magnitude double precision, other_b double precision,
    steady_from double precision)
  language plpgsql immutable parallel safe
  set search_path = pg_catalog, pg_temp
as $$
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
comment on function quake.gutenberg_richter(double precision[], double precision, text, double precision) is 'magnitude of completeness and b-value of the Gutenberg-Richter relation. The magnitude of completeness is given, or found by "maximum-curvature", the class with the most events plus 0.2 (Wiemer and Wyss, 2000; Woessner and Wiemer, 2005), or by "b-stability" (Cao and Gao, 2002). b is by maximum likelihood for classes (Aki, 1965; Tinti and Mulargia, 1987), its standard error by Shi and Bolt (1982). Both are null, and refusal says why: "few-events", fewer than 50; "one-class"; "no-stable-cutoff"; "depends-on-cutoff", because b (refused_b) differs from the b-value from other_magnitude on (other_b); from steady_from on, b no longer depends on the cutoff. Magnitudes below -10 and above 12 do not count. No row if there is no magnitude';

create or replace function quake.b_value(
    magnitudes double precision[], completeness double precision default null,
    bin double precision default 0.1)
  returns table (
    completeness_magnitude double precision, events bigint, mean_magnitude double precision,
    b double precision, standard_error double precision)
  language sql immutable parallel safe
  set search_path = pg_catalog, pg_temp
as $$
  select g.completeness_magnitude, g.events, g.mean_magnitude, g.b, g.standard_error
    from quake.gutenberg_richter(b_value.magnitudes, b_value.completeness, 'maximum-curvature', b_value.bin) g
$$;
comment on function quake.b_value(double precision[], double precision, double precision) is 'the b-value as quake.gutenberg_richter computes it with maximum curvature; null where no b-value describes the magnitudes. No row if there is no magnitude';
