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
    try connection.atOneMoment {
      try connection.planFreely()
      try begin(try HistoryReader.latestToken(over: connection))
      try connection.copyEvents(list) { try body($0) }
    }
  }

  private static let list = SQL(
    trusted: """
      select \(QuakeColumn.list(of: "q")) from quake.quake q order by q.time desc, q.code
      """)
}
