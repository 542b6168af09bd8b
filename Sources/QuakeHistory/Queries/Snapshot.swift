public import Postgres
public import QuakeModel

/// The list of events as it is now, and the token after which changes to it can be followed without a gap
/// or a repeat.
public enum Snapshot {
  /// Reads the list in one REPEATABLE READ transaction.
  ///
  /// - Parameters:
  ///   - begin: Gets the token first.
  ///   - body: Gets each event, newest origin time first.
  public static func read(
    over connection: Connection, begin: (ChangeToken) throws -> Void,
    _ body: (QuakeRecord) throws -> Void
  ) throws {
    try connection.transaction(.repeatableRead, readOnly: true) {
      // Before the transaction takes its snapshot: with one older than the commit of a truncate, it would
      // find the table empty at a token at which it was not.
      try connection.execute("lock table quake.quake in access share mode")
      try connection.planFreely()
      try begin(try HistoryReader.latestToken(over: connection))
      try connection.stream(list) { rows in
        for row in 0..<rows.rowCount { try body(try rows.record(row, firstColumn: 0)) }
      }
    }
  }

  private static let list = SQL(
    trusted: """
      select \(QuakeColumn.list(of: "q")) from quake.quake q order by q.time desc, q.code
      """)
}
