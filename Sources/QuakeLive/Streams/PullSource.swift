/// Produces elements for one consumer on a thread of its own, each on demand.
///
/// A source is made, used and destroyed on that thread, and may block there. When it is made it gets a
/// descriptor that becomes readable when the consumer is gone; then it must end soon, by throwing any error.
protocol PullSource<Element> {
  associatedtype Element: Sendable

  /// Produces the next element; nil at the end.
  mutating func next() throws -> Element?

  /// Is called when the consumer has not asked for a while. Must not wait for long.
  mutating func pause()
}
