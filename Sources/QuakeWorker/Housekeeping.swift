internal import Basics
package import Postgres

/// What a worker does while it is idle, beside the purge of the history, so that tables do not grow for ever and
/// questions about the past are answered quickly.
package enum Housekeeping {
  /// The number of rows that one statement deletes, and of versions that one notes.
  private static let batchSize = 1000

  /// Rows that are deleted when they are old and nothing needs them any more.
  package enum Records: String, Sendable {
    /// Imports whose changes the history does not have.
    case imports
    /// Batch edits whose changes the history does not have.
    case edits
  }

  /// Deletes old rows in batches that each take a fraction of a second. Returns their number.
  ///
  /// - Parameter shouldStop: Asked after each batch. The next purge deletes the rest.
  package static func purge(
    _ records: Records, olderThan age: Duration, over connection: Connection,
    shouldStop: () -> Bool = { false }
  ) throws(PostgresError) -> Int64 {
    var deleted: Int64 = 0
    repeat {
      let age: SQL = "make_interval(secs => \(age.inSeconds)), \(batchSize)::integer"
      let count =
        switch records {
        case .imports:
          try connection.row("select quake.purge_imports(\(sql: age))", as: Int64.self)
        case .edits: try connection.row("select quake.purge_edits(\(sql: age))", as: Int64.self)
        }
      deleted += count
      guard count == batchSize else { return deleted }
    } while !shouldStop()
    return deleted
  }

  /// Notes the places that events have left since the last call, for questions about the past, in batches that each
  /// take a fraction of a second. Returns whether all are noted.
  ///
  /// - Parameter shouldStop: Asked after each batch. The next call notes the rest.
  package static func notePast(
    over connection: Connection, shouldStop: () -> Bool = { false }
  ) throws(PostgresError) -> Bool {
    repeat {
      let isDone = try connection.row(
        "select quake.note_past(\(batchSize)::integer)", prepared: true, as: Bool.self)
      if isDone { return true }
    } while !shouldStop()
    return false
  }

  /// Notes the sizes of the tables, unless that was done within the last day.
  package static func noteSizes(over connection: Connection) throws(PostgresError) {
    try connection.execute("select quake.note_table_sizes()")
  }
}
