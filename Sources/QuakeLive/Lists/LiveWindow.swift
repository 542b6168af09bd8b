public import QuakeModel
public import QuakeQuery

/// A window of a list of events that is kept up to date: the rows that a view shows, however long the list is.
///
/// ```swift
/// var query = EventQuery()
/// query.order = [.greatestFirst]
/// query.limit = 50
/// for try await update in database.liveWindow(query) {
///   show(update.quakes, of: update.count)
/// }
/// ```
///
/// The window begins after the query's `after` and has at most `limit` events. To scroll, begin another window
/// with the `next` of an update as its `after`. The events, their number and the token of an update belong to
/// one moment.
///
/// `LiveQuakes` keeps the whole list in memory and applies the changes to it. A window keeps only its own rows:
/// after changes that can concern the list, the server selects them again. All transactions that were committed
/// since the consumer last asked become one update; if the window and the number of events are the same after
/// them, there is none. Back-pressure, lost connections, cancellation and errors are as documented for
/// `QuakeChanges`.
public struct LiveWindow: AsyncSequence, Sendable {
  /// A window, and its difference from the one before.
  public struct Update: Sendable {
    /// Counts the updates of an iterator, from 0.
    public let generation: Int
    /// The newest transaction that the window shows.
    public let token: ChangeToken
    /// The number of events in the whole list.
    public let count: Int64
    /// The events of the window.
    public let quakes: [QuakeRecord]
    /// Where the next window begins; nil: there is none.
    public let next: EventCursor?
    /// The difference from the update before; in the first, from an empty window.
    public let difference: QuakeDifference
    /// Why the history could not be followed up to here; nil if it was followed. See `LiveQuakes`.
    public let reset: StoreError?
  }

  /// The element of the sequence.
  public typealias Element = Update

  let makeSource: PullThread<Update>.MakeSource

  /// Begins a window of its own, with the first `next()`.
  public func makeAsyncIterator() -> PullIterator<Update> {
    PullIterator(makeSource)
  }
}
