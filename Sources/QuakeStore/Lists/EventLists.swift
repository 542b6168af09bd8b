internal import Postgres
internal import QuakeHistory
public import QuakeModel
public import QuakeQuery

/// Lists of events. Each call has a connection of its own; cancelling its task cancels the statement.
extension QuakeDatabase {
  /// The events of a query, at most its `limit`, with the token after which changes to them can be followed and the
  /// cursor of the next page. They belong to one moment.
  ///
  /// - Throws: As `check()`; `StoreError` of kind `token` if `asOf` is not in this history, or no longer; of
  ///   kind `badData` if `after` belongs to another order; of kind `usage` if the limit or the offset is negative, or a
  ///   condition compares a column with a value of another kind.
  public func events(_ query: EventQuery = EventQuery()) async throws -> EventList {
    try await withConnection { connection in
      try connection.atOneMoment {
        let token = try HistoryReader.latestToken(over: connection)
        let page = try query.page(over: connection)
        return EventList(token: token, events: page.events, next: page.next)
      }
    }
  }

  /// The events of a query in pages, each read when the consumer asks for it, without an open transaction in
  /// between: an event that is inserted or moved behind the last page meanwhile is part of a later one.
  ///
  /// - Parameters:
  ///   - query: The query; its `limit` counts the events of all pages.
  ///   - size: The most events of a page.
  public func pages(_ query: EventQuery, size: Int = 500) -> EventPages {
    precondition(size > 0, "a page has at least one event")
    return EventPages { wake in
      EventPageSource(query, size: Int64(size), over: try self.connect(wake: wake))
    }
  }

  /// How many events a query selects, regardless of its `after`, `limit` and `offset`.
  ///
  /// - Throws: As `events(_:)`.
  public func count(_ query: EventQuery) async throws -> Int64 {
    try await withConnection { try query.count(over: $0) }
  }

  /// The events of a query grouped by a key: those of days, hours, months and magnitudes in ascending order,
  /// others the largest first; at most the query's `limit`. Only earthquakes count, unless the query names event
  /// types or the key is the type.
  ///
  /// - Parameters:
  ///   - column: The column with numbers to summarise.
  ///   - everyType: Whether events of every type count.
  /// - Throws: As `events(_:)`; of kind `usage` also if the column has no numbers, or classes have no width.
  public func groups(
    _ query: EventQuery, by key: EventKey, of column: EventColumn = .magnitude,
    everyType: Bool = false
  ) async throws -> [EventGroup] {
    try await withConnection { connection in
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
  /// - Throws: As `events(_:)`; of kind `usage` also if the column has no numbers.
  public func statistics(
    _ query: EventQuery, of column: EventColumn = .magnitude,
    completeness: BValue.Completeness = .maximumCurvature, everyType: Bool = false
  ) async throws -> EventStatistics {
    try await withConnection {
      try query.statistics(
        of: column, completeness: completeness, everyType: everyType, over: $0)
    }
  }

  /// The events of a query in sections: ordered by a key, and within its values by the query's order. The query's `limit`
  /// counts events; its `after` and `offset` do not count. Times and magnitudes are in descending order.
  ///
  /// - Throws: As `events(_:)`.
  public func sections(
    _ query: EventQuery, by key: EventKey
  ) async throws -> [(key: EventKey.Value?, events: [EventRecord])] {
    try await withConnection { connection in
      try query.sections(by: key, over: connection).map { ($0.key, $0.events) }
    }
  }
}

/// Events as of a token, after which changes to them can be followed without a gap or a repeat.
public struct EventList: Hashable, Sendable {
  /// The newest transaction when the events were read. They show it, unless the query asks for the past.
  public let token: ChangeToken
  /// The events, in the order of the query.
  public let events: [EventRecord]
  /// The query's `after` for the next page; nil: this one ends the list.
  public let next: EventCursor?
}

/// The events of a query, a page at a time.
///
/// ```swift
/// for try await page in database.pages(EventQuery(where: .magnitude >= 5)) {
///   for event in page { ... }
/// }
/// ```
///
/// Each iterator has a connection of its own and holds one page. Cancellation works as for `EventChanges`. A lost
/// connection ends the pages with `PostgresError`; other errors are those of `QuakeDatabase.events(_:)`.
public struct EventPages: AsyncSequence, Sendable {
  /// The element of the sequence.
  public typealias Element = [EventRecord]

  private let makeSource: PullThread<[EventRecord]>.MakeSource

  init(_ makeSource: @escaping PullThread<[EventRecord]>.MakeSource) {
    self.makeSource = makeSource
  }

  /// Begins with the first page, with the first `next()`.
  public func makeAsyncIterator() -> PullIterator<[EventRecord]> { PullIterator(makeSource) }
}

/// Reads the pages of a query, one for each demand.
struct EventPageSource: PullSource {
  private let connection: Connection
  private let size: Int64
  private var query: EventQuery
  private var remaining: Int64?
  private var isAtEnd = false

  init(_ query: EventQuery, size: Int64, over connection: Connection) {
    self.connection = connection
    self.query = query
    self.size = size
    remaining = query.limit
  }

  mutating func next() throws -> [EventRecord]? {
    guard !isAtEnd, remaining != 0 else { return nil }
    query.limit = min(size, remaining ?? size)
    let page = try query.page(over: connection)
    remaining = remaining.map { $0 - Int64(page.events.count) }
    query.after = page.next
    query.offset = 0
    isAtEnd = page.next == nil
    return page.events.isEmpty ? nil : page.events
  }

  mutating func pause() {}
}

// In this module, because a program imports no other one: Swift finds operators only in modules that are imported whole.

extension EventColumn {
  /// The number in the column is at least this.
  public static func >= (column: EventColumn, least: Double) -> EventCondition {
    .atLeast(column, least)
  }

  /// The number in the column is at most this.
  public static func <= (column: EventColumn, most: Double) -> EventCondition {
    .atMost(column, most)
  }

  /// The instant in the column is this or later.
  public static func >= (column: EventColumn, earliest: Timestamp) -> EventCondition {
    .notBefore(column, earliest)
  }

  /// The instant in the column is before this.
  public static func < (column: EventColumn, end: Timestamp) -> EventCondition {
    .before(column, end)
  }

  /// The text in the column is this, in any case of ASCII letters.
  public static func == (column: EventColumn, text: String) -> EventCondition {
    .text(column, isOneOf: [text])
  }
}

extension EventCondition {
  /// Both hold.
  public static func && (left: EventCondition, right: EventCondition) -> EventCondition {
    .all([left, right])
  }

  /// One of them holds, or both do.
  public static func || (left: EventCondition, right: EventCondition) -> EventCondition {
    .any([left, right])
  }
}
