import Postgres
import QuakeSchema
import Synchronization

extension TestDatabase {
  /// A new database with Quake's schema and without events.
  package convenience init(on server: TestServer = .shared) throws {
    let template = try server.template("quake_template") { settings in
      _ = try Migrator(connection: Connection(settings), program: "tests").migrate()
    }
    try self.init(template: template, on: server)
  }

  /// Migrates to a release after this one.
  ///
  /// - Parameters:
  ///   - scripts: Its migrations.
  ///   - report: Gets the rows of each batch.
  package func migrateToNextRelease(
    _ scripts: [String], report: (Int64) -> Void = { _ in }
  ) throws {
    let connection = try connect(applicationName: "next release")
    var migrations = try Migrator.embedded()
    // Those of an earlier call of the same test.
    let applied = try Int(value("select max(version) from quake.migration")) ?? 0
    for number in migrations.count..<max(migrations.count, applied) {
      migrations.append(
        try Self.migration(number + 1, Self.applied.withLock { $0[name]?[number + 1] } ?? ""))
    }
    for script in scripts {
      let number = migrations.count + 1
      Self.applied.withLock { $0[name, default: [:]][number] = script }
      migrations.append(try Self.migration(number, script))
    }
    let migrator = try Migrator(
      connection: connection, migrations: migrations, program: "next release")
    try migrator.migrate {
      if case .filled(_, let rows) = $0 { report(rows) }
    }
  }

  /// The migrations of next releases, by database and number.
  private static let applied = Mutex<[String: [Int: String]]>([:])

  private static func migration(_ number: Int, _ script: String) throws -> Migration {
    try Migration(
      file: "\("000\(number)".suffix(4))_next\(number).sql", contents: Array(script.utf8))
  }

  /// A digest of every table that an import may write, for comparisons.
  package func contents() throws -> String {
    let tables = [
      "quake", "quake_alias", "quake_version", "change_transaction", "change_pending", "import",
      "import_reject", "feed", "migration",
    ]
    return try tables.map { table in
      try table + " "
        + value(
          """
          select count(*) || ' ' || coalesce(md5(string_agg(t::text, E'\\n' order by t::text)), '')
            from quake.\(table) t
          """)
    }.joined(separator: "\n")
  }

  /// The history in its order, each change as `token position op code`.
  package func history() throws -> [String] {
    try column(
      """
      select concat_ws(' ', token, position, op, coalesce(code, 'null'))
        from quake.changes_since('0')
      """)
  }

  /// The tokens in the history, in their order.
  package func tokens() throws -> [String] {
    try column("select token || '.' || nonce from quake.change_transaction order by token")
  }

  /// Commits events, one in a transaction.
  package func insert(_ codes: String...) throws {
    for code in codes {
      _ = try column("insert into quake.quake (code, time) values ('\(code)', now())")
    }
  }

  /// Ends the sessions of a program.
  package func endSessions(of application: String) throws {
    _ = try column(
      """
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = '\(application)'
      """)
  }
}
