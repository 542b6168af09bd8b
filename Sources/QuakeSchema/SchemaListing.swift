internal import CMigrations
package import Postgres

/// The objects of the schema `quake`, each with the properties that decide what it does, in words that all versions of
/// PostgreSQL, and a database that was restored, have in common.
///
/// `migrations/listing.txt` is the listing of a migrated database; a test writes it. Comments, owners, privileges and
/// what an administrator tunes (storage parameters, statistics targets, tablespaces) are no part of it.
package struct SchemaListing: Sendable {
  /// An object, or a part of one.
  struct Object: Sendable {
    /// Kind and name, such as `column url of table quake.feed`.
    let name: String
    /// Such as `type: text`.
    let properties: [String]
    /// The statement that removes it; empty for an object of the program's own listing.
    var removal = ""
    /// Whether it does no harm beside Quake's objects.
    var isHarmless = false
  }

  /// In the order of their names.
  let objects: [Object]

  /// The listing of the connected database, whose session has the settings of `ConnectionSettings`. Reading it locks
  /// the views and the tables below them like a query.
  package init(of connection: Connection) throws(PostgresError) {
    objects = try connection.rows(Self.query, as: (String, [String], String, Bool).self).map {
      Object(name: $0, properties: $1, removal: $2, isHarmless: $3)
    }
  }

  package init(text: String) {
    objects = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
      let parts = line.split(separator: "\t").map(String.init)
      return Object(name: parts.first ?? "", properties: Array(parts.dropFirst()))
    }
  }

  /// A line for each object, with a tab before each property.
  package var text: String {
    objects.map { ([$0.name] + $0.properties).joined(separator: "\t") + "\n" }.joined()
  }

  /// The listing of a database that the program's migrations made.
  package static let expected = SchemaListing(
    text: String(
      decoding: UnsafeBufferPointer(
        start: quake_schema_listing.bytes, count: quake_schema_listing.size), as: UTF8.self))

  // Constraints, indexes, triggers, policies and views are printed in the "pretty" form, since the other one has
  // parentheses that depend on whether the database was restored. Of a view, version 16 and later leave the alias of
  // its only table out, so that its text is compared without aliases of one letter.
  private static let query: SQL = #"""
    with trusted as (
      select n.nspowner as oid from pg_namespace n where n.nspname = 'quake'
      union select r.oid from pg_roles r where r.rolsuper
    ), foreign_code as (
      -- Indexes and columns that run code of others, with the rights of those who write: neither of PostgreSQL, whose
      -- objects have lower numbers, nor of an extension.
      select d.classid, d.objid, d.objsubid
        from pg_depend d
       where d.classid in ('pg_class'::regclass, 'pg_attrdef'::regclass) and d.objid >= 16384 and d.refobjid >= 16384
         and d.refclassid in ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_opclass'::regclass, 'pg_type'::regclass)
         and not exists (select from pg_depend e
                          where e.classid = d.refclassid and e.objid = d.refobjid and e.deptype = 'e')
         and not exists (select from pg_proc f
                          where d.refclassid = 'pg_proc'::regclass and f.oid = d.refobjid
                            and f.pronamespace = to_regnamespace('quake'))
    ), relation as (
      select c.*,
             case c.relkind when 'S' then 'sequence' when 'v' then 'view' when 'm' then 'materialized view'
                            when 'f' then 'foreign table' when 'c' then 'type' else 'table' end
               || format(' quake.%I', c.relname) as name
        from pg_class c
       where c.relnamespace = to_regnamespace('quake') and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S', 'c')
    ), object (name, properties, removal, is_harmless) as (
      select r.name,
             array[case when r.relkind in ('r', 'p')
                        then 'persistence: ' || case r.relpersistence when 'p' then 'logged' else 'unlogged' end end,
                   case when r.relkind in ('r', 'p')
                        then 'row security: ' || case when r.relrowsecurity then 'on' else 'off' end end,
                   case when r.relkind in ('r', 'p')
                        then 'row security of the owner: ' || case when r.relforcerowsecurity then 'on' else 'off' end end,
                   case when r.relkind in ('v', 'm') then 'options: ' || array_to_string(r.reloptions, ', ') end,
                   case when r.relkind in ('v', 'm')
                        then 'text: ' || left(encode(sha256(convert_to(regexp_replace(regexp_replace(
                                                pg_get_viewdef(r.oid, true), '\s+', ' ', 'g'),
                               '([ (])[a-z](_[0-9]+)?\.(?=["a-z0-9_]+[^"a-z0-9_.(])', '\1', 'g'), 'UTF8')), 'hex'), 32) end],
             format('alter %s set schema public', r.name), r.relowner in (select t.oid from trusted t)
        from relation r where r.relkind not in ('c', 'S')
      union all
      select format('sequence quake.%I', c.relname)
               || coalesce((select ' of table ' || d.refobjid::regclass from pg_depend d
                             where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.objsubid = 0
                               and d.refclassid = 'pg_class'::regclass and d.deptype in ('a', 'i')), ''),
             array['persistence: ' || case c.relpersistence when 'p' then 'logged' else 'unlogged' end,
                   'type: ' || format_type(s.seqtypid, null), 'increment: ' || s.seqincrement, 'cache: ' || s.seqcache,
                   'minimum: ' || s.seqmin, 'maximum: ' || s.seqmax, 'cycle: ' || case when s.seqcycle then 'yes' else 'no' end],
             format('alter sequence quake.%I set schema public', c.relname), c.relowner in (select t.oid from trusted t)
        from relation c join pg_sequence s on s.seqrelid = c.oid
      union all
      select format('column %I of %s', a.attname, r.name),
             array['type: ' || format_type(a.atttypid, a.atttypmod),
                   case when a.attcollation <> t.typcollation then 'collation: ' || a.attcollation::regcollation end,
                   'null values: ' || case when a.attnotnull then 'refused' else 'allowed' end,
                   'identity: ' || case a.attidentity when 'a' then 'always' when 'd' then 'by default' end,
                   case when a.attgenerated = '' then 'default: ' else 'generated: ' end
                     || pg_get_expr(d.adbin, d.adrelid, true)],
             format('alter %s drop %s %I', r.name, case r.relkind when 'c' then 'attribute' else 'column' end, a.attname),
             -- docs/schema.md allows them.
             r.name = 'table quake.quake' and (not a.attnotnull or a.atthasdef)
               and not exists (select from foreign_code f
                                where f.classid = 'pg_attrdef'::regclass and f.objid = d.oid
                                   or f.classid = 'pg_class'::regclass and f.objid = r.oid and f.objsubid = a.attnum)
        from relation r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
        join pg_type t on t.oid = a.atttypid
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
       where r.relkind not in ('v', 'm', 'S')
      union all
      -- Version 18 has constraints for NOT NULL, which the columns tell.
      select format('constraint %I of table %s', o.conname, o.conrelid::regclass)
               || case when o.confrelid <> 0 then ' to table ' || o.confrelid::regclass else '' end,
             array['definition: ' || pg_get_constraintdef(o.oid, true),
                   'state: ' || case when exists (select from pg_trigger t
                                                   where t.tgconstraint = o.oid and t.tgenabled not in ('O', 'A'))
                                     then 'disabled' else 'enabled' end],
             format('alter table %s drop constraint %I', o.conrelid::regclass, o.conname), false
        from pg_constraint o
       where o.contype in ('c', 'f', 'p', 'u', 'x') and o.conrelid <> 0
         and (o.conrelid in (select r.oid from relation r) or o.confrelid in (select r.oid from relation r))
      union all
      select format('index quake.%I of %s', c.relname, r.name),
             array['definition: ' || regexp_replace(pg_get_indexdef(i.indexrelid, 0, true), ' WITH \([^)]*\)', ''),
                   'state: ' || case when i.indisvalid and i.indisready then 'valid' else 'invalid' end],
             format('drop index quake.%I', c.relname),
             not i.indisunique and not exists (select from foreign_code f
                                                where f.classid = 'pg_class'::regclass and f.objid = i.indexrelid)
        from relation r join pg_index i on i.indrelid = r.oid join pg_class c on c.oid = i.indexrelid
       where not exists (select from pg_constraint o where o.conindid = i.indexrelid and o.contype in ('p', 'u', 'x'))
      union all
      select format('trigger %I of %s', t.tgname, r.name),
             array['definition: ' || pg_get_triggerdef(t.oid, true),
                   -- Those for associations are enabled while associations are, and those for regions at regions.
                   case when t.tgname !~ '^(quake_30_note|region_[0-9]+)_'
                          or t.tgname ~ '^quake_' and t.tgenabled = 'R'
                        then 'state: ' || case t.tgenabled when 'D' then 'disabled' when 'R' then 'enabled on replicas only'
                                                           else 'enabled' end end],
             format('drop trigger %I on quake.%I', t.tgname, r.relname), false
        from relation r join pg_trigger t on t.tgrelid = r.oid and not t.tgisinternal
      union all
      select format('rule %I of %s', w.rulename, r.name), '{}',
             format('drop rule %I on quake.%I', w.rulename, r.relname), false
        from relation r join pg_rewrite w on w.ev_class = r.oid and w.rulename <> '_RETURN'
      union all
      select format('policy %I of %s', p.polname, r.name),
             array[format('definition: %s, for %s of %s, using (%s), with check (%s)',
                          case when p.polpermissive then 'permissive' else 'restrictive' end,
                          case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update'
                                        when 'd' then 'delete' else 'all' end,
                          (select string_agg(case u.role when 0 then 'public' else u.role::regrole::text end, ', ')
                             from unnest(p.polroles) u (role)),
                          pg_get_expr(p.polqual, p.polrelid, true), pg_get_expr(p.polwithcheck, p.polrelid, true))],
             format('drop policy %I on quake.%I', p.polname, r.relname), false
        from relation r join pg_policy p on p.polrelid = r.oid
      union all
      select format('child table %s of table %s', i.inhrelid::regclass, i.inhparent::regclass), '{}',
             format('alter table %s no inherit %s', i.inhrelid::regclass, i.inhparent::regclass), false
        from pg_inherits i join pg_class c on c.oid = i.inhparent and c.relkind in ('r', 'p', 'f')
       where i.inhrelid in (select r.oid from relation r) or i.inhparent in (select r.oid from relation r)
      union all
      select format('%s quake.%I(%s)', k.word, p.proname, oidvectortypes(p.proargtypes)),
             array['arguments: ' || pg_get_function_arguments(p.oid), 'result: ' || pg_get_function_result(p.oid),
                   'language: ' || l.lanname,
                   'volatility: ' || case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
                   'null arguments: ' || case when p.proisstrict then 'not called' else 'called' end,
                   'parallel: ' || case p.proparallel when 's' then 'safe' when 'r' then 'restricted' else 'unsafe' end,
                   'rights of: ' || case when p.prosecdef then 'its owner' else 'its caller' end,
                   'settings: ' || (select string_agg(c.entry, '; ' order by c.entry collate "C")
                                      from unnest(p.proconfig) c (entry)),
                   'text: ' || left(encode(sha256(convert_to(coalesce(pg_get_function_sqlbody(p.oid), p.prosrc), 'UTF8')),
                                           'hex'), 32)],
             format('drop %s quake.%I(%s)', k.word, p.proname, oidvectortypes(p.proargtypes)),
             p.proowner in (select t.oid from trusted t)
        from pg_proc p join pg_language l on l.oid = p.prolang
       cross join lateral (select case p.prokind when 'p' then 'procedure' when 'a' then 'aggregate'
                                                 else 'function' end) k (word)
       where p.pronamespace = to_regnamespace('quake')
      union all
      select i.type || ' ' || i.identity, '{}', format('drop %s %s', replace(i.type, ' object', ''), i.identity),
             d.classid = 'pg_statistic_ext'::regclass
               or d.classid = 'pg_type'::regclass
                  and (select t.typowner from pg_type t where t.oid = d.objid) in (select t.oid from trusted t)
        from pg_depend d cross join lateral pg_identify_object(d.classid, d.objid, 0) i
       where d.refclassid = 'pg_namespace'::regclass and d.refobjid = to_regnamespace('quake')
         and d.classid in ('pg_type'::regclass, 'pg_operator'::regclass, 'pg_opclass'::regclass, 'pg_opfamily'::regclass,
                           'pg_collation'::regclass, 'pg_conversion'::regclass, 'pg_ts_config'::regclass,
                           'pg_ts_dict'::regclass, 'pg_ts_parser'::regclass, 'pg_ts_template'::regclass,
                           'pg_statistic_ext'::regclass, 'pg_extension'::regclass)
    )
    select o.name,
           array(select translate(p.text, E'\n\t', '  ') from unnest(array_remove(o.properties, null)) p (text)) as properties,
           o.removal, o.is_harmless
      from object o order by o.name collate "C"
    """#
}

extension SchemaListing {
  /// The differences of these objects from `expected`: what was changed, what was added, what is missing. The objects
  /// of `optional` need not be there.
  func deviations(
    from expected: SchemaListing, allowing optional: SchemaListing
  ) -> [SchemaDeviation] {
    let known = Dictionary(
      (expected.objects + optional.objects).map { ($0.name, $0) },
      uniquingKeysWith: { first, _ in first })
    let present = Set(objects.map(\.name))
    let functions = Set(expected.objects.compactMap(\.calledName))
    var found: [SchemaDeviation] = []
    for object in objects {
      if let original = known[object.name] {
        if object.properties != original.properties { found += object.changes(from: original) }
      } else if let whole = object.whole, known[whole] == nil, present.contains(whole) {
        continue
      } else {
        let isOverload = object.calledName.map(functions.contains) ?? false
        found.append(
          SchemaDeviation(
            text: "\(object.name) is not Quake's"
              + (isOverload ? ", and may be called instead of Quake's function of this name" : ""),
            object: object.target, statement: object.removal,
            isNote: object.isHarmless && !isOverload))
      }
    }
    for original in expected.objects where !present.contains(original.name) {
      if let whole = original.whole, !present.contains(whole) { continue }
      found.append(
        SchemaDeviation(
          text: "\(original.name) is missing", object: original.target,
          statement: "-- create \(original.name), as in migrations/schema.sql"))
    }
    return found
  }
}

extension SchemaListing.Object {
  /// `function`, `column`, ...
  private var kind: Substring { name.prefix { $0 != " " } }

  /// The object that this is a part of: `table quake.feed` of `column url of table quake.feed`.
  fileprivate var whole: String? {
    name.firstRange(of: " of ").map { String(name[$0.upperBound...]) }
  }

  /// The name with its schema: `quake.feed` of `column url of table quake.feed`.
  fileprivate var target: String {
    guard let start = name.firstRange(of: " quake.") else { return name }
    let rest = name[name.index(after: start.lowerBound)...]
    let end = rest.firstRange(of: " of ") ?? rest.firstRange(of: " to ")
    return String(rest[..<(end?.lowerBound ?? rest.endIndex)])
  }

  /// The name of a function without its arguments; nil for other objects.
  fileprivate var calledName: Substring? {
    let kinds: [Substring] = ["function", "procedure", "aggregate"]
    return kinds.contains(kind) ? name.dropFirst(kind.count).prefix { $0 != "(" } : nil
  }

  /// The properties in which it is different.
  fileprivate func changes(from original: Self) -> [SchemaDeviation] {
    let before = original.values
    let now = values
    let names = original.properties.map(Self.split) + properties.map(Self.split)
    var seen: Set<Substring> = []
    return names.map(\.name).filter { seen.insert($0).inserted && now[$0] != before[$0] }.map {
      property in
      SchemaDeviation(
        text:
          "\(name) has \(property) \(now[property] ?? "none") instead of \(before[property] ?? "none")",
        object: target, statement: undo(property, to: before[property]))
    }
  }

  private var values: [Substring: Substring] {
    Dictionary(properties.map(Self.split), uniquingKeysWith: { first, _ in first })
  }

  private static func split(_ property: String) -> (name: Substring, value: Substring) {
    guard let colon = property.firstRange(of: ": ") else { return (property[...], "") }
    return (property[..<colon.lowerBound], property[colon.upperBound...])
  }

  /// The statement that gives a property its value again; a comment where that takes more than one clause.
  private func undo(_ property: Substring, to value: Substring?) -> String {
    let part = name.dropFirst(kind.count + 1).prefix(
      upTo: name.firstRange(of: " of ")?.lowerBound ?? name.endIndex)
    let isOn = value == "on"
    let clause: String? =
      switch (kind, property, value) {
      case (_, "persistence", let value?): "set \(value)"
      case (_, "row security", _): "\(isOn ? "enable" : "disable") row level security"
      case (_, "row security of the owner", _): "\(isOn ? "force" : "no force") row level security"
      case ("trigger", "state", "enabled"?): "enable trigger \(part)"
      case ("column", "default", let value?): "alter column \(part) set default \(value)"
      case ("column", "default", nil): "alter column \(part) drop default"
      case ("column", "null values", let value):
        "alter column \(part) \(value == "refused" ? "set" : "drop") not null"
      case ("sequence", "increment", let value?), ("sequence", "cache", let value?):
        "\(property) \(value)"
      case ("sequence", "minimum", let value?): "minvalue \(value)"
      case ("sequence", "maximum", let value?): "maxvalue \(value)"
      case ("sequence", "cycle", "no"?): "no cycle"
      case ("function", "rights of", let value):
        "security \(value == "its owner" ? "definer" : "invoker")"
      case ("function", "settings", let value):
        "reset all"
          + (value ?? "").split(separator: ";").map { entry in
            " set \(entry.trimmingPrefix(" ").replacing("=", with: " = "))"
          }.joined()
      default: nil
      }
    guard let clause else { return "-- make \(name) anew, as in migrations/schema.sql" }
    let altered =
      switch kind {
      case "function": name
      case "sequence": "sequence \(target)"
      default: whole ?? name
      }
    return "alter \(altered) \(clause)"
  }
}
