package import Postgres

/// Something that was done to the objects of the schema, or to a setting, that no migration does: it keeps changes out of
/// the history, hides rows, or has code of others run with the rights of those who write.
package struct SchemaDeviation: Sendable, Equatable {
  /// What is different, as a phrase.
  package let text: String
  /// The table, the function or the setting.
  package let object: String
  /// The statement that undoes it.
  package let statement: String

  /// One of which nothing is told, since the name of a role may be in it.
  package static let unnamed = SchemaDeviation(text: "", object: "", statement: "")

  /// The deviations of the connected database, from its catalogs, which every role may read.
  package static func all(over connection: Connection) throws(PostgresError) -> [SchemaDeviation] {
    var found: [SchemaDeviation] = []
    for query in [
      triggers, missingTriggers, rules, rowSecurity, policies, functions, sequences, settings,
    ] {
      found += try connection.rows(query, as: (String, String, String).self).map {
        SchemaDeviation(text: $0, object: $1, statement: $2)
      }
    }
    return found
  }

  /// The triggers that record the history and protect it. Those for associations are disabled unless associations are
  /// enabled.
  static let expectedTriggers = [
    "change_pending change_pending_10_number", "quake quake_10_refuse_code_change",
    "quake quake_10_refuse_first_stored_change", "quake quake_20_record_delete",
    "quake quake_20_record_insert", "quake quake_20_record_truncate",
    "quake quake_20_record_update",
  ]

  /// The policies of `quake.watcher`, the only table with row security: whether each allows all rows to be seen, and all
  /// to be written.
  static let expectedPolicies = [
    "watcher_made a", "watcher_moved w", "watcher_removed d", "watcher_seen r",
  ]

  private static let triggers: SQL = """
    select case when t.tgenabled in ('D', 'R')
                then format('trigger %s of table quake.%s %s', t.tgname, c.relname,
                            case t.tgenabled when 'D' then 'is disabled' else 'fires on replicas only' end)
                else format('trigger %s of table quake.%s runs the foreign function %s', t.tgname, c.relname,
                            t.tgfoid::regprocedure) end,
           'quake.' || c.relname,
           format(case when t.tgenabled in ('D', 'R') then 'alter table quake.%I enable trigger %I'
                       else 'drop trigger %2$I on quake.%1$I' end, c.relname, t.tgname)
      from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_proc f on f.oid = t.tgfoid
     where c.relnamespace = to_regnamespace('quake')
       and (t.tgenabled in ('D', 'R') and t.tgname !~ '^quake_30_note_'
            or not t.tgisinternal and f.pronamespace <> c.relnamespace)
     order by c.relname, t.tgname
    """

  private static let missingTriggers: SQL = """
    select format('table quake.%s has no trigger %s', split_part(n.name, ' ', 1), split_part(n.name, ' ', 2)),
           'quake.' || split_part(n.name, ' ', 1),
           format('-- create trigger %s, as in migrations/schema.sql', split_part(n.name, ' ', 2))
      from unnest(\(expectedTriggers)::text[]) n (name)
     where not exists (select from pg_trigger t join pg_class c on c.oid = t.tgrelid
                        where c.relnamespace = to_regnamespace('quake')
                          and c.relname || ' ' || t.tgname = n.name)
     order by n.name
    """

  private static let rules: SQL = """
    select format('%s quake.%s has the rule %s', case c.relkind when 'v' then 'view' else 'table' end, c.relname,
                  r.rulename),
           'quake.' || c.relname, format('drop rule %I on quake.%I', r.rulename, c.relname)
      from pg_rewrite r join pg_class c on c.oid = r.ev_class
     where c.relnamespace = to_regnamespace('quake') and r.rulename <> '_RETURN'
     order by c.relname, r.rulename
    """

  private static let rowSecurity: SQL = """
    select format('table quake.%s %s', c.relname,
                  case when c.relforcerowsecurity then 'has row security for its owner, too'
                       when c.relrowsecurity then 'has row security' else 'has no row security' end),
           'quake.' || c.relname,
           format('alter table quake.%I %s row level security', c.relname,
                  case when c.relforcerowsecurity then 'no force' when c.relrowsecurity then 'disable' else 'enable' end)
      from pg_class c
     where c.relnamespace = to_regnamespace('quake') and c.relkind in ('r', 'p')
       and (c.relforcerowsecurity or c.relrowsecurity <> (c.relname = 'watcher'))
     order by c.relname
    """

  private static let policies: SQL = """
    with present as (
      select c.relname, p.polname, p.polname::text || ' ' || p.polcmd::text as name,
             c.relname = 'watcher' and p.polpermissive and p.polroles = '{0}'
               -- Those for reading and removing, of which privileges decide, allow all rows.
               and coalesce(pg_get_expr(p.polqual, p.polrelid), '') =
                   case p.polcmd when 'a' then '' when 'w' then '((role IS NULL) OR (role = CURRENT_USER))' else 'true' end
               and coalesce(pg_get_expr(p.polwithcheck, p.polrelid), '') =
                   case when p.polcmd in ('a', 'w') then '(role = CURRENT_USER)' else '' end as is_expected
        from pg_policy p join pg_class c on c.oid = p.polrelid
       where c.relnamespace = to_regnamespace('quake')
    )
    select format('table quake.%s has the changed or foreign policy %s', relname, polname), 'quake.' || relname,
           format('drop policy %I on quake.%I', polname, relname)
      from present
     where not is_expected or name <> all (\(expectedPolicies)::text[])
     union all
    select format('table quake.watcher has no policy %s', split_part(n.name, ' ', 1)), 'quake.watcher',
           format('-- create policy %s, as in migrations/schema.sql', split_part(n.name, ' ', 1))
      from unnest(\(expectedPolicies)::text[]) n (name)
     where not exists (select from present p where p.name = n.name)
     order by 1
    """

  /// Functions that run with the owner's rights: their names are resolved in no schema of the caller's.
  private static let functions: SQL = """
    with definer as (
      select p.oid::regprocedure as signature,
             'quake.' || p.proname || '(' || oidvectortypes(p.proargtypes) || ')' as name,
             coalesce('search_path=pg_catalog, pg_temp' = any (p.proconfig), false) as is_pinned
        from pg_proc p
       where p.pronamespace = to_regnamespace('quake') and p.prosecdef
    )
    select case when name = any (\(definers)::text[])
                then format('function %s runs with its owner''s rights, but without its search_path', name)
                else format('function %s runs with its owner''s rights', name) end,
           name,
           format(case when name = any (\(definers)::text[])
                       then 'alter function %s set search_path = pg_catalog, pg_temp'
                       else 'alter function %s security invoker' end, signature)
      from definer
     where not is_pinned or name <> all (\(definers)::text[])
     order by name
    """

  /// With another increment, or numbers that each session keeps in advance, tokens are not in the order of the commits.
  private static let sequences: SQL = """
    select format('sequence quake.%s has an increment of %s and a cache of %s%s', c.relname, s.seqincrement, s.seqcache,
                  case when s.seqcycle then ', and begins again after its end' else '' end),
           'quake.' || c.relname, format('alter sequence quake.%I increment 1 cache 1 no cycle', c.relname)
      from pg_sequence s join pg_class c on c.oid = s.seqrelid
     where c.relnamespace = to_regnamespace('quake')
       and (s.seqincrement <> 1 or s.seqcache <> 1 or s.seqcycle)
     order by c.relname
    """

  /// The functions that run with their owner's rights, so that PUBLIC may not execute them.
  static let definers = PrivilegeTable.objects.filter {
    $0.object.kind == .function && $0.harmlessForPublic.isEmpty
  }.map(\.object.name)

  /// Settings of roles and of the database with which nothing is recorded, or as if somebody else had done it.
  private static let settings: SQL = """
    select format('%s sets %s', case when s.setrole = 0 then 'the database'
                                     else 'role ' || pg_get_userbyid(s.setrole) end, c.entry),
           split_part(c.entry, '=', 1),
           format('alter %s%s reset %s',
                  case when s.setrole = 0 then format('database %I', current_database())
                       else format('role %I', pg_get_userbyid(s.setrole)) end,
                  case when s.setrole <> 0 and s.setdatabase <> 0 then format(' in database %I', current_database())
                       else '' end, split_part(c.entry, '=', 1))
      from pg_db_role_setting s cross join unnest(s.setconfig) c (entry)
     where s.setdatabase in (0, (select d.oid from pg_database d where d.datname = current_database()))
       and (c.entry ~ '^quake\\.' or c.entry ~ '^session_replication_role=' and c.entry !~ '=origin$')
     order by 1
    """
}
