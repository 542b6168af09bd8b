public import Postgres
public import QuakeModel
internal import SystemClock

/// What came of a poll that somebody asked for.
public enum RefreshOutcome: String, Sendable {
  /// The snapshot was imported.
  case imported
  /// There was nothing new.
  case notModified = "not_modified"
  /// The snapshot could not be taken.
  case badData = "bad_data"
  /// The feed could not be had.
  case unavailable
  /// It failed otherwise.
  case failed
}

/// A request to poll feeds now, as the one who asks sees it.
public struct RefreshRequest: Sendable {
  /// How it stands with one of the feeds asked for.
  public struct Status: Sendable {
    /// The feed.
    public var feed: String
    /// Whether a worker polls it at all.
    public var isHeld: Bool
    /// Whether a worker has taken notice of the request.
    public var isTaken: Bool
    /// What came of it; nil: it is still to come.
    public var outcome: RefreshOutcome?
    /// The import that it led to; nil: none.
    public var importID: Int64?
    /// Records in the feed, events that were new, and events whose contents differed.
    public var seen, inserted, updated: Int64?
    /// The transaction in which events changed; nil: none did.
    public var token: ChangeToken?
    /// What the poll failed of.
    public var error: String?
  }

  /// Its number.
  public let id: Int64

  /// Asks the workers to poll a feed.
  ///
  /// - Parameter feed: Its name; nil: all that are polled.
  /// - Throws: `StoreError` of kind `unknownFeed` if there is none; `PostgresError`.
  @discardableResult
  public static func ask(for feed: String?, over connection: Connection) throws -> RefreshRequest {
    do throws(PostgresError) {
      let result = try connection.execute("select quake.request_refresh($1)", [.text(feed)])
      return RefreshRequest(id: result.integer(0, 0) ?? 0)
    } catch {
      guard error.sqlState == StoreState.unknownFeed else { throw error }
      throw StoreError(.unknownFeed, error.message, detail: error.detail, hint: error.hint)
    }
  }

  /// Begins to listen for answers over a connection: it becomes readable when there is one.
  public static func listen(over connection: Connection) throws(PostgresError) {
    try connection.execute("listen quake_refreshed")
  }

  /// How it stands with each feed, by name.
  public func status(over connection: Connection) throws(PostgresError) -> [Status] {
    let result = try connection.execute(
      """
      select r.feed, coalesce(s.held, false), r.taken_at is not null, r.outcome, r.import_id, r.seen,
             r.inserted, r.updated, t.token || '.' || t.nonce, r.error
        from quake.refresh_request r
        left join quake.feed_status s on s.name = r.feed
        left join quake.import i on i.id = r.import_id
        left join quake.change_transaction t on t.token = i.token
       where r.id = $1 order by r.feed
      """, [.integer(id)])
    return (0..<result.rowCount).map { row in
      Status(
        feed: result.text(row, 0) ?? "", isHeld: result.bool(row, 1) == true,
        isTaken: result.bool(row, 2) == true,
        outcome: result.text(row, 3).flatMap { RefreshOutcome(rawValue: $0) },
        importID: result.integer(row, 4), seen: result.integer(row, 5),
        inserted: result.integer(row, 6), updated: result.integer(row, 7),
        token: result.text(row, 8).flatMap { ChangeToken($0) }, error: result.text(row, 9))
    }
  }

  /// Waits until there may be an answer, at most for `duration`; a wake descriptor ends it, too.
  public static func wait(
    for duration: Duration, over connection: Connection, wake: Int32
  ) throws(PostgresError) {
    let deadline = Deadline(after: duration)
    while try connection.takeNotifications().isEmpty {
      guard connection.wait(until: deadline, wake: wake) == .ready else { return }
    }
  }
}
