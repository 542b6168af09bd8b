-- oldest schema: 18
--
-- Batches of a large transaction that has not been analysed yet.

-- Each of these functions reads the next versions of a transaction in the order of its index. With too low an estimate of
-- their number, the planner took a bitmap scan instead, which read and sorted all that was left of the transaction for each
-- batch: half a second for one of 300,000 versions.
alter function quake.purge_history(integer) set enable_bitmapscan = off;
alter function quake.note_past(integer) set enable_bitmapscan = off;
