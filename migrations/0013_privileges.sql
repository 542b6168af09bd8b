-- What a role with some privileges may do, and no more. The roles are made by "quake-admin roles".

-- A durable cursor belongs to the role that uses it: no other moves it. Everybody who may read the table
-- sees all of them, since all hold the history back; and whoever may delete may remove any.
alter table quake.watcher add column role name default current_user;
update quake.watcher set role = null;
comment on column quake.watcher.role is 'the role that moves the cursor; null: whoever moves it next';
alter table quake.watcher enable row level security;
create policy watcher_seen on quake.watcher for select using (true);
create policy watcher_made on quake.watcher for insert with check (role = current_user);
create policy watcher_moved on quake.watcher for update
  using (role is null or role = current_user) with check (role = current_user);
create policy watcher_removed on quake.watcher for delete using (true);

-- Whoever purges needs no privilege on the history itself: the functions remove what lies below the
-- floor, and nothing else.
alter function quake.raise_history_floor(text, interval) security definer;
alter function quake.purge_history(integer) security definer;
revoke all on function quake.raise_history_floor(text, interval), quake.purge_history(integer) from public;
