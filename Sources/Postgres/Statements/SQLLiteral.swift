internal import CLibpq

extension Connection {
  /// The literal for a parameter's value, for the statements that take no parameters: COPY. Like a parameter, it has the
  /// type that its place in the statement gives it.
  ///
  /// - Throws: `PostgresError` of kind `server` for a text with a NUL.
  func literal(_ parameter: Parameter) throws(PostgresError) -> String {
    switch parameter {
    case .null: "null"
    case .text(let value): try literal(text: value)
    // The text form of a number has digits, signs, a point and letters, and no quote.
    case .integer, .double: "'\(parameter.textForm ?? "")'"
    case .bool(let value): value ? "true" : "false"
    }
  }

  /// A text as a literal, quoted by libpq for this connection.
  ///
  /// - Throws: `PostgresError` of kind `server` for a text with a NUL, which no value in PostgreSQL can
  ///   have.
  func literal(text: String) throws(PostgresError) -> String {
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
    guard let quoted else { throw .unstorable }
    return quoted
  }
}

extension PostgresError {
  static let unstorable = PostgresError(
    kind: .server, sqlState: SQLState.characterNotInRepertoire,
    message: "a text with a character that PostgreSQL cannot store")
}
