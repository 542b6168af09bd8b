import Basics
import EmbeddedPostgres
import Glibc
import Postgres
import QuakeModel
import QuakeSchema
import TestSupport
import Testing

/// `migrations/schema.sql` is the schema as it is after all migrations, so that a change to it can be
/// read in one place and cannot come about by accident.
///
/// `migrations/listing.txt` lists its objects as `SchemaListing` does, for programs that look for changes.
///
/// To write both anew after adding a migration: `QUAKE_WRITE_SCHEMA=1 swift test --filter SchemaDump`
/// (`make schema`), then look at what `git diff` says.
@Suite final class SchemaDumpTests: DatabaseSuite {
  private let isWriting = getenv("QUAKE_WRITE_SCHEMA") != nil

  private func dump(_ options: [String] = ["--schema-only"]) throws -> String {
    let program = try TestServer.shared.server.binDirectory + "/pg_dump"
    let outcome = try ChildProcess(
      program,
      options + ["--no-owner", "--no-privileges", "-n", "quake", "-d", database.conninfo]
    ).run()
    #expect(outcome.succeeded, "\(String(decoding: outcome.errors, as: UTF8.self))")
    return String(decoding: outcome.output, as: UTF8.self)
  }

  /// Without comments, settings and blank lines, which differ between versions of pg_dump. A
  /// function's body is kept whole: from `AS $$` to `$$;`.
  private func normalised(_ dump: String) -> String {
    var lines: [Substring] = []
    var isInBody = false
    for line in dump.split(separator: "\n", omittingEmptySubsequences: false) {
      if !isInBody,
        line.isEmpty || line.hasPrefix("--") || line.hasPrefix("SET ") || line.hasPrefix("\\")
          || line.hasPrefix("SELECT pg_catalog.set_config(")
      {
        continue
      }
      lines.append(line)
      if line.count(where: { $0 == "$" }) % 4 == 2, line.contains("$$") { isInBody.toggle() }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  @Test func theSchemaIsThatOfTheDump() throws {
    let actual = normalised(try dump())
    if isWriting {
      try Folder.write(
        """
        -- The schema after all migrations, as pg_dump prints it, without comments and settings.
        -- Not a migration: a test compares the database with it, and writes it anew when told to:
        -- QUAKE_WRITE_SCHEMA=1 swift test --filter SchemaDump

        """ + actual, to: "schema.sql")
    }
    let expected = normalised(try Folder.read("schema.sql"))
    #expect(expected.contains("CREATE TABLE quake.quake ("))
    guard actual != expected else { return }
    let expectedLines = expected.split(separator: "\n")
    for (number, line) in actual.split(separator: "\n").enumerated()
    where number >= expectedLines.count || expectedLines[number] != line {
      Issue.record(
        """
        the schema is not that of migrations/schema.sql; the first difference:
        expected: \(number < expectedLines.count ? expectedLines[number] : "(end)")
        found:    \(line)
        If it is meant, run "make schema".
        """)
      return
    }
    Issue.record("the schema lacks the end of migrations/schema.sql")
  }

  @Test(arguments: ServerVersion.present)
  func theListingIsThatOfTheSchema(_ version: ServerVersion) throws {
    let server = try TestDatabase(on: version.server)
    let actual = try SchemaListing(of: server.connect()).text
    if isWriting {
      guard version == .main else { return }
      return try Folder.write(
        """
        # The objects of the schema after all migrations, as SchemaListing.swift lists them. A test compares
        # databases with it, and writes it anew when told to: QUAKE_WRITE_SCHEMA=1 swift test --filter SchemaDump

        """ + actual, to: "listing.txt")
    }
    let file = SchemaListing(
      text: try Folder.read("listing.txt")
    ).text
    #expect(file.contains("column url of table quake.feed\ttype: text\t"))
    #expect(
      SchemaListing.expected.text == file,
      "the program was built with another migrations/listing.txt")
    let (lines, expected) = (Set(actual.split(separator: "\n")), Set(file.split(separator: "\n")))
    #expect(
      lines == expected,
      """
      the schema is not that of migrations/listing.txt; if it is meant, run "make schema"
      expected: \(expected.subtracting(lines).min() ?? "nothing more")
      found:    \(lines.subtracting(expected).min() ?? "nothing more")
      """)
  }

