internal import Basics
package import Postgres
internal import QuakeHistory
package import QuakeModel

/// The quarantine: bad snapshots with their bodies, until a person applies or discards them.
package struct Quarantine {
  private let connection: Connection

  package init(connection: Connection) {
    self.connection = connection
  }

  /// Puts a snapshot into quarantine that could not be read, and so was never staged. If the same answer of
  /// the server is the feed's latest import, it is not stored again.
  ///
  /// - Returns: Its row in `quake.import`.
  package func setAside(
    _ verdict: QuarantineVerdict, options: ImportOptions, source: some ImportSource
  ) throws -> ImportReport {
    var report = ImportReport()
    report.quarantine = verdict
    report.bytes = source.bytesRead
    report.generated = SnapshotImport.age(of: source, options)
    let record = ImportRecord(
      options: options, format: source.format, startedAt: .now(), scope: nil)
    try connection.transaction { try setAside(&report, record, source: source) }
    report.isComplete = true
    return report
  }

  /// Puts a snapshot into quarantine, within the caller's transaction.
  func setAside(
    _ report: inout ImportReport, _ record: ImportRecord, source: some ImportSource
  ) throws {
    // A server may serve the same bad body for hours.
    if let known = try same(as: report, record.options, source) {
      report.id = known
      return
    }
    try record.write(&report, complete: true, over: connection)
    if let id = report.id { try keepBody(of: source, import: id) }
  }

  /// The feed's latest import, if it is of the same answer of the server: one with the same validators or, if
  /// the server sends none, with the same body.
  private func same(
    as report: ImportReport, _ options: ImportOptions, _ source: some ImportSource
  ) throws -> Int64? {
    let etag: SQL = "\(options.etag)::text"
    let known = try connection.firstRow(
      """
      select l.id
        from (select * from quake.import where feed = \(options.feed) order by id desc limit 1) l
       where l.quarantine_reason = \(report.quarantine?.reason.rawValue) and l.bytes = \(report.bytes)
         and l.source = \(options.source)
         and (l.etag = \(sql: etag)
              or \(sql: etag) is null and l.etag is null
                 and l.last_modified is not distinct from \(options.lastModified))
      """, as: Int64.self)
    guard let known, options.etag == nil, options.lastModified == nil else { return known }
    var (stored, read) = (Hasher(), Hasher())
    let isStored = try withBody(of: known) { stored.combine(bytes: $0) }
    try source.withBody { read.combine(bytes: $0) }
    guard isStored || report.bytes == 0 else { return nil }
    return stored.finalize() == read.finalize() ? known : nil
  }

  private func keepBody(of source: some ImportSource, import id: Int64) throws {
    var part: Int32 = 0
    try connection.copyIn(
      "copy quake.import_body (import_id, part, bytes) from stdin (format binary)"
    ) { writer in
      try source.withBody { bytes in
        try writer.beginRow(columnCount: 3)
        writer.values.int8(id)
        writer.values.int4(part)
        // The binary formats of `bytea` and `text` are both the bytes themselves.
        writer.values.text(bytes)
        part += 1
      }
    }
  }

  /// Deletes the bodies that have been in quarantine for longer than `age`; their rows in `quake.import`
  /// stay. Returns the number of bodies.
  @discardableResult
  package func purge(olderThan age: Duration) throws -> Int64 {
    try connection.row(
      """
      with old as (
        delete from quake.import_body b using quake.import i
         where i.id = b.import_id
           and i.quarantined_at < clock_timestamp() - make_interval(secs => \(age.inSeconds))
        returning i.id
      )
      select count(distinct id) from old
      """, as: Int64.self)
  }
}

extension Quarantine {
  /// Calls `part` with the parts of an import's body, a gzip file. Returns whether a body is stored.
  package func withBody(
    of id: Int64, _ part: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> Bool {
    var parts = 0
    try connection.forEachRow(
      "select bytes from quake.import_body where import_id = \(id) order by part", format: .binary
    ) { row in
      try part(try row.bytes("bytes"))
      parts += 1
    }
    return parts > 0
  }

  /// Stores the decision on a snapshot, and deletes its body. Called within the transaction of the import
  /// that applied it, if one did.
  ///
  /// - Parameter appliedBy: The import that applied it; nil: it was discarded.
  /// - Throws: `StoreError` of kind `badData` if it is not in quarantine, or no longer.
  package func decide(on id: Int64, appliedBy: Int64?) throws {
    let decided = try connection.execute(
      """
      update quake.import
         set decision = \(appliedBy == nil ? "discarded" : "applied"),
             decided_at = clock_timestamp(), applied_import_id = \(appliedBy)
       where id = \(id) and quarantined_at is not null and decision is null
      """)
    guard decided.affectedRows == 1 else {
      throw StoreError(
        .badData, "import \(id) is not in quarantine, or was decided on already",
        hint: "\"quake-admin imports --quarantined\" lists those that are.")
    }
    try connection.execute("delete from quake.import_body where import_id = \(id)")
  }

  /// The number of snapshots that are neither applied nor discarded, and the newest of them; nil if there are
  /// none.
  package func pending() throws(PostgresError) -> (count: Int64, newest: Int64?) {
    try connection.row(
      """
      select count(*), max(id) from quake.import
       where quarantined_at is not null and decision is null
      """, as: (Int64, Int64?).self)
  }

  /// Discards the snapshots up to an import that are neither applied nor discarded, and deletes their bodies.
  /// Called within a transaction.
  ///
  /// - Returns: The number of snapshots.
  package func discardAll(upTo newest: Int64) throws(PostgresError) -> Int64 {
    try connection.row(
      """
      with discarded as (
        update quake.import set decision = 'discarded', decided_at = clock_timestamp()
         where id <= \(newest) and quarantined_at is not null and decision is null
        returning id
      ), deleted as (
        delete from quake.import_body b using discarded d where b.import_id = d.id
      )
      select count(*) from discarded
      """, as: Int64.self)
  }
}
