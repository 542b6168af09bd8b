public import QuakeModel

/// A list of events that is kept up to date: first the present list, then, after each change, the new list
/// and its difference from the one before.
///
/// ```swift
/// var rows: [Row] = []
/// for try await update in database.liveQuakes(order: .timeDescending, filter: filter) {
///   update.difference.apply(to: &rows) { Row(update.quakes[$0]) }
/// }
/// ```
///
/// All transactions that were committed since the consumer last asked become **one** difference, however
/// many they are. It holds their net changes; if there are none, there is no update. An event that begins or
/// ceases to meet the filter is an insertion or a deletion.
///
/// When the history cannot be followed any more (the database was restored, or changes committed while the
/// connection was lost have been purged), the list is read again, and that update has `reset` set.
/// Back-pressure, lost connections, cancellation and errors are as documented for `QuakeChanges`.
///
/// The list is in memory: an event takes about 1 kB, depending on its texts.
public struct LiveQuakes: AsyncSequence, Sendable {
  /// A list, and its difference from the one before.
  public struct Update: Sendable {
    /// Counts the updates of an iterator, from 0.
    public let generation: Int
    /// The newest transaction that the list shows.
    public let token: ChangeToken
    /// The events that meet the filter, in the requested order.
    public let quakes: [QuakeRecord]
    /// The difference from the update before; in the first, from an empty list.
    public let difference: QuakeDifference
    /// Why the list was read again instead of being followed; nil if it was followed. There is such an update
    /// even if the difference is empty, because the tokens from here on belong to another history.
    public let reset: StoreError?
  }

  /// The element of the sequence.
  public typealias Element = Update

  let makeSource: PullThread<Update>.MakeSource

  /// Begins a list of its own, with the first `next()`.
  public func makeAsyncIterator() -> PullIterator<Update> {
    PullIterator(makeSource)
  }
}
