internal import Postgres
internal import QuakeHistory
public import QuakeModel
public import QuakeQuery

extension QuakeDatabase {
  /// The newest token; `beginning` if nothing has ever changed.
  ///
  /// - Throws: As `check()`.
  public func latestToken() async throws -> ChangeToken {
    try await withConnection { try HistoryReader.latestToken(over: $0) }
  }

  /// The changes to the events of a query, as they are committed, without an end.
  ///
  /// - Parameters:
  ///   - query: The query, of which only the filter counts. Its conditions on events hold if the event met them
  ///     before or after the change.
  ///   - token: The transaction after which to begin, such as `EventList.token`.
  public func changes(
    _ query: EventQuery = EventQuery(), after token: ChangeToken
  ) -> EventChanges {
    changes(query, from: .after(HistoryCursor(token: token)))
  }

  /// The changes to the events of a query, as they are committed, without an end.
  ///
  /// - Parameters:
  ///   - query: The query, of which only the filter counts. Its conditions on events hold if the event met them
  ///     before or after the change.
  ///   - cursor: That of the last change that has been processed (`Change.cursor`), or the end of a batch
  ///     (`ChangeBatch.cursor`); nil: begins when the sequence is first asked.
  public func changes(
    _ query: EventQuery = EventQuery(), after cursor: HistoryCursor? = nil
  ) -> EventChanges {
    changes(query, from: cursor.map { .after($0) } ?? .now)
  }

  private func changes(
    _ query: EventQuery, from start: ReconnectingFollower.Start
  ) -> EventChanges {
    EventChanges { wake in
      ChangePageSource(
        ReconnectingFollower(self, wake: wake, start: start), filter: query.filter)
    }
  }
}

/// The committed changes after a cursor, in commit order, each exactly once, without an end: after the last
/// one the sequence waits for the next to be committed.
///
/// ```swift
/// for try await change in database.changes(query, after: token) {
///   print(change.op, change.code ?? "", change.transaction.token)
/// }
/// ```
///
/// Each iterator has a connection and a thread of its own, from its first `next()` until it is dropped.
///
/// - **Back-pressure.** The history is read when the consumer asks, a page of some hundreds of changes
///   at a time. However slow the consumer and however large the backlog, or a single transaction in it,
///   memory is bounded. There is no open transaction between two pages, and after 250 ms without a
///   demand no listener that would pin the server's notification queue. Under load the stream switches
///   from LISTEN to polling.
/// - **Lost connections** are made again, with growing pauses up to 5 s, and the stream resumes exactly
///   where it was. Only the first connection must succeed.
/// - **Cancelling the task** ends `next()` at once, whether it waits, connects or reads, with
///   `CancellationError`; the connection is closed. So does leaving the loop, which drops the iterator.
/// - **Errors** end the stream: `StoreError` of kind `token` if the cursor is not one of the database's
///   history, or no longer, of kind `schema` if the schema is not the one this library was built for;
///   `PostgresError` for all other errors of the server.
public struct EventChanges: AsyncSequence, Sendable {
  /// The element of the sequence.
  public typealias Element = Change

  /// The same changes a page at a time, with the cursor after each page.
  public let batches: Batches

  init(_ makeSource: @escaping PullThread<ChangeBatch>.MakeSource) {
    batches = Batches(makeSource: makeSource)
  }

  /// Begins at the sequence's cursor, with the first `next()`.
  public func makeAsyncIterator() -> Iterator {
    Iterator(batches: batches.makeAsyncIterator())
  }

  /// Hands the changes over one by one.
  public struct Iterator: AsyncIteratorProtocol {
    private var batches: PullIterator<ChangeBatch>
    private var changes: [Change] = []
    private var index = 0

    init(batches: PullIterator<ChangeBatch>) {
      self.batches = batches
    }

    /// The next change; nil after an error.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Change? {
      try Task.checkCancellation()
      if index == changes.count {
        // Release the old page before the next one takes memory.
        changes = []
        index = 0
        guard let batch = try await batches.next(isolation: actor) else { return nil }
        changes = batch.changes
      }
      defer { index += 1 }
      return changes[index]
    }
  }

  /// The changes a page at a time; the rest is as documented for `EventChanges`.
  public struct Batches: AsyncSequence, Sendable {
    /// The element of the sequence.
    public typealias Element = ChangeBatch

    let makeSource: PullThread<ChangeBatch>.MakeSource

    /// Begins at the sequence's cursor, with the first `next()`.
    public func makeAsyncIterator() -> PullIterator<ChangeBatch> {
      PullIterator(makeSource)
    }
  }
}

/// The changes of one page of the history: up to some hundreds, in commit order.
///
/// A batch may end within a transaction; the next one then begins within it.
public struct ChangeBatch: Hashable, Sendable {
  /// The changes that passed the filter, one at least.
  public let changes: [Change]
  /// The cursor after this batch, and after changes that the filter dropped. To resume after the batch,
  /// pass it to `QuakeDatabase.changes(_:after:)`.
  public let cursor: HistoryCursor
}

/// Reads the changes that pass a filter, a page at a time, on demand.
struct ChangePageSource: PullSource {
  private let follower: ReconnectingFollower
  private let filter: EventFilter

  init(_ follower: ReconnectingFollower, filter: EventFilter) {
    self.follower = follower
    self.filter = filter
  }

  mutating func next() throws -> ChangeBatch? {
    while true {
      var changes: [Change] = []
      _ = try follower.readPage(waiting: true) { change in
        if filter.accepts(change) { changes.append(change) }
      }
      if !changes.isEmpty, let cursor = follower.cursor {
        return ChangeBatch(changes: changes, cursor: cursor)
      }
    }
  }

  mutating func pause() {
    follower.pause()
  }
}

/// Reads the answer to a query of the history, a page at a time, on demand.
struct HistorySource: PullSource {
  private let connection: Connection
  private var reader: HistoryQueryReader
  private var isAtEnd = false

  init(_ request: HistoryQuery, of database: QuakeDatabase, wake: Int32) throws {
    connection = try database.connect(wake: wake)
    _ = try SessionKind.of(connection) { () throws(PostgresError) in
      try Connection(database.settings, wake: wake)
    }
    reader = try HistoryQueryReader(request, over: connection)
  }

  mutating func next() throws -> ChangeBatch? {
    var changes: [Change] = []
    while changes.isEmpty, !isAtEnd {
      isAtEnd = try reader.readPage { changes.append($0) }
    }
    return changes.last.map { ChangeBatch(changes: changes, cursor: $0.cursor) }
  }

  /// Receives the prefetched page, whose statement would keep its snapshot. If the connection is lost, the
  /// next page fails.
  mutating func pause() {
    _ = try? connection.finishPrefetch()
  }
}
