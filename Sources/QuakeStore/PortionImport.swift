internal import Postgres
internal import QuakeModel

/// Brings one portion of a long source into the store, in the transaction that is open.
struct PortionImport {
  let connection: Connection
  let options: ImportOptions
  let columns: [QuakeColumn]
  /// When the snapshot was generated; nil: nobody knows.
  let generated: Timestamp?
  /// The import's row.
  let importID: Int64

  /// What holds for a transaction that brings in portions.
  func prepareTransaction() throws(PostgresError) {
    // Sorts and transition tables of a portion stay in memory. The planner's guess of what a staging table
    // costs to join is of a disk's making.
    try connection.execute(
      """
      select set_config('jit', 'off', true), set_config('random_page_cost', '1.1', true),
             set_config('work_mem', '32MB', true), set_config('quake.author', $1, true),
             set_config('quake.context', $2, true), set_config('quake.import', $3, true)
      """,
      [
        .text(options.author), .text(options.context ?? options.feed), .text(String(importID)),
      ])
  }

  /// Brings it in.
  ///
  /// - Parameters:
  ///   - first: Number of the portion's first record in the source, from 1.
  ///   - expectsNew: Whether the events are likely to be new; then they are copied straight into the
  ///     table. If one is not, the portion is merged after all.
  func bringIn(
    _ portion: ImportPortion, first: Int64, expectsNew: Bool
  ) throws -> ImportReport {
    let begun = ContinuousInstant.now()
    var report = ImportReport()
    report.seen = portion.seen
    report.rejected = Int64(portion.rejects.count)
    report.duplicate = portion.duplicates
    report.firstReject = portion.rejects.first?.reject
    try keep(portion.rejects, first: first)
    if portion.count > 0 {
      if expectsNew, try copyNew(portion) {
        report.inserted = Int64(portion.count)
      } else {
        try stage(portion)
        try ImportMerge(
          connection: connection, options: options, columns: columns, generated: generated,
          scope: nil
        ).merge(&report)
      }
    }
    report.mergeDuration = begun.elapsed
    return report
  }

  // MARK: - New events

  /// Copies the events into the table itself: without staging, joining and looking for conflicts this
  /// takes half the time. False, and nothing done, if one of them is there already, or claims an id of
  /// one that is, or anything is known of one of the ids.
  private func copyNew(_ portion: ImportPortion) throws -> Bool {
    let claims = portion.claims
    if !claims.isEmpty {
      let found = try connection.execute(
        "select exists (select from quake.quake where code = any($1::text[]))", [.array(claims)])
      if found.bool(0, 0) != false { return false }
    }
    // What has been said of an id before may be newer.
    let known = try connection.execute(
      "select exists (select from quake.quake_alias where id = any($1::text[]))",
      [.array(portion.allIDs)])
    if known.bool(0, 0) != false { return false }
    let asOf = generated
    try connection.execute("savepoint quake_portion")
    do {
      try connection.copyIn(copyStatement) { writer in
        try portion.forEachRow { values in
          try writer.beginRow(columnCount: columns.count + 1)
          try writer.values(values)
          if let asOf {
            try writer.timestamp(microseconds: asOf.microseconds)
          } else {
            try writer.null()
          }
        }
      }
    } catch let error as PostgresError where Self.isConflict(error) {
      try connection.execute("rollback to savepoint quake_portion")
      try connection.execute("release savepoint quake_portion")
      return false
    }
    try connection.execute("release savepoint quake_portion")
    let others = portion.otherIDs
    if !others.isEmpty {
      try connection.execute(
        ImportStatements.addAliases,
        [
          .array(others.map(\.id)), .array(others.map(\.code)), .text(generated?.description),
        ])
    }
    return true
  }

  private var copyStatement: SQL {
    SQL(
      trusted: """
        copy quake.quake (\(columns.map(\.name).joined(separator: ", ")), as_of)
        from stdin (format binary)
        """)
  }

  /// An event that is there, or that somebody else is just bringing in.
  private static func isConflict(_ error: PostgresError) -> Bool {
    error.sqlState == "23505" || error.sqlState == "40P01"
  }

  // MARK: - Others

  private func stage(_ portion: ImportPortion) throws {
    try connection.execute("truncate pg_temp.quake_staging")
    var number: Int64 = 0
    try connection.copyIn(ImportStatements.copyRecords(columns)) { writer in
      try portion.forEachRow { values in
        number += 1
        try writer.beginRow(columnCount: columns.count + 1)
        try writer.int8(number)
        try writer.values(values)
      }
    }
  }

  private func keep(_ rejects: [(record: Int64, reject: ImportReject)], first: Int64) throws {
    guard !rejects.isEmpty else { return }
    try connection.copyIn(
      """
      copy quake.import_reject (import_id, record, place, reason, raw) from stdin (format binary)
      """
    ) { writer in
      for (record, reject) in rejects {
        try writer.beginRow(columnCount: 5)
        try writer.int8(importID)
        try writer.int8(first + record - 1)
        try writer.text(reject.place)
        try writer.text(reject.reason)
        try writer.text(reject.raw)
      }
    }
  }
}
