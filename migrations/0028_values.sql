-- oldest schema: 18
--
-- Changes of events that the history could not show.

-- A "before" trigger of the owner's own can change a column that the statement does not name: only an "after" trigger
-- sees what is stored.
drop trigger quake_10_refuse_code_change on quake.quake;
create trigger quake_10_refuse_code_change
  after update on quake.quake for each row
  when (old.code is distinct from new.code)
  execute function quake.quake__refuse_code_change();

-- No output has a text for NaN, infinite numbers, and times outside of the years 1 to 9999. The next migration looks at
-- the rows that exist, while programs read and write, and makes this trigger again.
alter table quake.quake
  add constraint quake_number_finite check (
    greatest(abs(cdi), abs(mmi), abs(dmin), abs(rms), abs(gap)) < 'infinity') not valid,
  add constraint quake_first_stored_range check (
    first_stored >= '0001-01-01 00:00:00+00' and first_stored < '10000-01-01 00:00:00+00') not valid;
drop trigger quake_10_refuse_first_stored_change on quake.quake;