  /// PostgreSQL prints some expressions with other parentheses when they were printed and read once.
  @Test(arguments: ServerVersion.present)
  func aRestoredSchemaHasNoDeviation(_ version: ServerVersion) throws {
    // The program of the tests still has the listing that is being replaced.
    guard !isWriting else { return }
    let restored = try TestDatabase.empty(on: version.server)
    try restored.psql(try dump([]))
    #expect(try SchemaDeviation.all(over: restored.connect()) == [])
  }

  @Test(arguments: [("quake", 0), ("quake_version", 4)])
  func theSchemaHasTheColumnsOfTheProgram(table: String, before: Int) throws {
    let actual = try connection.table(
      """
      select attname, format_type(atttypid, atttypmod) from pg_attribute
       where attrelid = ('quake.' || $1)::regclass and attnum > 0 and not attisdropped
       order by attnum
      """, [.text(table)])
    #expect(
      actual.dropFirst(before)
        == EventColumn.allCases.map { column in
          switch column.kind {
          case .text: "\(column.name)|text"
          case .float8: "\(column.name)|double precision"
          case .int4: "\(column.name)|integer"
          case .int2: "\(column.name)|smallint"
          case .timestamp: "\(column.name)|timestamp with time zone"
          case .bool: "\(column.name)|boolean"
          }
        }[...])
  }

  /// The functions and views write the columns out. A new column has to be in all of them.
  @Test func functionsAndViewsRepeatTheProgramsColumnsWithoutAGapAndInItsOrder() throws {
    let schema = try Folder.read("schema.sql")
    let all = EventColumn.allCases.map(\.name)
    var whole = 0
    for list in schema.matches(of: /(?:\w+\.)?\w+(?:,\s*(?:\w+\.)?\w+){20,}/) {
      let names = list.output.split(separator: ",").map { name in
        String(name.drop { $0.isWhitespace }.split(separator: ".").last ?? "")
      }
      let columns = names.filter(all.contains)
      guard columns.count > 20, let first = all.firstIndex(of: columns[0]) else { continue }
      #expect(columns == Array(all[first...].prefix(columns.count)), "\(list.output)")
      if first == 0 {
        #expect(columns.count == all.count, "\(list.output)")
        whole += 1
      }
    }
    #expect(whole >= 10)
    let compared = schema.matches(
      of: /case when \w+\.(\w+) is distinct from \w+\.(\w+) then '(\w+)' end/)
    #expect(compared.allSatisfy { $0.1 == $0.2 && $0.2 == $0.3 })
    let names = compared.map { String($0.3) }
    #expect(names.count > all.count)
    for start in stride(from: 0, to: names.count, by: all.count - 1) {
      #expect(Array(names[start...].prefix(all.count - 1)) == Array(all.dropFirst()))
    }
  }

  /// Exempt are indexes, constraints and triggers, whose names say it, and the sequences of identity
  /// columns, which are the columns'.
  @Test func everythingAUserMayMeetHasAComment() throws {
    let missing = try connection.table(
      """
      select 'schema quake' where obj_description('quake'::regnamespace, 'pg_namespace') is null
      union all
      select c.oid::regclass::text from pg_class c
       where c.relnamespace = 'quake'::regnamespace and c.relkind in ('r', 'v', 'm', 'p', 'S')
         and obj_description(c.oid, 'pg_class') is null
         and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'i')
      union all
      select c.oid::regclass || '.' || a.attname from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       where c.relnamespace = 'quake'::regnamespace and c.relkind in ('r', 'v', 'm', 'p')
         and col_description(c.oid, a.attnum) is null
      union all
      select p.oid::regprocedure::text from pg_proc p
       where p.pronamespace = 'quake'::regnamespace
         and obj_description(p.oid, 'pg_proc') is null
      """)
    #expect(missing == [])
    // So that the queries above cannot pass by finding nothing at all.
    #expect(
      try connection.ask(
        """
        select count(*) > 100 from pg_description d join pg_class c on c.oid = d.objoid
         where d.classoid = 'pg_class'::regclass and c.relnamespace = 'quake'::regnamespace
        """) == "t")
  }

  /// A body in the syntax of the SQL standard was parsed when the function was made: no search path matters.
  @Test func everyFunctionHasAFixedSearchPath() throws {
    let functions = try connection.table(
      """
      select p.oid::regprocedure,
             p.prosqlbody is not null or coalesce(array_to_string(proconfig, ' '), '') like '%search_path=pg_catalog, pg_temp%'
        from pg_proc p where p.pronamespace = 'quake'::regnamespace
      """)
    #expect(functions.count > 10)
    #expect(functions.filter { !$0.hasSuffix("|t") } == [])
  }
}
