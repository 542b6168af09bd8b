/// The machine-readable fields of a message, for programs that read the log. The text format omits them.
///
/// ```
/// diagnostics.note("all_hour: 7 seen", fields: ["feed": "all_hour", "seen": .integer(7)])
/// ```
///
/// A field whose value is nil is left out. Fields are stored in log files, so they must not contain secrets.
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

  /// The names of the members that each message has.
  static let reserved = ["time", "level", "tool", "message", "detail", "hint"]

  private(set) var members: [(name: String, value: FieldValue)] = []

  /// Fields in this order. A name must occur once, and must not be reserved.
  public init(dictionaryLiteral elements: (String, FieldValue?)...) {
    for (name, value) in elements {
      precondition(
        !Self.reserved.contains(name) && !members.contains { $0.name == name },
        "field \(name) is there already")
      if let value { members.append((name, value)) }
    }
  }
}
