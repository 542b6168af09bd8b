extension SQL {
  /// The statement with a literal in the place of each parameter `$1`, `$2`, ...; those in quotes and
  /// comments are left alone.
  ///
  /// - Throws: `PostgresError` of kind `server` if a parameter has no literal.
  func filled(with literals: [SQLLiteral]) throws(PostgresError) -> SQL {
    guard !literals.isEmpty || text.utf8.contains(UInt8(ascii: "$")) else { return self }
    return SQL(trusted: try SQLScript.fillParameters(of: text, with: literals))
  }
}

extension SQLScript {
  fileprivate static func fillParameters(
    of text: String, with literals: [SQLLiteral]
  ) throws(PostgresError) -> String {
    var script = SQLScript(text)
    var filled: [UInt8] = []
    filled.reserveCapacity(
      text.utf8.count + literals.reduce(0) { $0 + $1.text.utf8.count })
    var copied = 0
    while !script.isAtEnd {
      let start = script.position
      guard let number = script.skipTokenOrParameter() else { continue }
      guard literals.indices.contains(number - 1) else {
        throw PostgresError(
          kind: .server, sqlState: SQLState.undefinedParameter,
          message: "there is no parameter $\(number)")
      }
      filled.append(contentsOf: script.bytes[copied..<start])
      // The literal is a token of its own, whatever stands before it.
      filled.append(UInt8(ascii: " "))
      filled.append(contentsOf: literals[number - 1].text.utf8)
      copied = script.position
    }
    filled.append(contentsOf: script.bytes[copied...])
    return String(decoding: filled, as: UTF8.self)
  }
}
