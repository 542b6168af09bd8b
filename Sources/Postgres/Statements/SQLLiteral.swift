internal import CLibpq

/// A value as part of a statement's text, for the statements that take no parameters: COPY.
///
/// It is made only of typed values: a number, an instant, a boolean, or a text that libpq has quoted. Like a
/// parameter, it has the type that its place in the statement gives it; only an instant has its own.
public struct SQLLiteral: Hashable, Sendable {
  /// The literal.
  public let text: String

  private init(text: String) {
    self.text = text
  }

  /// Null.
  public static let null = SQLLiteral(text: "null")

  /// An integer.
  public init(integer value: Int64) {
    text = "'\(value)'"
  }

  /// A double that is parsed to the same double.
  public init(double value: Double) {
    // The text form has digits, signs, a point and letters, and no quote.
    text = "'\(Parameter.double(value).textForm ?? "")'"
  }

  /// A boolean.
  public init(bool value: Bool) {
    text = value ? "true" : "false"
  }

  /// A `timestamptz`, from microseconds since 1970-01-01T00:00:00Z; the first and the last `Int64` are the
  /// infinite ones.
  public init(timestamp microseconds: Int64) {
    let value: String
    switch microseconds {
    case .min: value = "-infinity"
    case .max: value = "infinity"
    default: value = Self.instant(microseconds)
    }
    text = "'\(value)'::pg_catalog.timestamptz"
  }

  private static let dayMicroseconds: Int64 = 86_400_000_000

  /// In UTC, proleptic Gregorian, with a year before the first as PostgreSQL writes it.
  private static func instant(_ microseconds: Int64) -> String {
    let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: dayMicroseconds)
    let day = remainder < 0 ? quotient - 1 : quotient
    let rest = remainder < 0 ? remainder + dayMicroseconds : remainder
    // Days since 0000-03-01, in eras of 400 years; the year begins with March.
    let shifted = day + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
    func padded(_ value: Int64, _ digits: Int) -> String {
      let text = "\(value)"
      return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
    let seconds = rest / 1_000_000
    return padded(year > 0 ? year : 1 - year, 4)
      + "-" + padded(month < 10 ? month + 3 : month - 9, 2)
      + "-" + padded(dayOfYear - (153 * month + 2) / 5 + 1, 2)
      + " " + padded(seconds / 3600, 2) + ":" + padded(seconds / 60 % 60, 2)
      + ":" + padded(seconds % 60, 2) + "." + padded(rest % 1_000_000, 6) + "+00"
      + (year > 0 ? "" : " BC")
  }
}

extension Connection {
  /// A text as a literal, quoted by libpq for this connection.
  ///
  /// - Throws: `PostgresError` of kind `server` for a text with a NUL, which no value in PostgreSQL can
  ///   have.
  public func literal(text: String) throws(PostgresError) -> SQLLiteral {
    var text = text
    let quoted: String? = text.withUTF8 { utf8 in
      guard !utf8.contains(0) else { return nil }
      let bytes = UnsafeRawBufferPointer(utf8).bindMemory(to: CChar.self)
      // An empty string may have no address.
      let quoted =
        bytes.baseAddress.map { PQescapeLiteral(connection, $0, bytes.count) }
        ?? PQescapeLiteral(connection, "", 0)
      defer { PQfreemem(quoted) }
      return quoted.map { String(cString: $0) }
    }
    guard let quoted else {
      throw PostgresError(
        kind: .server, sqlState: SQLState.characterNotInRepertoire,
        message: "a text with a character that PostgreSQL cannot store")
    }
    return SQLLiteral(quoted: quoted)
  }

  /// The literal for a parameter's value.
  ///
  /// - Throws: `PostgresError` of kind `server` for a text with a NUL.
  public func literal(_ parameter: Parameter) throws(PostgresError) -> SQLLiteral {
    switch parameter {
    case .null: .null
    case .text(let value): try literal(text: value)
    case .integer(let value): SQLLiteral(integer: value)
    case .double(let value): SQLLiteral(double: value)
    case .bool(let value): SQLLiteral(bool: value)
    }
  }
}

extension SQLLiteral {
  /// A literal that `PQescapeLiteral` returned.
  fileprivate init(quoted: String) {
    text = quoted
  }
}
