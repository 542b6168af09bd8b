internal import QuakeHistory
public import QuakeModel

/// The answers to a query of the history: changes, whole transactions, codes, or a count.
///
/// ```swift
/// var request = HistoryQuery()
/// request.after = .token(token)
/// request.filter.minimumMagnitude = 6
/// for try await change in database.history(request).changes { ... }
/// ```
///
/// Each answer has a connection of its own, and holds the changes that were committed when it began.
/// Changes and transactions are read when the consumer asks, a page at a time, without an open transaction
/// in between. Cancellation works as for `QuakeChanges`. A lost connection ends the answer with
/// `PostgresError`. `StoreError` of kind `token` means that the history does not reach the beginning or the
/// end of the query.
public struct QuakeHistory: Sendable {
  /// The changes, in the order of the query.
  public let changes: Changes
  private let database: QuakeDatabase
  private let request: HistoryQuery

  init(
    _ request: HistoryQuery, of database: QuakeDatabase,
    _ makeSource: @escaping PullThread<ChangeBatch>.MakeSource
  ) {
    changes = Changes(makeSource: makeSource)
    self.database = database
    self.request = request
  }

  /// The transactions, in the order of the query, each with those of its changes that the query selects. The
  /// largest transaction must fit into memory.
  public var transactions: Transactions { Transactions(changes: changes) }

  /// How many changes there are, at most the query's limit.
  public func count() async throws -> Int64 {
    try await database.ask { [request] in try request.count(over: $0) }
  }

  /// The codes of the events with changes, each once, in the order of their bytes.
  public func codes() async throws -> [String] {
    try await database.ask { [request] connection in
      var codes: [String] = []
      try request.codes(over: connection) { codes.append($0) }
      return codes
    }
  }

  /// The changes of a history, to its end.
  public struct Changes: AsyncSequence, Sendable {
    /// The element of the sequence.
    public typealias Element = Change

    let makeSource: PullThread<ChangeBatch>.MakeSource

    /// Begins an answer, with the first `next()`.
    public func makeAsyncIterator() -> QuakeChanges.Iterator {
      QuakeChanges.Iterator(batches: PullIterator(makeSource))
    }
  }

  /// A transaction with changes.
  public struct Transaction: Sendable {
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

    /// Begins an answer, with the first `next()`.
    public func makeAsyncIterator() -> Iterator {
      Iterator(changes: changes.makeAsyncIterator())
    }

    /// Gathers the changes of a transaction.
    public struct Iterator: AsyncIteratorProtocol {
      private var changes: QuakeChanges.Iterator
      /// The first change of the next transaction.
      private var first: Change?

      init(changes: QuakeChanges.Iterator) {
        self.changes = changes
      }

      /// The next transaction; nil at the end and after an error.
      public mutating func next() async throws -> Transaction? {
        try await next(isolation: nil)
      }

      /// The next transaction; nil at the end and after an error.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws -> Transaction? {
        if first == nil { first = try await changes.next(isolation: actor) }
        guard let first else { return nil }
        self.first = nil
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
