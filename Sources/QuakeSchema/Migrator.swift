internal import Basics
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
    connection: Connection, program: String, patience: LockPatience = .migrating()
  ) throws(StoreError) {
    try self.init(
      connection: connection, migrations: try Self.embedded(), program: program,
      patience: patience)
  }

  /// The migrations embedded in the program, in their order.
  package static func embedded() throws(StoreError) -> [Migration] {
    var migrations: [Migration] = []
    let checksums = EmbeddedMigrations.checksums
    for file in EmbeddedMigrations.files {
      let sha256 = checksums[file.name[...]].map(String.init)
      migrations.append(try Migration(file: file.name, contents: file.bytes, sha256: sha256))
    }
    return migrations
  }

  /// A migrator with the caller's migrations.
  ///
  /// - Throws: `StoreError` of kind `schema` if a number is missing or occurs twice.
  package init(
    connection: Connection, migrations: [Migration], program: String,
    patience: LockPatience = .migrating()
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

  package struct Entry: Sendable {
    /// The number, from 1.
    package let version: Int
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
    var oldestSchema: Int?
  }

  package enum Step {
    /// A batch of a migration that runs in batches: how many rows all batches so far have changed.
    case filled(Entry, rows: Int64)
    case applied(Entry)
  }

  /// A lock that excludes other migrators and no other sessions. It needs the privilege to write the ledger,
  /// so that only migrators can take it.
  private static let lock: SQL = "lock table quake.migration in share row exclusive mode"

  /// The errors of two programs that create the same schema or table at the same moment: `duplicate_schema`,
  /// `duplicate_table`, `unique_violation`.
  private static let createdMeanwhile: Set = [
    SQLState.duplicateSchema, SQLState.duplicateTable, SQLState.uniqueViolation,
  ]

  /// All migrations with their states in the database; also those that a newer program has applied.
  ///
  /// - Throws: `StoreError` of kind `schema` if the ledger and the program contradict each other.
  package func status() throws -> [Entry] {
    let ledger = try readLedger() ?? []
    try check(ledger)
    let known = migrations.map { migration in
      let row = ledger.first { $0.version == migration.version }
      return Entry(
        version: migration.version, name: migration.name, appliedAt: row?.appliedAt,
        program: row?.program)
    }
    return known
      + ledger.dropFirst(known.count).map {
        Entry(version: $0.version, name: $0.name, appliedAt: $0.appliedAt, program: $0.program)
      }
  }

  /// Applies the pending migrations in order, and returns them.
  ///
  /// - Parameter report: Gets each step as soon as it is committed.
  /// - Throws: `StoreError` of kind `schema` if the ledger and the program contradict each other, or a
  ///   migration fails, which is then rolled back.
  @discardableResult
  package func migrate(_ report: (Step) -> Void = { _ in }) throws -> [Entry] {
    // Usually nothing is pending, and then no lock is needed.
    let pending = try status().filter { $0.appliedAt == nil }
    guard !pending.isEmpty else { return [] }
    try refuseBeforeRegions()
    if try Self.version(of: connection) == nil {
      try refuseEncoding()
      try patience.transaction(
        over: connection, "create the schema", alsoAfter: Self.createdMeanwhile
      ) {
        try connection.executeScript(Self.ledgerTable)
      }
    }
    var applied: [Entry] = []
    for migration in migrations {
      let entry = Entry(
        version: migration.version, name: migration.name, appliedAt: nil, program: program)
      if migration.isInBatches {
        guard try fill(migration, report: { report(.filled(entry, rows: $0)) }) else { continue }
      }
      guard try apply(migration) else { continue }
      report(.applied(entry))
      applied.append(entry)
    }
    return applied
  }

  /// Throws if the database cannot have the characters of feeds, and those of the migrations.
  private func refuseEncoding() throws {
    let encoding = try connection.row("select current_setting('server_encoding')", as: String.self)
    guard !["UTF8", "SQL_ASCII"].contains(encoding) else { return }
    throw StoreError(
      .schema,
      "the encoding of \(connection.label) is \(encoding), which lacks characters of feeds",
      hint: "Make the database with \"createdb --encoding UTF8 --template template0 NAME\".")
  }

  /// Throws if the migrations would send rows to a region that its older schema cannot take.
  private func refuseBeforeRegions() throws {
    guard let region = try Region.older(than: migrations.count, of: connection).first else {
      return
    }
    throw StoreError(
      .conflict, "cannot migrate \(connection.label) before its region \"\(region)\"",
      detail: "Rows with new columns or tables would stop the region's subscription.",
      hint: """
        Run "quake-admin migrate" and then "quake-admin region create \(region)" of this version there. If the region \
        is gone, drop its slot: select pg_drop_replication_slot('\(RegionTables.prefix)\(region)').
        """)
  }

  /// At a region a migration changes rows as the subscription does: it is not refused, and the history has no change of
  /// it, since that of the centre's migration will come.
  private func writeAsSubscriptionAtRegion() throws {
    guard
      try connection.row(
        "select to_regclass('quake.regional_database') is not null", as: Bool.self),
      try Region.own(of: connection) != nil
    else { return }
    do throws(PostgresError) {
      try connection.execute("set local session_replication_role = replica")
    } catch {
      guard error.sqlState == SQLState.insufficientPrivilege else { throw error }
      throw StoreError(
        .conflict, "only a superuser migrates a region, as \(connection.label) is",
        hint: "Run \"quake-admin migrate\" as a superuser of the region's server.")
    }
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
    guard try Self.version(of: connection) != nil else { return nil }
    return try connection.rows(
      // Ledgers from before migration 18 do not have the last column.
      """
      select version, name, sha256, applied_at, program,
             (to_jsonb(m) ->> 'oldest_schema')::integer as oldest_schema
        from quake.migration m order by version
      """
    ) { row throws(PostgresError) in
      LedgerRow(
        version: try row["version"], name: try row["name"], sha256: try row["sha256"],
        appliedAt: try row["applied_at"], program: try row["program"],
        oldestSchema: try row["oldest_schema"])
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
    let later = ledger.filter { $0.version > migrations.count }
    if let newest = later.last?.version {
      let oldest = later.map { $0.oldestSchema ?? $0.version }.max() ?? newest
      guard oldest <= migrations.count else { throw Self.newer(newest, than: migrations.count) }
    }
    let hashes = try checksums(ofFirst: ledger.count)
    for (index, row) in ledger.enumerated() {
      guard row.version == index + 1 else {
        let label = index < migrations.count ? migrations[index].label : "number \(index + 1)"
        throw StoreError(
          .schema,
          "gap in the applied migrations: \(label) was never applied, a later one was",
          hint: """
            The table quake.migration was edited or partly restored. Restore the whole database.
            """)
      }
      guard index < migrations.count else { continue }
      let migration = migrations[index]
      guard hashes[index] == row.sha256 else {
        throw StoreError(
          .schema, "migration \(migration.label) was modified after it was applied",
          detail: "Applied at \(row.appliedAt) by \(row.program).",
          hint: "A released migration is never edited. Put the change into a new one.")
      }
    }
  }

  /// The checksums of the first migrations. The server computes those that are not known.
  private func checksums(ofFirst count: Int) throws -> [String] {
    // The connection would keep the memory that sending all files takes.
    let files = migrations.prefix(count).filter { $0.sha256 == nil }.map(\.sql.text)
    var computed: ArraySlice<String> = []
    if !files.isEmpty {
      computed = try connection.rows(
        """
        select encode(sha256(convert_to(u.file, 'UTF8')), 'hex')
          from unnest(\(files)::text[]) with ordinality u (file, place) order by u.place
        """, as: String.self)[...]
    }
    return migrations.prefix(count).compactMap { $0.sha256 ?? computed.popFirst() }
  }

  /// Applies one migration, unless another program has done so meanwhile. Of one in batches, only its row of the
  /// ledger is left to write.
  private func apply(_ migration: Migration) throws -> Bool {
    try transaction(for: migration) {
      if !migration.isInBatches { try connection.executeScript(migration.sql) }
      // Only migrations after the one that made the column have a value for it.
      let column: SQL = migration.oldestSchema == nil ? "" : ", oldest_schema"
      let value: SQL = migration.oldestSchema.map { (oldest) -> SQL in ", \(oldest)" } ?? ""
      try connection.execute(
        """
        insert into quake.migration (version, name, sha256, program\(sql: column))
        values (\(migration.version), \(migration.name),
                encode(sha256(convert_to(\(migration.sql.text), 'UTF8')), 'hex'), \(program)\(sql: value))
        """)
      return true
    } ?? false
  }

  /// Repeats the statement of a migration in batches, each in a transaction of its own, until it returns no key. After
  /// an interruption it begins again, so it must leave out rows that it has changed before.
  ///
  /// - Parameter report: Gets the number of changed rows after each batch.
  /// - Returns: False if another program has applied the migration meanwhile.
  private func fill(_ migration: Migration, report: (Int64) -> Void) throws -> Bool {
    var key: String?
    var rows: Int64 = 0
    repeat {
      let batch = try transaction(for: migration) { try runBatch(of: migration, after: key) }
      guard let (next, changed) = batch else { return false }
      if let next, next == key {
        throw StoreError(
          .schema, "migration \(migration.file) makes no progress: it returns the key \(next) again"
        )
      }
      key = next
      rows += changed
      report(rows)
      if key != nil, let wake = patience.wake, Connection.pause(for: .zero, wake: wake) == .woken {
        throw PostgresError(
          kind: .interrupted, sqlState: SQLState.queryCanceled,
          message: "could not apply migration \(migration.file): stopped after \(rows) rows",
          hint: "These rows are done. The next \"quake-admin migrate\" does the others.")
      }
    } while key != nil
    return true
  }

  private func runBatch(of migration: Migration, after key: String?) throws -> (String?, Int64) {
    let result = try connection.execute(migration.sql, [.text(key)])
    func value(_ column: Int) -> String? {
      result.isNull(0, column) ? nil : String(decoding: result.bytes(0, column), as: UTF8.self)
    }
    guard result.rowCount == 1, result.columnCount == 2,
      let changed = value(1).flatMap({ Int64($0) })
    else {
      throw StoreError(
        .schema, "migration \(migration.file) is in batches, but does not return its progress",
        hint: "Its statement returns one row: the key of the next batch, and the number of rows.")
    }
    return (value(0), changed)
  }

  /// Runs a part of a migration in a transaction that excludes other migrators; nil if another program has applied the
  /// migration meanwhile.
  private func transaction<Value>(
    for migration: Migration, _ body: () throws -> Value
  ) throws -> Value? {
    try patience.transaction(over: connection, "apply migration \(migration.file)") {
      try connection.execute(Self.lock)
      // A migration of many rows takes longer than the statements and transactions of programs may. Locks have their own
      // limit. The limit on transactions exists since version 17.
      try connection.execute(
        """
        select set_config(name, '0', true) from pg_settings where name in ('statement_timeout', 'transaction_timeout')
        """)
      let isKnown = try connection.row(
        "select exists (select from quake.migration where version = \(migration.version))",
        as: Bool.self)
      guard !isKnown else { return nil }
      try writeAsSubscriptionAtRegion()
      do {
        return try body()
      } catch var error as PostgresError
        where error.kind == .server && !LockPatience.isLocked(error)
      {
        let place = error.line.map { "\(migration.file):\($0)" } ?? migration.file
        error.message = "could not apply migration: \(place): \(error.message)"
        // A full disk, a missing privilege or a timeout says nothing about the schema.
        guard error.category == .failed || error.category == .schema,
          error.sqlState != SQLState.queryCanceled
        else { throw error }
        throw StoreError(.schema, error.message, detail: error.detail, hint: error.hint)
      }
    }
  }
}
