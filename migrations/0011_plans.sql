-- Plans: the row of a running transaction is always fetched by its ctid.
--
-- Vacuum empties quake.change_pending, and for an empty table a scan of the table is the cheaper plan. A session
-- that keeps such a plan reads all earlier versions of its row with each further statement of a transaction:
-- 20,000 statements took 5.3 s instead of 2.5 s, and the difference grows with the square of their number.

alter function quake.change_pending__add(bigint, bigint, bigint, bigint) set enable_seqscan = off;
alter function quake.change_pending__number() set enable_seqscan = off;
