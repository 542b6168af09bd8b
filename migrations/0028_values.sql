-- oldest schema: 18
--
-- Changes of events that the history could not show.

-- A "before" trigger of the owner's own can change a column that the statement does not name: only an "after" trigger
-- sees what is stored.
drop trigger quake_10_refuse_code_change on quake.quake;
drop trigger quake_10_refuse_first_stored_change on quake.quake;

-- No output has a text for NaN, infinite numbers, and times outside of the years 1 to 9999. A region may not change
-- events.
do $$
begin
  if not exists (select from quake.regional_database d where d.is_here) then
    perform set_config('quake.context', 'migration 28', true);
    update quake.quake q
       set cdi = case when abs(q.cdi) < 'infinity' then q.cdi end,
           mmi = case when abs(q.mmi) < 'infinity' then q.mmi end,
           dmin = case when abs(q.dmin) < 'infinity' then q.dmin end,
           rms = case when abs(q.rms) < 'infinity' then q.rms end,
           gap = case when abs(q.gap) < 'infinity' then q.gap end,
           first_stored = greatest('0001-01-01Z', least('9999-12-31 23:59:59.999999Z', q.first_stored))
     where greatest(abs(q.cdi), abs(q.mmi), abs(q.dmin), abs(q.rms), abs(q.gap)) >= 'infinity'
        or q.first_stored < '0001-01-01Z' or q.first_stored >= '10000-01-01Z';
  end if;
end
$$;

alter table quake.quake
  add constraint quake_number_finite check (
    greatest(abs(cdi), abs(mmi), abs(dmin), abs(rms), abs(gap)) < 'infinity'),
  add constraint quake_first_stored_range check (
    first_stored >= '0001-01-01 00:00:00+00' and first_stored < '10000-01-01 00:00:00+00');

create trigger quake_10_refuse_code_change
  after update on quake.quake for each row
  when (old.code is distinct from new.code)
  execute function quake.quake__refuse_code_change();
create trigger quake_10_refuse_first_stored_change
  after update on quake.quake for each row
  when (old.first_stored is distinct from new.first_stored)
  execute function quake.quake__refuse_first_stored_change();
