internal import Postgres
public import QuakeModel
public import QuakeQuery
internal import QuakeSchema

/// Queries of the events. Each call has a connection of its own; cancelling its task cancels the statement.
extension QuakeDatabase {
  /// The events of a query, at most its `limit`, with the cursor of the next page.
  ///
  /// - Throws: As `check()`; `StoreError` of kind `token` if `asOf` is not in this history, or no longer; of
  ///   kind `badData` if `after` belongs to another order.
  public func page(_ query: EventQuery) async throws -> EventPage {
    try await ask { try query.page(over: $0) }
  }

  /// The events of a query in pages, each read when the consumer asks for it, without an open transaction in
  /// between: an event that is inserted or moved behind the last page meanwhile is part of a later one.
  ///
  /// - Parameters:
  ///   - query: The query; its `limit` counts the events of all pages.
  ///   - size: The most events of a page.
  public func pages(_ query: EventQuery, size: Int = 500) -> EventPages {
    precondition(size > 0, "a page has at least one event")
    return EventPages { [settings] wake in
      try EventPageSource(query, size: Int64(size), of: settings, wake: wake)
    }
  }

  /// How many events a query selects, regardless of its `after` and `limit`.
  ///
  /// - Throws: As `page(_:)`.
  public func count(_ query: EventQuery) async throws -> Int64 {
    try await ask { try query.count(over: $0) }
  }

  /// The events of a query grouped by a key: those of days, hours, months and magnitudes in ascending order,
  /// others the largest first; at most the query's `limit`. Only earthquakes count, unless the query names event
  /// types or the key is the type.
  ///
  /// - Parameters:
  ///   - column: The column with numbers to summarise.
  ///   - everyType: Whether events of every type count.
  /// - Throws: As `page(_:)`.
  public func groups(
    _ query: EventQuery, by key: EventKey, of column: QuakeColumn = .magnitude,
    everyType: Bool = false
  ) async throws -> [EventGroup] {
    try await ask { connection in
      var groups: [EventGroup] = []
      try query.groups(by: key, of: column, everyType: everyType, over: connection) {
        groups.append($0)
      }
      return groups
    }
  }

  /// Figures about all events of a query. Only earthquakes count, unless the query names event types.
  ///
  /// - Parameters:
  ///   - column: The column with numbers to summarise.
  ///   - completeness: How the magnitude of completeness for the b-value is found; a number is the magnitude.
  ///   - everyType: Whether events of every type count.
  /// - Throws: As `page(_:)`.
  public func statistics(
    _ query: EventQuery, of column: QuakeColumn = .magnitude,
    completeness: Completeness = .maximumCurvature, everyType: Bool = false
  ) async throws -> EventStatistics {
    try await ask {
      try query.statistics(
        of: column, completeness: completeness, everyType: everyType, over: $0)
    }
  }

  /// The events of a query in sections: ordered by a key, and within its values by the query's order.
  ///
  /// - Throws: As `page(_:)`.
  public func sections(_ query: EventQuery, by key: EventKey) async throws -> [EventSection] {
    try await ask { try query.sections(by: key, over: $0) }
  }

  /// A window of the query's list that is kept up to date: its first `limit` events after `after`.
  ///
  /// - Parameter query: The query; without a limit it has 50 events. `asOf` and `codes` are ignored.
  public func liveWindow(_ query: EventQuery) -> LiveWindow {
    var query = query
    query.limit = query.limit ?? 50
    query.asOf = nil
    query.codes = nil
    return LiveWindow { [settings, query] wake in
      WindowSource(ReconnectingFollower(settings, wake: wake, start: .now), query: query)
    }
  }
}

/// The events of a query, a page at a time.
///
/// ```swift
/// var query = EventQuery()
/// query.order = [.greatestFirst]
/// for try await page in database.pages(query) {
///   for event in page.events { ... }
/// }
/// ```
///
/// Each iterator has a connection of its own and holds one page. Cancellation works as for `QuakeChanges`.
public struct EventPages: AsyncSequence, Sendable {
  /// The element of the sequence.
  public typealias Element = EventPage

  private let makeSource: PullThread<EventPage>.MakeSource

  init(_ makeSource: @escaping PullThread<EventPage>.MakeSource) {
    self.makeSource = makeSource
  }

  /// Begins with the first page, with the first `next()`.
  public func makeAsyncIterator() -> PullIterator<EventPage> { PullIterator(makeSource) }
}

/// Reads the pages of a query, one for each demand.
struct EventPageSource: PullSource {
  private let connection: Connection
  private let size: Int64
  private var query: EventQuery
  private var remaining: Int64?
  private var isAtEnd = false

  init(
    _ query: EventQuery, size: Int64, of settings: ConnectionSettings, wake: Int32
  ) throws {
    connection = try Connection(settings, wake: wake)
    connection.interrupt = wake
    try Migrator.checkSchema(of: connection)
    self.query = query
    self.size = size
    remaining = query.limit
  }

  mutating func next() throws -> EventPage? {
    guard !isAtEnd, remaining != 0 else { return nil }
    query.limit = min(size, remaining ?? size)
    let page = try query.page(over: connection)
    remaining = remaining.map { $0 - Int64(page.events.count) }
    query.after = page.next
    isAtEnd = page.next == nil
    return page.events.isEmpty ? nil : page
  }

  mutating func pause() {}
}
