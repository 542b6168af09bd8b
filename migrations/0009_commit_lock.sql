-- The lock of the commit order, which only the owner can take, and notifications that cannot fail a
-- commit.
--
-- The advisory lock of 0002 could be taken by any role that may connect, which then stalled every
-- commit. A lock on a table needs a privilege on that table, and nobody has one here but the owner,
-- whose rights the numbering trigger has. The mode conflicts with itself, and is the strongest that
-- PostgreSQL grants without first looking at the locks of every session. Vacuum takes the same mode for
-- a moment: the table is empty, so there is nothing to do.
create table quake.commit_lock ();
comment on table quake.commit_lock is 'empty: transactions that changed events lock it at their commit, one at a time';

-- Only the triggers write versions. PostgreSQL reads and compiles a CHECK anew for each statement that
-- writes a row.
alter table quake.quake_version
  drop constraint quake_version_op_known,
  drop constraint quake_version_code_present,
  drop constraint quake_version_changed_present;

-- What a writer says of himself has a length, because every reader takes it in.
update quake.change_transaction
   set author = left(author, 200), context = left(context, 2000)
 where length(author) > 200 or length(context) > 2000;
comment on column quake.change_transaction.author is 'who made the change, as the writer says it: set local quake.author = ...; cut after 200 characters';
comment on column quake.change_transaction.context is 'what for, as the writer says it: set local quake.context = ...; cut after 2,000 characters';

-- What is only needed once is part of the statement that needs it: PL/pgSQL prepares each expression
-- anew in each transaction, which costs more than what most of them compute. So the transaction's row
-- and the notification are one statement.
--
-- Anybody who may connect can fill the server's notification queue, and a commit that notifies then
-- fails. So above a quarter of it there is no notification; readers poll. A transaction that notified
-- cannot be prepared for two-phase commit; one that did not could be, and would keep the lock after its
-- session: an exported snapshot forbids it as well.
create or replace function quake.change_pending__number() returns trigger
  language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  own_import bigint;
  new_token bigint;
  notified text;
begin
  if new.xmax = '0' then  -- nothing was added since the first statement: the row is still in its place
    delete from quake.change_pending p where p.ctid = new.ctid;
  else
    delete from quake.change_pending p
     where p.ctid = case when current_setting('quake.pending', true) ~ '^\([0-9]{1,9},[0-9]{1,4}\)$'
                         then current_setting('quake.pending')::tid end
       and p.xid = new.xid and p.transaction_id = new.transaction_id
    returning p.inserted, p.updated, p.deleted, p.truncated
      into new.inserted, new.updated, new.deleted, new.truncated;
    if not found then  -- somebody meddled with the setting
      delete from quake.change_pending p
       where p.xid = new.xid and p.transaction_id = new.transaction_id
      returning p.inserted, p.updated, p.deleted, p.truncated
        into new.inserted, new.updated, new.deleted, new.truncated;
    end if;
  end if;

  -- Without a flush at commit a token could be delivered, lost in a crash, and then be used again
  -- for something else.
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;

  -- Only an import that this transaction itself wrote may claim it.
  if current_setting('quake.import', true) ~ '^[0-9]{1,18}$' then
    select i.id into own_import from quake.import i
     where i.id = current_setting('quake.import')::bigint and i.xmin = pg_current_xact_id()::xid;
  end if;

  -- First the lock, then the number.
  lock table quake.commit_lock in share update exclusive mode;
  insert into quake.change_transaction as t values (
    nextval('quake.token'), substr(gen_random_uuid()::text, 1, 8), new.transaction_id,
    nullif(left(current_setting('quake.author', true), 200), ''),
    nullif(left(current_setting('quake.context', true), 2000), ''),
    nullif(current_setting('application_name'), ''), session_user, pg_backend_pid(),
    inet_client_addr(), clock_timestamp(),
    new.inserted, new.updated, new.deleted, new.truncated, own_import)
  -- JSON, as text: building it value by value costs twice as much. A notification holds at most 8,000
  -- bytes; an author of 200 characters is at most 2,400.
  returning t.token, case
    when pg_notification_queue_usage() < 0.25 then pg_notify('quake_changes', format(
      '{"token" : "%s.%s", "author" : %s, "inserted" : %s, "updated" : %s, "deleted" : %s, "truncated" : %s}',
      t.token, t.nonce, coalesce(to_json(t.author)::text, 'null'),
      t.inserted, t.updated, t.deleted, t.truncated))::text
    when current_setting('max_prepared_transactions') <> '0' then pg_export_snapshot() end
    into new_token, notified;
  if own_import is not null then
    update quake.import i set token = new_token where i.id = own_import;
  end if;
  return null;
end
$$;
comment on function quake.change_pending__number() is 'numbers a transaction at its commit, in commit order, and notifies (channel quake_changes) while the notification queue has room';
