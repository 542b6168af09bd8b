package import Postgres
internal import QuakeModel
internal import Synchronization

/// A schema that is newer than this program, with which the ledger lets it go on.
package struct NewerSchema: Sendable, Hashable {
  let database: String
  let version: Int

  package var message: String {
    """
    this program is older than the schema of \(database), and goes on: the schema is at version \
    \(version), this program knows \(Migrator.knownVersion)
    """
  }

  package static let hint = "Upgrade this program: a later migration may end it."

  fileprivate static let told = Mutex<Set<NewerSchema>>([])
}

extension Migrator {
  /// The version of the schema that this program brings: the number of its newest migration.
  package static let knownVersion = EmbeddedMigrations.count

  /// Checks that the schema is the one of this program, or a newer one with which the ledger lets this program go on.
  /// For programs that do not migrate; usually with two queries.
  ///
  /// - Parameter tell: Gets a newer schema, once in this process.
  /// - Throws: `StoreError` of kind `schema` if the schema is missing, older, or too new.
  package static func checkSchema(
    of connection: Connection, tell: ((NewerSchema) -> Void)? = nil
  ) throws {
    guard let version = try version(of: connection) else {
      throw StoreError(
        .schema, "\(connection.label) has no quake schema",
        hint: """
          Run "quake-admin migrate" on it, or "quake-ingest run", which migrates by itself.
          """)
    }
    guard version != knownVersion else { return }
    // Throws the reason if a program of another line created the database, which no migration helps, or if the ledger
    // does not let this program go on.
    _ = try Migrator(connection: connection, program: "").status()
    guard version > knownVersion else {
      throw StoreError(
        .schema,
        """
        the schema of \(connection.label) is at version \(version), this program needs \
        \(knownVersion)
        """,
        hint: "Run \"quake-admin migrate\" on it.")
    }
    let newer = NewerSchema(database: connection.label, version: version)
    if let tell, NewerSchema.told.withLock({ $0.insert(newer).inserted }) { tell(newer) }
  }

  /// The version of a database's schema; nil if it has none.
  ///
  /// - Throws: `StoreError` of kind `schema` if the schema of that name is another program's.
  package static func version(of connection: Connection) throws -> Int? {
    let isLedger = try connection.firstRow(
      """
      -- A foreign table shows the schema of another database.
      select c.relkind in ('r', 'p') and exists (select from pg_attribute where attrelid = c.oid and attname = 'sha256')
        from pg_class c where c.oid = to_regclass('quake.migration')
      """, as: Bool.self)
    guard let isLedger else { return nil }
    guard isLedger else {
      throw StoreError(
        .schema, "the schema quake of \(connection.label) is not that of Quake",
        detail:
          "Its relation quake.migration is not the list of applied migrations: it has other columns, or is a foreign table.",
        hint: """
          Another program may have made it. Name another database, or rename that schema: "alter schema quake \
          rename to NAME".
          """)
    }
    let (version, hasEvents) = try connection.row(
      "select coalesce(max(version), 0), to_regclass('quake.quake') is not null from quake.migration",
      as: (Int, Bool).self)
    guard version > 0 || !hasEvents else {
      throw StoreError(
        .schema, "the schema of \(connection.label) has tables, but an empty list of migrations",
        detail:
          "So has one that was restored without its data, such as with \"pg_restore --schema-only\".",
        hint:
          "Restore the whole database, or run \"drop schema quake cascade\" and then \"quake-admin migrate\"."
      )
    }
    return version
  }

  static func newer(_ version: Int, than known: Int) -> StoreError {
    StoreError(
      .schema,
      """
      the database is newer than this program: its schema is at version \(version), this \
      program knows \(known)
      """,
      hint: "Upgrade this program.")
  }
}
