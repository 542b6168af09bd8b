-- Backfills of a region. A backfill with another region is another backfill, which does not continue the first.

alter table quake.backfill add column region text;
alter table quake.backfill add constraint backfill_region_text_length check (octet_length(region) <= 1024);
comment on column quake.backfill.region is 'region of the epicentres requested, as the options --bbox and --within name it; null: everywhere';
