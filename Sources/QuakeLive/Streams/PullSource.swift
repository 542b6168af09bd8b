/// What a thread of its own produces for one consumer, an element at a time, each when it is asked for.
///
/// It is made, used and destroyed on that thread, and may block there. A descriptor it is given when it
/// is made becomes readable when the consumer is gone; then it must come to an end soon, by throwing
/// whatever it likes.
protocol PullSource<Element> {
  associatedtype Element: Sendable

  /// Produces the next element; nil: there is none any more.
  mutating func next() throws -> Element?

  /// The consumer has not asked for a while. Must not wait for long.
  mutating func rest()
}
