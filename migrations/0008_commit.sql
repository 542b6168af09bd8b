-- What a small transaction pays for its number.
--
-- Only change_pending__number makes nonces. PostgreSQL reads and compiles a CHECK anew for each
-- statement that writes a row.
alter table quake.change_transaction drop constraint change_transaction_nonce_form;

-- What is called by an assignment is not planned and run as a query.
create or replace function quake.change_pending__add(
  p_inserted bigint, p_updated bigint, p_deleted bigint, p_truncated bigint
) returns bigint
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  place text := current_setting('quake.pending', true);
  transaction_id bigint;
begin
  if place ~ '^\([0-9]{1,9},[0-9]{1,4}\)$' then
    update quake.change_pending p
       set inserted = p.inserted + p_inserted, updated = p.updated + p_updated,
           deleted = p.deleted + p_deleted, truncated = p.truncated + p_truncated
     where p.ctid = place::tid and p.xid = pg_current_xact_id()
    returning p.transaction_id, p.ctid::text into transaction_id, place;
    if found then
      place := set_config('quake.pending', place, true);
      return transaction_id;
    end if;
  end if;
  insert into quake.change_pending as p
  values (pg_current_xact_id(), nextval('quake.transaction_id'), p_inserted, p_updated, p_deleted, p_truncated)
  returning p.transaction_id, p.ctid::text into transaction_id, place;
  place := set_config('quake.pending', place, true);
  return transaction_id;
end
$$;

-- What is only needed once is part of the statement that needs it: PL/pgSQL prepares each expression
-- anew in each transaction, which costs more than what most of them compute. So the transaction's row
-- and the notification are one statement.
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

  -- First the lock, then the number. The key is 'quake' in ASCII followed by 01: any number would do,
  -- as long as nobody else's lock uses it.
  new_token := case when pg_advisory_xact_lock(x'7175616b6501'::bigint) is not null
                    then nextval('quake.token') end;
  insert into quake.change_transaction as t values (
    new_token, substr(gen_random_uuid()::text, 1, 8), new.transaction_id,
    nullif(current_setting('quake.author', true), ''),
    nullif(current_setting('quake.context', true), ''),
    nullif(current_setting('application_name'), ''), session_user, pg_backend_pid(),
    inet_client_addr(), clock_timestamp(),
    new.inserted, new.updated, new.deleted, new.truncated, own_import)
  -- JSON, as text: building it value by value costs twice as much. A notification holds at most 8,000
  -- bytes; an author of 200 characters is at most 2,400.
  returning pg_notify('quake_changes', format(
    '{"token" : "%s.%s", "author" : %s, "inserted" : %s, "updated" : %s, "deleted" : %s, "truncated" : %s}',
    t.token, t.nonce, coalesce(to_json(left(t.author, 200))::text, 'null'),
    t.inserted, t.updated, t.deleted, t.truncated)) into notified;
  if own_import is not null then
    update quake.import i set token = new_token where i.id = own_import;
  end if;
  return null;
end
$$;

-- Triggers run whoever may call their functions. Anybody else has no use for these but to put them onto
-- tables of his own, whose rows they would write into the history as the owner.
revoke all on function
  quake.change_pending__number(), quake.quake__record_insert(), quake.quake__record_update(),
  quake.quake__record_delete(), quake.quake__record_truncate() from public;
