package import Postgres
package import QuakeModel

/// The imports in `quake.import`.
package enum ImportList {
  /// One import, as `quake.import` has it.
  package struct Entry: Sendable {
    /// Its number.
    package let id: Int64
    /// The feed's name.
    package let feed: String
    /// Where the import read, without a password.
    package let source: String
    /// The body's format.
    package let format: String
    /// When the snapshot was generated; nil: unknown.
    package let generated: Timestamp?
    /// When the import began.
    package let startedAt: Timestamp
    /// The counts; `quarantine` says why the snapshot is in quarantine.
    package let report: ImportReport
    /// The decision on a snapshot in quarantine: `applied`, `discarded`; nil: none yet.
    package let decision: String?
    /// The import that applied it.
    package let appliedBy: Int64?
    /// The size of the stored body, compressed; 0: none is stored.
    package let keptBytes: Int64
  }

  /// Lists imports, the newest first.
  ///
  /// - Parameters:
  ///   - quarantined: Whether to list only those in quarantine without a decision.
  ///   - limit: The most imports to list.
  package static func read(
    quarantined: Bool = false, limit: Int64, over connection: Connection
  ) throws -> [Entry] {
    try read(
      condition: quarantined
        ? "i.quarantined_at is not null and i.decision is null and $2::bigint is null"
        : "$2::bigint is null", limit: limit, id: nil, over: connection)
  }

  /// The import of this number; nil if there is none.
  package static func find(_ id: Int64, over connection: Connection) throws -> Entry? {
    try read(condition: "i.id = $2", limit: 1, id: id, over: connection).first
  }

  /// When the first import of a feed began; nil if it has none.
  package static func first(of feed: String, over connection: Connection) throws -> Timestamp? {
    try connection.execute(
      "select i.started_at from quake.import i where i.feed = $1 order by i.id limit 1",
      [.text(feed)]
    ).timestamp(0, 0)
  }

  private static func read(
    condition: SQL, limit: Int64, id: Int64?, over connection: Connection
  ) throws -> [Entry] {
    let rows = try connection.execute(
      SQL(
        trusted: """
          select i.id, i.feed, i.source, i.format, i.generated, i.started_at, i.seen, i.inserted, i.updated, i.unchanged, i.rejected,
                 i.duplicate, i.stale, i.superseded, i.withdrawn, i.restored, i.bytes, i.complete,
                 i.quarantine_reason, i.quarantine_detail, i.decision, i.applied_import_id,
                 (select coalesce(sum(length(b.bytes)), 0)::bigint from quake.import_body b where b.import_id = i.id)
            from quake.import i
           where \(condition.text)
           order by i.id desc limit $1
          """), [.integer(limit), .integer(id)], format: .binary)
    return (0..<rows.rowCount).map { row in entry(row, of: rows) }
  }

  private static func entry(_ row: Int, of rows: borrowing QueryResult) -> Entry {
    func count(_ column: Int) -> Int64 { rows.binaryInteger(row, column) ?? 0 }
    var report = ImportReport()
    report.id = count(0)
    report.seen = count(6)
    report.inserted = count(7)
    report.updated = count(8)
    report.unchanged = count(9)
    report.rejected = count(10)
    report.duplicate = count(11)
    report.stale = count(12)
    report.superseded = count(13)
    report.withdrawn = count(14)
    report.restored = count(15)
    report.bytes = count(16)
    report.isComplete = rows.binaryBool(row, 17) ?? false
    report.generated = rows.timestamp(row, 4)
    if let reason = rows.text(row, 18).flatMap({ QuarantineReason(rawValue: $0) }) {
      report.quarantine = QuarantineVerdict(reason, rows.text(row, 19) ?? "")
    }
    return Entry(
      id: count(0), feed: rows.text(row, 1) ?? "", source: rows.text(row, 2) ?? "",
      format: rows.text(row, 3) ?? "", generated: report.generated,
      startedAt: rows.timestamp(row, 5) ?? .earliest, report: report, decision: rows.text(row, 20),
      appliedBy: rows.binaryInteger(row, 21), keptBytes: count(22))
  }
}
