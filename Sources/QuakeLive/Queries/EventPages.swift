public import QuakeQuery

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
