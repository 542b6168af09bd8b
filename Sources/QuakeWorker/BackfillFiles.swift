package import Postgres
package import QuakeModel

/// The files that backfills have stored.
package struct BackfillFiles {
  /// A file as it is now.
  package struct File: Sendable, Equatable {
    /// Absolute path.
    package let path: String
    /// Bytes.
    package let size: Int64
    /// When it was last modified.
    package let modified: Timestamp

    /// A file of these properties.
    package init(path: String, size: Int64, modified: Timestamp) {
      self.path = path
      self.size = size
      self.modified = modified
    }
  }

  private let connection: Connection

  /// The files that a database has stored.
  package init(over connection: Connection) {
    self.connection = connection
  }

  /// Whether the file was stored with this size and modification time.
  package func isStored(_ file: File) throws(PostgresError) -> Bool {
    try connection.row(
      """
      select exists (select from quake.backfill_file
                      where path = \(file.path) and size = \(file.size)
                        and modified_at = \(file.modified))
      """, prepared: true, as: Bool.self)
  }

  /// Marks a file as stored, within the transaction of the import that stores its events.
  package func markStored(
    _ file: File, of backfill: Backfill, with report: ImportReport
  ) throws(PostgresError) {
    try backfill.add(report, over: connection)
    try connection.execute(
      """
      insert into quake.backfill_file as f
        (path, backfill_id, size, modified_at, import_id, finished_at)
      values (\(file.path), \(backfill.id), \(file.size), \(file.modified), \(report.id), clock_timestamp())
      on conflict (path) do update
        set backfill_id = excluded.backfill_id, size = excluded.size,
            modified_at = excluded.modified_at, import_id = excluded.import_id,
            finished_at = excluded.finished_at
      """)
  }
}
