-- oldest schema: 18
--
-- Readers of the history from before migration 22.

-- token_at reads past_time and past_noted since then. The roles that could call it until then may read them at once:
-- "quake-admin roles create" runs only after the migrations, and programs are at work in the meantime.
do $$
declare
  reader text;
begin
  for reader in
    select distinct r.rolname
      from pg_class c
     cross join lateral aclexplode(c.relacl) a
      join pg_roles r on r.oid = a.grantee
     where c.oid = 'quake.change_transaction'::regclass and a.privilege_type = 'SELECT' and r.oid <> c.relowner
  loop
    execute format('grant select on quake.past_time, quake.past_noted to %I', reader);
  end loop;
end
$$;
