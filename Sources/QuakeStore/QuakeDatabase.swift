public import Postgres
public import QuakeHistory
public import QuakeModel
internal import QuakeQuery

/// A quake database, for programs with Swift concurrency: its list of events, its history, and the
/// changes to it as they are committed.
///
/// ```swift
/// let database = QuakeDatabase("postgresql://reader@db.example.org/quake", applicationName: "map")
/// let token = try await database.latestToken()
/// for try await change in database.changes(after: token) { ... }
/// ```
///
/// It holds no connection. Each call, and each iterator of a sequence, has a connection and a thread of its
/// own for as long as it needs them: blocking calls never run on the threads that Swift's tasks share. The
/// schema is checked on each connection.
public final class QuakeDatabase: Sendable {
  package let settings: ConnectionSettings

  /// The database that the settings name; connects to nothing yet.
  public init(_ settings: ConnectionSettings) {
    self.settings = settings
  }

  /// The database that a URL or `keyword=value` pairs name; connects to nothing yet.
  ///
  /// - Parameter applicationName: The program's name in `pg_stat_activity`.
  public convenience init(_ conninfo: String, applicationName: String) {
    self.init(ConnectionSettings(conninfo, applicationName: applicationName))
  }

  /// Checks that the database can be reached and that its schema is the one this library was built for.
  ///
  /// - Throws: `PostgresError`; `StoreError` of kind `schema`; `CancellationError`.
  public func check() async throws {
    try await ask { _ in }
  }

  /// The newest token; `beginning` if nothing has ever changed.
  ///
  /// - Throws: As `check()`.
  public func latestToken() async throws -> ChangeToken {
    try await ask { try HistoryReader.latestToken(over: $0) }
  }

  /// The events as they are now, and the token after which changes to them can be followed.
  ///
  /// - Parameter filter: Only events that meet its conditions on events; those on changes do not count.
  /// - Throws: As `check()`.
  public func snapshot(filter: QuakeFilter = QuakeFilter()) async throws -> QuakeSnapshot {
    var query = EventQuery()
    query.filter = filter
    query.past = [.superseded, .withdrawn]
    return try await ask { [query] connection in
      try connection.atOneMoment {
        let token = try HistoryReader.latestToken(over: connection)
        return QuakeSnapshot(token: token, quakes: try query.page(over: connection).events)
      }
    }
  }

  /// The changes after a token, as they are committed, without an end.
  ///
  /// - Parameters:
  ///   - token: The transaction after which to begin; nil: from when the sequence is first asked.
  ///   - filter: Which changes to hand over.
  public func changes(
    after token: ChangeToken? = nil, filter: QuakeFilter = QuakeFilter()
  ) -> QuakeChanges {
    changes(from: token.map { .after(HistoryCursor(token: $0)) } ?? .now, filter: filter)
  }

  /// The changes after a cursor, as they are committed, without an end.
  ///
  /// - Parameters:
  ///   - cursor: That of the last change that has been processed (`Change.cursor`), or the end of a batch
  ///     (`ChangeBatch.cursor`).
  ///   - filter: Which changes to hand over.
  public func changes(
    after cursor: HistoryCursor, filter: QuakeFilter = QuakeFilter()
  ) -> QuakeChanges {
    changes(from: .after(cursor), filter: filter)
  }

  /// A list of the events that is kept up to date.
  ///
  /// - Parameters:
  ///   - order: The order of the list.
  ///   - filter: Only events that meet its conditions on events; those on changes do not count.
  public func liveQuakes(
    order: QuakeOrder = .timeDescending, filter: QuakeFilter = QuakeFilter()
  ) -> LiveQuakes {
    LiveQuakes { [settings] wake in
      LiveSource(
        ReconnectingFollower(settings, wake: wake, start: .now), order: order, filter: filter)
    }
  }

  /// The answers to a query of the history.
  public func history(_ query: HistoryQuery) -> QuakeHistory {
    QuakeHistory(query, of: self) { [settings] wake in
      try HistorySource(query, of: settings, wake: wake)
    }
  }

  private func changes(from start: ReconnectingFollower.Start, filter: QuakeFilter) -> QuakeChanges
  {
    QuakeChanges { [settings] wake in
      ChangePageSource(ReconnectingFollower(settings, wake: wake, start: start), filter: filter)
    }
  }

  /// Runs a query on a thread of its own, over a connection of its own.
  package func ask<Answer: Sendable>(
    _ question: @escaping @Sendable (Connection) throws -> Answer
  ) async throws -> Answer {
    var iterator = PullIterator<Answer> { [settings] wake in
      OneShotQuery(settings, wake: wake, question)
    }
    guard let answer = try await iterator.next() else { throw CancellationError() }
    return answer
  }
}
