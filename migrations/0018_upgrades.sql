-- Programs that go on with a newer schema.
--
-- A migration says in its first lines "-- oldest schema: N" if programs that know the schema up to N may go on after
-- it; the migrator writes it into the ledger. Older programs, and all of them after a migration that says nothing, end
-- with status 78 when they connect.

alter table quake.migration add column oldest_schema integer;
alter table quake.migration add constraint migration_oldest_schema_range
  check (oldest_schema >= 1 and oldest_schema < version);
comment on column quake.migration.oldest_schema is 'the oldest schema whose programs may go on after this step; null: only programs that know the step';
