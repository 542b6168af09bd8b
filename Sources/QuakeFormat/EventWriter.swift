public import QuakeModel

/// Writes one document of events to a buffer that its owner empties: `begin`, `event` for each event, `end`.
///
/// The writer never reads back what it has written, so the owner may drain it after any call, and memory
/// depends on the longest event alone.
public protocol EventWriter {
  /// How many bytes wait to be drained.
  var count: Int { get }

  /// Writes what comes before the events.
  mutating func begin(_ head: DocumentHead)

  /// Writes an event. An event that is withdrawn or superseded is marked in a way that an import
  /// recognises.
  ///
  /// - Parameter revision: How often the event has been written; nil: not known. QuakeML states it.
  mutating func event(_ event: QuakeRecord, revision: Int64?)

  /// Writes an event that is preferred to others of the same earthquake. Formats that cannot name these
  /// write the event alone.
  mutating func event(_ event: QuakeRecord, revision: Int64?, others: [String])

  /// Writes what comes after the events.
  mutating func end()

  /// Hands over what has been written, and empties the buffer.
  mutating func drain(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows
}

extension EventWriter {
  /// Writes the event alone.
  public mutating func event(_ event: QuakeRecord, revision: Int64?, others: [String]) {
    self.event(event, revision: revision)
  }
}
