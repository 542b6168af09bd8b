public import QuakeModel

/// A list of events that is kept up to date: first the list as it is, then, each time it has changed,
/// the new list and what leads to it from the one before.
///
/// ```swift
/// var rows: [Row] = []
/// for try await update in database.liveQuakes(order: .timeDescending, filter: filter) {
///   update.difference.apply(to: &rows) { Row(update.quakes[$0]) }
/// }
/// ```
///
/// All transactions that were committed since the consumer last asked become **one** difference, however
/// many they are; what they undo among themselves is not in it, and when nothing is left of them there
/// is no update at all. An event that begins or ceases to meet the filter comes as an insertion or a
/// deletion.
///
/// When the history cannot be followed any more (the database was restored, or what was committed while
/// the connection was lost has been purged) the list is read anew, and the update that leads to it has
/// `reset` set. Everything else that is said of `QuakeChanges`, about back-pressure, lost connections,
/// cancellation and errors, holds here too.
///
/// The list is in memory: an event takes about 1 kB, depending on its texts.
public struct LiveQuakes: AsyncSequence, Sendable {
  /// A list, and what has changed since the one before.
  public struct Update: Sendable {
    /// Counts the updates of an iterator, from 0.
    public let generation: Int
    /// The newest transaction that the list shows.
    public let token: ChangeToken
    /// The events that meet the filter, in the order asked for.
    public let quakes: [QuakeRecord]
    /// What leads here from the update before; from an empty list in the first.
    public let difference: QuakeDifference
    /// Why the list was read anew instead of being followed; nil: it was not. Such an update also comes
    /// when the difference is empty, because the tokens from here on belong to another history.
    public let reset: StoreError?
  }

  /// What an iterator gives.
  public typealias Element = Update

  let makeSource: PullThread<Update>.MakeSource

  /// Begins a list of its own, with the first `next()`.
  public func makeAsyncIterator() -> PullIterator<Update> {
    PullIterator(makeSource)
  }
}
