internal import CMigrations
package import Postgres
package import QuakeModel

/// Applies the pending migrations of this program to a database.
///
/// Migrations only go forward. Each one runs in its own transaction, which also adds its row to the ledger,
/// `quake.migration`. Several programs may migrate at once.
package struct Migrator {
  private let connection: Connection
  private let migrations: [Migration]
  private let program: String
  private let patience: LockPatience

  /// A migrator with the migrations embedded in the program.
  ///
  /// - Parameters:
  ///   - program: Name and version of the program, for the ledger.
  ///   - patience: The limits of its waits for locks.
  package init(
    connection: Connection, program: String, patience: LockPatience = LockPatience()
  ) throws(StoreError) {
    var migrations: [Migration] = []
    for file in EmbeddedMigrations.files {
      migrations.append(try Migration(file: file.name, contents: file.bytes))
    }
    try self.init(
      connection: connection, migrations: migrations, program: program, patience: patience)
  }

  /// A migrator with the caller's migrations.
  ///
  /// - Throws: `StoreError` of kind `schema` if a number is missing or occurs twice.
  package init(
    connection: Connection, migrations: [Migration], program: String,
    patience: LockPatience = LockPatience()
  ) throws(StoreError) {
    var expected = 1
    var previous: Migration?
    for migration in migrations.sorted(by: { $0.version < $1.version }) {
      if let previous, previous.version == migration.version {
        throw StoreError(
          .schema, "duplicate migration: \(previous.file) and \(migration.file)",
          hint: "Give one of them the next free number.")
      }
      guard migration.version == expected else {
        throw StoreError(
          .schema, "gap in the migrations: \(migration.file) follows number \(expected - 1)",
          hint: "Number migrations one after the other.")
      }
      expected += 1
      previous = migration
    }
    self.connection = connection
    self.migrations = migrations.sorted { $0.version < $1.version }
    self.program = program
    self.patience = patience
  }

  /// A migration and its state in the database.
  package struct Entry: Sendable {
    /// The number, from 1.
    package let version: Int
    /// The name.
    package let name: String
    /// When it was applied, as the database prints it; nil if it is pending.
    package let appliedAt: String?
    /// Program and version that applied it; nil if it is pending.
    package let program: String?
  }

  private struct LedgerRow {
    var version: Int
    var name: String
    var sha256: String
    var appliedAt: String
    var program: String
  }

  /// A lock that excludes other migrators and no other sessions. It needs the privilege to write the ledger,
  /// so that only migrators can take it.
  private static let lock: SQL = "lock table quake.migration in share row exclusive mode"

  /// The errors of two programs that create the same schema or table at the same moment: `duplicate_schema`,
  /// `duplicate_table`, `unique_violation`.
  private static let createdMeanwhile: Set = [
    SQLState.duplicateSchema, SQLState.duplicateTable, SQLState.uniqueViolation,
  ]

  /// All migrations with their states in the database.
  ///
  /// - Throws: `StoreError` of kind `schema` if the ledger and the program contradict each other.
  package func status() throws -> [Entry] {
    let ledger = try readLedger() ?? []
    try check(ledger)
    return migrations.map { migration in
      let row = ledger.first { $0.version == migration.version }
      return Entry(
        version: migration.version, name: migration.name, appliedAt: row?.appliedAt,
        program: row?.program)
    }
  }

  /// Applies the pending migrations in order, and returns them.
  ///
  /// - Throws: `StoreError` of kind `schema` if the ledger and the program contradict each other, or a
  ///   migration fails, which is then rolled back.
  package func migrate() throws -> [Entry] {
    // Usually nothing is pending, and then no lock is needed.
    let pending = try status().filter { $0.appliedAt == nil }
    guard !pending.isEmpty else { return [] }
    if try Self.readVersions(connection) == nil {
      try patience.transaction(
        over: connection, "create the schema", alsoAfter: Self.createdMeanwhile
      ) {
        try connection.executeScript(Self.ledgerTable)
      }
    }
    var applied: [Entry] = []
    for migration in migrations where try apply(migration) {
      applied.append(
        Entry(
          version: migration.version, name: migration.name, appliedAt: nil, program: program))
    }
    return applied
  }

  /// The version of the schema that this program brings: the number of its newest migration.
  package static let knownVersion = EmbeddedMigrations.count

  /// Checks that the schema is the one of this program, with one query, for programs that do not migrate.
  ///
  /// - Throws: `StoreError` of kind `schema` if it is missing, older or newer.
  package static func checkSchema(of connection: Connection) throws {
    let expected = knownVersion
    guard let ledger = try readVersions(connection) else {
      throw StoreError(
        .schema, "\(connection.label) has no quake schema",
        hint: """
          Run "quake-admin migrate" on it, or "quake-ingest run", which migrates by itself.
          """)
    }
    if ledger != expected {
      // Throws the reason if a program of another line created the database, which no migration helps.
      _ = try Migrator(connection: connection, program: "").status()
    }
    if ledger < expected {
      throw StoreError(
        .schema,
        "the schema of \(connection.label) is at version \(ledger), this program needs \(expected)",
        hint: "Run \"quake-admin migrate\" on it.")
    }
    if ledger > expected { throw newer(ledger, than: expected) }
  }

  private static func readVersions(_ connection: Connection) throws -> Int? {
    let exists = try connection.row(
      "select to_regclass('quake.migration') is not null", as: Bool.self)
    guard exists else { return nil }
    return try connection.row(
      "select coalesce(max(version), 0) from quake.migration", as: Int.self)
  }

  private static func newer(_ version: Int, than known: Int) -> StoreError {
    StoreError(
      .schema,
      """
      the database is newer than this program: its schema is at version \(version), this \
      program knows \(known)
      """,
      hint: "Upgrade this program.")
  }

  private static let ledgerTable: SQL = """
    create schema if not exists quake;
    create table if not exists quake.migration (
      version integer not null,
      name text not null,
      sha256 text not null,
      applied_at timestamptz not null default now(),
      program text not null,
      constraint migration_pkey primary key (version)
    );
    comment on schema quake is 'earthquakes, their history, and the imports that brought them';
    comment on table quake.migration is 'the steps of the schema that have been applied, in order';
    comment on column quake.migration.version is 'number of the step, from 1';
    comment on column quake.migration.name is 'name of its file, without number and ending';
    comment on column quake.migration.sha256 is 'SHA-256 of the file, hexadecimal';
    comment on column quake.migration.applied_at is 'when it was applied';
    comment on column quake.migration.program is 'program and version that applied it';
    """

  private func readLedger() throws -> [LedgerRow]? {
    guard try Self.readVersions(connection) != nil else { return nil }
    return try connection.rows(
      "select version, name, sha256, applied_at, program from quake.migration order by version"
    ) { row throws(PostgresError) in
      LedgerRow(
        version: try row["version"], name: try row["name"], sha256: try row["sha256"],
        appliedAt: try row["applied_at"], program: try row["program"])
    }
  }

  /// Throws if the ledger contradicts the program's migrations.
  private func check(_ ledger: [LedgerRow]) throws {
    // This check is first, because a database of another line may have more migrations than this program
    // without being newer.
    for row in ledger {
      guard let migration = migrations.first(where: { $0.version == row.version }) else { continue }
      guard row.name == migration.name else {
        throw StoreError(
          .schema,
          """
          applied migration \(row.version) "\(row.name)" is missing from this program, which \
          has "\(migration.name)"
          """,
          hint: """
            The database was made by a program of another line, such as a development version \
            before 0.1.0, the first release. Use that program, or load the events into a new \
            database.
            """)
      }
    }
    if let last = ledger.last, max(last.version, ledger.count) > migrations.count {
      throw Self.newer(max(last.version, ledger.count), than: migrations.count)
    }
    let files = migrations.prefix(ledger.count).map(\.sql.text)
    let hashes = try connection.rows(
      """
      select encode(sha256(convert_to(u.file, 'UTF8')), 'hex')
        from unnest(\(files)::text[]) with ordinality u (file, place) order by u.place
      """, as: String.self)
    for (index, row) in ledger.enumerated() {
      guard row.version == index + 1 else {
        throw StoreError(
          .schema,
          """
          gap in the applied migrations: \(migrations[index].label) was never applied, a later \
          one was
          """,
          hint: """
            The table quake.migration was edited or partly restored. Restore the whole database.
            """)
      }
      let migration = migrations[index]
      guard hashes[index] == row.sha256 else {
        throw StoreError(
          .schema, "migration \(migration.label) was modified after it was applied",
          detail: "Applied at \(row.appliedAt) by \(row.program).",
          hint: "A released migration is never edited. Put the change into a new one.")
      }
    }
  }

  /// Applies one migration, unless another program has done so meanwhile.
  private func apply(_ migration: Migration) throws -> Bool {
    try patience.transaction(over: connection, "apply migration \(migration.file)") {
      try connection.execute(Self.lock)
      let isKnown = try connection.row(
        "select exists (select from quake.migration where version = \(migration.version))",
        as: Bool.self)
      guard !isKnown else { return false }
      do {
        try connection.executeScript(migration.sql)
      } catch let error as PostgresError
        where error.kind == .server && !LockPatience.isLocked(error)
      {
        let place = error.line.map { "\(migration.file):\($0)" } ?? migration.file
        throw StoreError(
          .schema, "could not apply migration: \(place): \(error.message)", detail: error.detail,
          hint: error.hint)
      }
      try connection.execute(
        """
        insert into quake.migration (version, name, sha256, program)
        values (\(migration.version), \(migration.name),
                encode(sha256(convert_to(\(migration.sql.text), 'UTF8')), 'hex'), \(program))
        """)
      return true
    }
  }
}

