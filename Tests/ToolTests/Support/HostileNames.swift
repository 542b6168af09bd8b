import Foundation
import Postgres
import TestSupport

/// A database with a role that may create objects in `public` and in a schema named like the
/// superuser, and has created one for each name that the tools' statements use, in the second schema only in
/// `make soak`. Each use of such an object fails and is counted, even if its transaction is rolled back. A
/// publication has all tables, as tools for change data capture make it.
struct HostileNames {
  let database: TestDatabase
  /// The superuser as which the tools connect.
  let boss: String
  /// The number of planted objects, by kind.
  let planted: [String: Int]

  private static let kinds = [
    "function", "better function", "aggregate", "operator", "better operator", "type", "cast",
    "relation",
  ]

  /// Planting takes seconds: one database is planted, and each test gets a copy of it.
  private struct Original: Sendable {
    let database: TestDatabase
    let boss: String
    let planted: [String: Int]
  }

  private static let original = Result { try plantOriginal(on: .shared) }
  private static let otherOriginal = Result { try plantOriginal(on: TestServer.other ?? .shared) }

  /// - Parameter isCareless: Whether the database's search path has these schemas before
  ///   PostgreSQL's own; otherwise it is the default, which finds only objects whose types match
  ///   better.
  init(isCareless: Bool, on version: ServerVersion = .main) throws {
    let original = try (version == .main ? Self.original : Self.otherOriginal).get()
    database = try TestDatabase(copying: original.database)
    boss = original.boss
    planted = original.planted
    guard isCareless else { return }
    try database.connect().run(
      "alter database \(database.name) set search_path = \"$user\", public, pg_catalog")
    for (name, value) in Self.settings {
      try database.connect().run("alter database \(database.name) set \(name) = '\(value)'")
    }
  }

  /// Settings that change what literals mean and what results look like, and which rows are seen.
  private static let settings = [
    ("standard_conforming_strings", "off"), ("DateStyle", "German"),
    ("TimeZone", "America/New_York"),
    ("IntervalStyle", "sql_standard"), ("extra_float_digits", "-15"), ("bytea_output", "escape"),
    ("array_nulls", "off"), ("transform_null_equals", "on"), ("row_security", "off"),
    ("default_transaction_isolation", "serializable"), ("quote_all_identifiers", "on"),
  ]

  private static func plantOriginal(on server: TestServer) throws -> Original {
    let database = try TestDatabase.empty(on: server)
    let boss = "boss_\(database.name)"
    let attacker = "attacker_\(database.name)"
    let owner = try database.connect()
    try owner.run(
      "create role \(boss) login superuser", "create role \(attacker) login",
      "create schema \(boss)", "grant create, usage on schema public, \(boss) to \(attacker)",
      "grant usage on schema public, \(boss) to public",
      "create schema trap", "grant usage on schema trap to public",
      "create sequence trap.fired",
      // A sequence is not rolled back with the transaction.
      """
      create function trap.fire(name text) returns boolean
        language plpgsql security definer set search_path = pg_catalog as
      $$ begin
        perform nextval('trap.fired');
        raise exception 'planted: %', name;
      end $$
      """,
      "create table trap.name (name text primary key)",
      "create table trap.planted (kind text, name text)",
      "grant select on trap.name to public", "grant insert on trap.planted to public",
      "create publication everything for all tables")
    try owner.execute(
      "insert into trap.name select distinct u.name from unnest($1::text[]) u (name)",
      [.array(try Self.identifiers())])
    let planter = try Connection(
      ConnectionSettings(
        database.conninfo + " user=\(attacker)", applicationName: "attacker"))
    for schema in Tools.isSoak ? ["public", boss] : ["public"] {
      try planter.executeScript(SQL(trusted: Self.plant(in: schema)))
    }
    var planted: [String: Int] = [:]
    for kind in Self.kinds {
      planted[kind] = try database.count("trap.planted where kind = '\(kind)'")
    }
    return Original(database: database, boss: boss, planted: planted)
  }

  /// The connection string of the superuser.
  var conninfo: String { "\(database.conninfo) user=\(boss)" }

  /// How often a planted object has run.
  func timesFired() throws -> Int {
    try database.value("select is_called from trap.fired") == "f"
      ? 0 : Int(try database.value("select last_value from trap.fired")) ?? -1
  }

