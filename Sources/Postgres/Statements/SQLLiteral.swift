internal import CLibpq

/// A value as part of a statement's text, for the statements that take no parameters: COPY.
///
/// It is made only of typed values: a number, a boolean, or a text that libpq has quoted. Like a parameter, it has
/// the type that its place in the statement gives it.
struct SQLLiteral: Hashable, Sendable {
  let text: String

  private init(text: String) {
    self.text = text
  }

  static let null = SQLLiteral(text: "null")

  init(integer value: Int64) {
    text = "'\(value)'"
  }

  /// A double that is parsed to the same double.
  init(double value: Double) {
    // The text form has digits, signs, a point and letters, and no quote.
    text = "'\(Parameter.double(value).textForm ?? "")'"
  }

  /// A boolean.
  init(bool value: Bool) {
    text = value ? "true" : "false"
  }
}

extension Connection {
  /// A text as a literal, quoted by libpq for this connection.
  ///
  /// - Throws: `PostgresError` of kind `server` for a text with a NUL, which no value in PostgreSQL can
  ///   have.
  func literal(text: String) throws(PostgresError) -> SQLLiteral {
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
      throw .unstorable
    }
    return SQLLiteral(quoted: quoted)
  }

  /// The literal for a parameter's value.
  ///
  /// - Throws: `PostgresError` of kind `server` for a text with a NUL.
  func literal(_ parameter: Parameter) throws(PostgresError) -> SQLLiteral {
    switch parameter {
    case .null: .null
    case .text(let value): try literal(text: value)
    case .integer(let value): SQLLiteral(integer: value)
    case .double(let value): SQLLiteral(double: value)
    case .bool(let value): SQLLiteral(bool: value)
    }
  }
}

extension PostgresError {
  static let unstorable = PostgresError(
    kind: .server, sqlState: SQLState.characterNotInRepertoire,
    message: "a text with a character that PostgreSQL cannot store")
}

extension SQLLiteral {
  /// A literal that `PQescapeLiteral` returned.
  fileprivate init(quoted: String) {
    text = quoted
  }
}
