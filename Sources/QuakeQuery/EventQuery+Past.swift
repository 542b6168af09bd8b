public import Postgres
internal import QuakeHistory
public import QuakeModel

extension EventQuery {
  /// The first point of the axis on which the query asks for the past, if that point is later than the one
  /// that the query asks for: nothing had happened by then.
  ///
  /// - Returns: The first point; nil in it if nothing has happened yet at all. Nil if the query asks for the
  ///   present, or something had happened.
  public func beginningAfterPast(over connection: Connection) throws -> Timestamp?? {
    if let asOf {
      guard try asOf.resolve(over: connection) == .beginning else { return nil }
      return .some(try HistoryBound.firstCommit(over: connection))
    }
    guard let asOfFeed else { return nil }
    let first = try connection.execute(
      "select min(generated) from quake.import where quarantined_at is null", format: .binary
    ).binaryTimestamp(0, 0).map { Timestamp(microseconds: $0) }
    if let first, first <= asOfFeed { return nil }
    // Events that came from no snapshot count from other times.
    do throws(PostgresError) {
      let any = try connection.execute(
        "select exists (select from quake.as_of_feed($1))", [.text("\(asOfFeed)")])
      return any.bool(0, 0) == true ? nil : .some(first)
    } catch {
      throw StoreError(token: error) ?? error
    }
  }
}
