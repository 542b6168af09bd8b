package import Postgres
internal import QuakeHistory
package import QuakeModel

package enum ImportList {
  /// One import, as `quake.import` has it.
  package struct Entry: Sendable {
    package let id: Int64
    package let feed: String
    /// The USGS feed that says which events it should hold, whatever its own name; nil: not known.
    package let scope: String?
    /// Where the import read, without a password.
    package let source: String
    package let format: String
    /// When the snapshot was generated; nil: unknown.
    package let generated: Timestamp?
    package let startedAt: Timestamp
    /// The counts; `quarantine` says why the snapshot is in quarantine.
    package let report: ImportReport
    /// The decision on a snapshot in quarantine: `applied`, `discarded`; nil: none yet.
    package let decision: String?
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
      condition: quarantined ? "i.quarantined_at is not null and i.decision is null" : "true",
      limit: limit, over: connection)
  }

  /// The import of this number; nil if there is none.
  package static func find(_ id: Int64, over connection: Connection) throws -> Entry? {
    try read(condition: "i.id = \(id)", limit: 1, over: connection).first
  }

  /// When the first import of a feed began; nil if it has none.
  package static func first(of feed: String, over connection: Connection) throws -> Timestamp? {
    try connection.firstRow(
      "select i.started_at from quake.import i where i.feed = \(feed) order by i.id limit 1",
      format: .binary, as: Timestamp.self)
  }

  private static func read(
    condition: SQL, limit: Int64, over connection: Connection
  ) throws -> [Entry] {
    try connection.rows(
      """
      select i.*,
             (select coalesce(sum(length(b.bytes)), 0)::bigint from quake.import_body b where b.import_id = i.id)
               as kept_bytes
        from quake.import i
       where \(sql: condition)
       order by i.id desc limit \(limit)
      """, format: .binary
    ) { row throws(PostgresError) in
      var report = ImportReport()
      report.id = try row["id"]
      report.seen = try row["seen"]
      report.inserted = try row["inserted"]
      report.updated = try row["updated"]
      report.unchanged = try row["unchanged"]
      report.rejected = try row["rejected"]
      report.duplicate = try row["duplicate"]
      report.stale = try row["stale"]
      report.superseded = try row["superseded"]
      report.withdrawn = try row["withdrawn"]
      report.restored = try row["restored"]
      report.bytes = try row["bytes"]
      report.isComplete = try row["complete"]
      report.generated = try row["generated"]
      let (reason, detail): (String?, String?) = (
        try row["quarantine_reason"], try row["quarantine_detail"]
      )
      if let reason = reason.flatMap({ QuarantineReason(rawValue: $0) }) {
        report.quarantine = QuarantineVerdict(reason, detail ?? "")
      }
      return Entry(
        id: try row["id"], feed: try row["feed"], scope: try row["scope"],
        source: try row["source"],
        format: try row["format"], generated: report.generated, startedAt: try row["started_at"],
        report: report, decision: try row["decision"], appliedBy: try row["applied_import_id"],
        keptBytes: try row["kept_bytes"])
    }
  }
}