  /// Whether a statement of the superuser runs a planted object. Resets the count.
  func fires(at statement: String) throws -> Bool {
    let before = try timesFired()
    let psql = try ToolProcess(
      Tools.psql, ["-X", "-q", "-d", conninfo, "-c", statement], environment: Tools.environment)
    let outcome = try psql.exit()
    let after = try timesFired()
    try database.connect().run("select setval('trap.fired', 1, false)")
    return after > before && outcome.errors.contains("planted: ")
  }

  /// Every word of the sources that could be a name in a statement.
  private static func identifiers() throws -> [String] {
    var words: Set<String> = []
    for folder in ["Sources", "migrations"] {
      let root = Tools.package + "/" + folder
      for path in try FileManager.default.subpathsOfDirectory(atPath: root)
      where path.hasSuffix(".swift") || path.hasSuffix(".sql") {
        let text = try contents(of: root + "/" + path)
        for word in text.split(whereSeparator: {
          !($0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_"))
        })
        where word.first?.isNumber == false && word == word.lowercased() {
          words.insert(String(word))
        }
      }
    }
    return words.sorted()
  }

  /// Creates the objects. The server refuses some, such as functions of internal types.
  private static func plant(in schema: String) -> String {
    """
    do $plant$
    declare
      f record;
      o record;
      l text;
      r text;
      n integer := 0;
      result text;
      -- A body that fires, for a function of any result.
      body constant text := ' language plpgsql as $b$ begin perform trap.fire(%L); return null; end $b$';
      op text;
    begin
      -- Functions and aggregates with the very signature of PostgreSQL's.
      for f in
        select p.oid, p.proname, p.prokind,
               coalesce((select string_agg(format_type(t, null), ', ' order by place)
                           from unnest(p.proargtypes) with ordinality a (t, place)), '') as arguments,
               case when p.proretset then 'setof ' else '' end || format_type(p.prorettype, null) as result
          from pg_proc p
         where p.pronamespace = 'pg_catalog'::regnamespace and p.prokind in ('f', 'a')
           and p.proname in (select name from trap.name)
      loop
        begin
          if f.prokind = 'f' then
            execute format('create function %I.%I(%s) returns %s' || body,
              '\(schema)', f.proname, f.arguments, f.result, 'function ' || f.proname);
            insert into trap.planted values ('function', f.proname);
          else
            execute format('create or replace function %I.trap_step(%s) returns bigint' || body,
              '\(schema)', concat_ws(', ', 'bigint', nullif(f.arguments, '')),
              'aggregate ' || f.proname);
            execute format('create aggregate %I.%I(%s) (sfunc = %I.trap_step, stype = bigint, initcond = ''0'')',
              '\(schema)', f.proname, coalesce(nullif(f.arguments, ''), '*'), '\(schema)');
            insert into trap.planted values ('aggregate', f.proname);
          end if;
        exception when others then null;
        end;
      end loop;
      -- Functions that fit better than PostgreSQL's where that takes other types.
      for f in
        select distinct p.proname, p.pronargs
          from pg_proc p
         where p.pronamespace = 'pg_catalog'::regnamespace and p.pronargs in (1, 2)
           and p.proname in (select name from trap.name)
      loop
        foreach l in array array['text', 'bigint', 'integer', 'double precision', 'timestamptz', 'text[]'] loop
          foreach r in array
            case f.pronargs when 1 then array['']
                 else array['text', 'bigint', 'integer', 'double precision', 'timestamptz'] end
          loop
            begin
              execute format('create function %I.%I(%s) returns text' || body,
                '\(schema)', f.proname, concat_ws(', ', l, nullif(r, '')), 'function ' || f.proname);
              insert into trap.planted values ('better function', f.proname);
            exception when others then null;
            end;
          end loop;
        end loop;
      end loop;
      -- Operators with the very signature of PostgreSQL's.
      for o in
        select p.oid, p.oprname, format_type(p.oprleft, null) as l, format_type(p.oprright, null) as r,
               format_type(p.oprresult, null) as result
          from pg_operator p
         where p.oprnamespace = 'pg_catalog'::regnamespace and p.oprkind = 'b'
           and p.oprname in ('=', '<>', '<', '>', '<=', '>=', '||', '+', '-', '*', '/', '->', '->>', '~',
                             '~~', '!~~', '@>', '<@', '&&', '<<', '>>')
      loop
        n := n + 1;
        begin
          execute format('create function %I.trap_op_%s(%s, %s) returns %s' || body,
            '\(schema)', n, o.l, o.r, o.result, 'operator ' || o.oprname);
          execute format('create operator %I.%s (leftarg = %s, rightarg = %s, function = %I.trap_op_%s)',
            '\(schema)', o.oprname, o.l, o.r, '\(schema)', n);
          insert into trap.planted values ('operator', o.oprname);
        exception when others then null;
        end;
      end loop;
      -- Operators for pairs of types that PostgreSQL has none for, but finds one by a cast.
      foreach l in array array['text', 'varchar', 'name', 'bigint', 'integer', 'smallint',
                               'double precision', 'numeric', 'timestamptz', 'timestamp', 'date',
                               'interval', 'boolean', 'jsonb', 'oid', '"char"', 'inet', 'xid', 'xid8',
                               'text[]', 'bigint[]'] loop
        foreach r in array array['text', 'varchar', 'name', 'bigint', 'integer', 'smallint',
                                 'double precision', 'numeric', 'timestamptz', 'interval', 'boolean',
                                 'oid', '"char"', 'xid', 'text[]'] loop
          foreach op in array array['=', '<>', '<', '>', '||', '+', '-', '->>'] loop
            n := n + 1;
            result := case when op in ('||', '->>') then 'text' when op in ('+', '-') then l
                           else 'boolean' end;
            begin
              execute format('create function %I.trap_op_%s(%s, %s) returns %s' || body,
                '\(schema)', n, l, r, result, 'operator ' || op || ' of ' || l || ' and ' || r);
              execute format('create operator %I.%s (leftarg = %s, rightarg = %s, function = %I.trap_op_%s)',
                '\(schema)', op, l, r, '\(schema)', n);
              insert into trap.planted values ('better operator', op);
            exception when others then null;
            end;
          end loop;
        end loop;
      end loop;
      -- Types, as domains whose check fires.
      for f in
        select t.typname from pg_type t
         where t.typnamespace = 'pg_catalog'::regnamespace and t.typtype = 'b'
           and t.typname in (select name from trap.name)
      loop
        begin
          execute format('create domain %I.%I as pg_catalog.%I check (trap.fire(%L))',
            '\(schema)', f.typname, f.typname, 'type ' || f.typname);
          insert into trap.planted values ('type', f.typname);
        exception when others then null;
        end;
      end loop;
      -- Casts, which only the owner of one of the types may make.
      execute 'create type \(schema).trap_type as (a integer)';
      foreach l in array array['text', 'bigint', 'integer', 'double precision', 'timestamptz', 'boolean'] loop
        begin
          execute format('create function %I.trap_cast(%s) returns %I.trap_type' || body,
            '\(schema)', l, '\(schema)', 'cast');
          execute format('create cast (%s as %I.trap_type) with function %I.trap_cast(%s) as implicit',
            l, '\(schema)', '\(schema)', l);
          insert into trap.planted values ('cast', l);
        exception when others then null;
        end;
      end loop;
      -- Relations: PostgreSQL's with their columns, and our own.
      for f in
        select c.relname from pg_class c
         where c.relnamespace = 'pg_catalog'::regnamespace and c.relkind in ('r', 'v')
           and c.relname in (select name from trap.name)
      loop
        begin
          execute format('create view %I.%I as select * from pg_catalog.%I where trap.fire(%L)',
            '\(schema)', f.relname, f.relname, 'view ' || f.relname);
          insert into trap.planted values ('relation', f.relname);
        exception when others then null;
        end;
      end loop;
      foreach l in array array['quake', 'quake_version', 'change_transaction', 'import', 'feed',
                               'watcher', 'migration', 'quake_staging', 'refresh_request'] loop
        begin
          execute format('create view %I.%I as select trap.fire(%L) as code', '\(schema)', l, 'view ' || l);
          insert into trap.planted values ('relation', l);
        exception when others then null;
        end;
      end loop;
    end $plant$
    """
  }
}