/// One step of the schema: a file `NNNN_name.sql`.
package struct Migration: Sendable {
  /// The number, from 1.
  package let version: Int
  /// The name, without number and ending.
  package let name: String
  /// The file's name.
  package let file: String
  /// The statements.
  let sql: SQL

  /// Reads number and name from a file's name.
  ///
  /// - Throws: `StoreError` of kind `schema` if the name is not of the form `NNNN_name.sql` or the
  ///   text is not UTF-8.
  package init(file: String, contents: [UInt8]) throws(StoreError) {
    let digits = file.prefix(4)
    guard digits.utf8.count == 4, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let version = Int(digits), version > 0, file.dropFirst(4).hasPrefix("_"),
      file.hasSuffix(".sql"), file.utf8.count > 9
    else {
      throw StoreError(
        .schema, "migration file \"\(file)\" is not named NNNN_name.sql",
        hint: "Number migrations from 0001 on, such as 0003_watcher.sql.")
    }
    guard let text = String(validating: contents, as: UTF8.self) else {
      throw StoreError(.schema, "migration file \"\(file)\" is not UTF-8")
    }
    self.version = version
    self.name = String(file.dropFirst(5).dropLast(4))
    self.file = file
    self.sql = SQL(trusted: text)
  }

  /// Number and name for messages: `0003_history`.
  var label: String { String(file.dropLast(4)) }
}

/// The migrations as the binaries carry them, in order. A test compares them with the folder.
enum EmbeddedMigrations {
  /// How many there are, without copying them.
  static let count: Int = {
    var count = 0
    while quake_migration(count) != nil { count += 1 }
    return count
  }()

  /// A migration's file name and its bytes.
  static let files: [(name: String, bytes: [UInt8])] = {
    var files: [(name: String, bytes: [UInt8])] = []
    while let file = quake_migration(files.count)?.pointee {
      files.append(
        (
          String(cString: file.name),
          Array(UnsafeBufferPointer(start: file.bytes, count: file.size))
        ))
    }
    return files
  }()
}
