/// What is known about a message besides its words, for programs that read the log; people do not see
/// it.
///
/// ```
/// diagnostics.note("all_hour: 7 seen", fields: ["feed": "all_hour", "seen": .integer(7)])
/// ```
///
/// A field whose value is nil is left out. Fields end up in log files: nothing secret goes into them.
public struct LogFields: Sendable, ExpressibleByDictionaryLiteral {
  /// A field's value.
  public enum FieldValue: Sendable, Equatable, ExpressibleByStringLiteral {
    /// Words.
    case text(String)
    /// A whole number.
    case integer(Int64)
    /// A number; NaN and the infinities, which JSON cannot hold, become null.
    case number(Double)
    /// True or false.
    case flag(Bool)

    /// Words.
    public init(stringLiteral value: String) { self = .text(value) }
  }

  /// The names that each message has anyway.
  static let reserved = ["time", "level", "tool", "message", "detail", "hint"]

  private(set) var members: [(name: String, value: FieldValue)] = []

  /// Fields in this order; each name once, and none that each message has anyway.
  public init(dictionaryLiteral elements: (String, FieldValue?)...) {
    for (name, value) in elements {
      precondition(
        !Self.reserved.contains(name) && !members.contains { $0.name == name },
        "field \(name) is there already")
      if let value { members.append((name, value)) }
    }
  }
}
