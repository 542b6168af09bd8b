public import QuakeHistory
public import QuakeModel

/// The history: changes of the past, one event's versions, what is different between two moments, and purges.
extension QuakeDatabase {
  /// The answers to a query of the history.
  public func history(_ query: HistoryQuery = HistoryQuery()) -> HistoryAnswer {
    HistoryAnswer(query, of: self) { try HistorySource(query, of: self, wake: $0) }
  }

  /// The versions of the event that has, or had, this id, the oldest first, as far as the history holds them. If the id
  /// is the code of another event, which was deleted or superseded, the versions of that one come before them. A
  /// truncate that removed an event is a version, too.
  ///
  /// - Throws: As `check()`.
  public func versions(of id: String) async throws -> [EventVersion] {
    try await withConnection { connection in
      let history = EventHistory(connection: connection)
      guard let code = try history.code(of: id) else { return [] }
      var versions: [EventVersion] = []
      if code != id { try history.versions(of: id) { versions.append($0) } }
      try history.versions(of: code) { versions.append($0) }
      return versions
    }
  }

  /// The net change of each event between two points of the history, by code.
  ///
  /// - Parameters:
  ///   - start: The first point.
  ///   - end: The second point; nil: now. If it is the earlier one, the differences would undo what happened.
  /// - Throws: `StoreError` of kind `token` if a point is not in this history, or no longer; otherwise as `check()`.
  public func differences(
    from start: HistoryBound, to end: HistoryBound? = nil
  ) async throws -> [EventDifference] {
    try await withConnection { connection in
      var differences: [EventDifference] = []
      try HistoryDifference.read(from: start, to: end, over: connection) { differences.append($0) }
      return differences
    }
  }

  /// Purges the history up to a point: of the versions up to there, the newest of each event stay. Cursors that the
  /// database stores (those of `quake-watch`) hold the purge back. It removes the versions in batches, so that it
  /// blocks no writer and no reader; a call that is cancelled leaves the rest to the next one.
  ///
  /// - Returns: The oldest token that is valid now.
  /// - Throws: `StoreError` of kind `token` if the point is not in this history; otherwise as `check()`.
  @discardableResult
  public func purge(before point: HistoryBound) async throws -> ChangeToken {
    try await withConnection { connection in
      let bound: Retention.Bound =
        switch point {
        case .token(let token): .token(token)
        case .time(let time): .time(time)
        case .number, .oldest: .token(try point.resolve(over: connection))
        }
      return try Retention(connection: connection).purge(before: bound).floor
    }
  }

  /// Purges the history that is older than a time; see `purge(before:)`.
  @discardableResult
  public func purge(olderThan age: Duration) async throws -> ChangeToken {
    try await withConnection { connection in
      try Retention(connection: connection).purge(before: .age(age)).floor
    }
  }
}

/// The answers to a query of the history: changes, whole transactions, codes, or a count.
///
/// ```swift
/// var query = HistoryQuery()
/// query.after = .token(token)
/// query.filter = EventFilter(where: .magnitude >= 6)
/// for try await change in database.history(query).changes { ... }
/// ```
///
/// Each answer has a connection of its own, and holds the changes that were committed when it began.
/// Changes and transactions are read when the consumer asks, a page at a time, without an open transaction
/// in between. Cancellation works as for `EventChanges`. A lost connection ends the answer with
/// `PostgresError`. `StoreError` of kind `token` means that the history does not reach the beginning or the
/// end of the query.
public struct HistoryAnswer: Sendable {
  /// The changes, in the order of the query.
  public let changes: Changes
  private let database: QuakeDatabase
  private let query: HistoryQuery

  init(
    _ query: HistoryQuery, of database: QuakeDatabase,
    _ makeSource: @escaping PullThread<ChangeBatch>.MakeSource
  ) {
    changes = Changes(makeSource: makeSource)
    self.database = database
    self.query = query
  }

  /// The transactions, in the order of the query, each with those of its changes that the query selects. The
  /// largest transaction must fit into memory.
  public var transactions: Transactions {
    var query = query
    let limit = query.limit
    // The limit counts transactions here. One that is no number of them is an error of the changes.
    if let limit, limit >= 0 { query.limit = nil }
    return Transactions(changes: database.history(query).changes, limit: limit)
  }

  /// How many changes there are, at most the query's limit.
  public func count() async throws -> Int64 {
    try await database.withConnection { [query] in try query.count(over: $0) }
  }

  /// The codes of the events with changes, each once, in the order of their bytes.
  public func codes() async throws -> [String] {
    try await database.withConnection { [query] connection in
      var codes: [String] = []
      try query.codes(over: connection) { codes.append($0) }
      return codes
    }
  }

  /// The changes of a history, to its end.
  public struct Changes: AsyncSequence, Sendable {
    /// The element of the sequence.
    public typealias Element = Change

    let makeSource: PullThread<ChangeBatch>.MakeSource

    /// Begins an answer, with the first `next()`.
    public func makeAsyncIterator() -> EventChanges.Iterator {
      EventChanges.Iterator(batches: PullIterator(makeSource))
    }
  }

  /// A transaction with changes.
  public struct Transaction: Hashable, Sendable {
    /// The transaction; its `changeCount` also counts the changes that the query does not select.
    public let transaction: ChangeTransaction
    /// Those of its changes that the query selects, in the order of the query; one at least.
    public let changes: [Change]
  }

  /// The transactions of a history, to its end.
  public struct Transactions: AsyncSequence, Sendable {
    /// The element of the sequence.
    public typealias Element = Transaction

    let changes: Changes
    let limit: Int64?

    /// Begins an answer, with the first `next()`.
    public func makeAsyncIterator() -> Iterator {
      Iterator(changes: changes.makeAsyncIterator(), remaining: limit)
    }

    /// Gathers the changes of a transaction.
    public struct Iterator: AsyncIteratorProtocol {
      private var changes: EventChanges.Iterator
      /// The first change of the next transaction.
      private var first: Change?
      /// How many transactions may still come; nil: all.
      private var remaining: Int64?

      init(changes: EventChanges.Iterator, remaining: Int64?) {
        self.changes = changes
        self.remaining = remaining
      }

      /// The next transaction; nil at the end and after an error.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws -> Transaction? {
        guard remaining != 0 else { return nil }
        if first == nil { first = try await changes.next(isolation: actor) }
        guard let first else { return nil }
        self.first = nil
        remaining = remaining.map { $0 - 1 }
        var gathered = [first]
        while let change = try await changes.next(isolation: actor) {
          guard change.transaction.token == first.transaction.token else {
            self.first = change
            break
          }
          gathered.append(change)
        }
        return Transaction(transaction: first.transaction, changes: gathered)
      }
    }
  }
}
