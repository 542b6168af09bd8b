-- oldest schema: 18
--
-- Events that SQL has stored with values that no output can show. A region may not change events.

do $$
begin
  if not exists (select from quake.regional_database d where d.is_here) then
    perform set_config('quake.context', 'migration 29', true);
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

-- Its lock keeps no program from reading and writing.
alter table quake.quake
  validate constraint quake_number_finite,
  validate constraint quake_first_stored_range;

create trigger quake_10_refuse_first_stored_change
  after update on quake.quake for each row
  when (old.first_stored is distinct from new.first_stored)
  execute function quake.quake__refuse_first_stored_change();
