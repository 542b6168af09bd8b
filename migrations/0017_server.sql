-- The event that describes an earthquake now, however long the way to it is.

create or replace function quake.find(p_id text) returns setof quake.quake
  language sql stable
  set search_path = pg_catalog, pg_temp
as $$
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
