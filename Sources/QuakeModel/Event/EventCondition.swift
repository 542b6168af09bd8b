/// A condition on the values of an event, for columns without a member of their own in `QuakeFilter`.
///
/// A condition on a value does not hold for an event without that value.
public indirect enum EventCondition: Hashable, Sendable {
  /// The number in the column is at least this.
  case atLeast(QuakeColumn, Double)
  /// The number in the column is at most this.
  case atMost(QuakeColumn, Double)
  /// The instant in the column is this or later.
  case notBefore(QuakeColumn, Timestamp)
  /// The text in the column, with the capital letters of ASCII as small ones, is one of these; see
  /// `text(_:isOneOf:)`.
  case foldedText(QuakeColumn, Set<String>)
  /// The column holds a list, with a comma before, between and after its entries, and this is an entry.
  case lists(QuakeColumn, String)
  /// The column has a value.
  case isPresent(QuakeColumn)
  /// The column has no value.
  case isMissing(QuakeColumn)
  /// All of these hold.
  case all([EventCondition])
  /// One of these holds.
  case any([EventCondition])

  /// The text in the column is one of these, in any case of ASCII letters.
  public static func text(
    _ column: QuakeColumn, isOneOf texts: some Sequence<String>
  ) -> EventCondition {
    .foldedText(column, Set(texts.map(LetterCase.foldedASCII)))
  }

  /// An entry with its commas; nil if no list can have it.
  package static func listed(_ entry: String) -> String? {
    entry.isEmpty || entry.utf8.contains(UInt8(ascii: ",")) || entry.utf8.contains(0)
      ? nil : ",\(entry),"
  }

  /// Whether an event meets the condition.
  func accepts(_ event: QuakeRecord) -> Bool {
    switch self {
    case .atLeast(let column, let least): Self.number(column, event).map { $0 >= least } ?? false
    case .atMost(let column, let most): Self.number(column, event).map { $0 <= most } ?? false
    case .notBefore(let column, let time): event.timestamp(column).map { $0 >= time } ?? false
    case .foldedText(let column, let texts):
      event.text(column).map { texts.contains(LetterCase.foldedASCII($0)) } ?? false
    case .lists(let column, let entry):
      Self.listed(entry).map { listed in
        event.withUTF8(column) { list in list.map { Self.contains($0, Array(listed.utf8)) } ?? false
        }
      } ?? false
    case .isPresent(let column): event.has(column)
    case .isMissing(let column): !event.has(column)
    case .all(let conditions): conditions.allSatisfy { $0.accepts(event) }
    case .any(let conditions): conditions.contains { $0.accepts(event) }
    }
  }

  private static func contains(_ list: UnsafeRawBufferPointer, _ listed: [UInt8]) -> Bool {
    guard listed.count <= list.count else { return false }
    return (0...(list.count - listed.count)).contains { start in
      list[start..<(start + listed.count)].elementsEqual(listed)
    }
  }

  private static func number(_ column: QuakeColumn, _ event: QuakeRecord) -> Double? {
    column.kind == .float8 ? event.double(column) : event.integer(column).map(Double.init)
  }
}
