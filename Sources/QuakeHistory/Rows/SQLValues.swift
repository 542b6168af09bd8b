public import Postgres
public import QuakeModel

extension Timestamp: SQLEncodable, SQLDecodable {
  /// A `timestamptz`.
  public var sqlParameter: Parameter { .text(description) }

  /// A `timestamptz`; the first and the last instant for the infinite ones. In the text form, one of the years
  /// 1 to 9999.
  public init?(_ value: SQLValue) {
    switch value {
    case .null: return nil
    case .binary(let value):
      guard let microseconds = value.timestamp else { return nil }
      self.init(microseconds: microseconds)
    case .text(let bytes):
      switch value.string {
      case "-infinity": self.init(microseconds: .min)
      case "infinity": self.init(microseconds: .max)
      default: self.init(iso8601: bytes)
      }
    }
  }
}

extension ChangeToken: SQLEncodable, SQLDecodable {
  /// The text of a token.
  public var sqlParameter: Parameter { .text(description) }

  /// The text of a token.
  public init?(_ value: SQLValue) {
    guard let text = value.string else { return nil }
    self.init(text)
  }
}
