public import QuakeModel

/// The committed changes after a cursor, in commit order, each exactly once, without an end: after the last
/// one the sequence waits for the next to be committed.
///
/// ```swift
/// for try await change in database.changes(after: token, filter: filter) {
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
public struct QuakeChanges: AsyncSequence, Sendable {
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
    public mutating func next() async throws -> Change? {
      try await next(isolation: nil)
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

  /// The changes a page at a time; the rest is as documented for `QuakeChanges`.
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
