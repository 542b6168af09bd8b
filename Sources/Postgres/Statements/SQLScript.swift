/// Finds the lines on which the statements of a script begin, for errors without a position.
///
/// It handles quotes, dollar quotes and comments, but not the semicolons of a `begin atomic` body.
struct SQLScript {
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1

  init(_ text: String) {
    bytes = Array(text.utf8)
  }

  /// The line, from 1, on which statement number `index`, from 0, begins; nil if there are fewer statements.
  static func line(ofStatement index: Int, in text: String) -> Int? {
    var script = SQLScript(text)
    var remaining = index
    while let line = script.skipToStatement() {
      if remaining == 0 { return line }
      remaining -= 1
      script.skipStatement()
    }
    return nil
  }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }
  private var following: UInt8? { position + 1 < bytes.count ? bytes[position + 1] : nil }

  private mutating func advance(by count: Int = 1) {
    for _ in 0..<count where position < bytes.count {
      if bytes[position] == 0x0A { line += 1 }
      position += 1
    }
  }

  /// Skips white space, comments and empty statements. Returns the line of the next statement, or nil at the
  /// end.
  private mutating func skipToStatement() -> Int? {
    while let byte = current {
      if byte <= 0x20 || byte == UInt8(ascii: ";") {
        advance()
      } else if !skipComment() {
        return line
      }
    }
    return nil
  }

  private mutating func skipStatement() {
    while let byte = current {
      switch byte {
      case UInt8(ascii: ";"):
        advance()
        return
      case UInt8(ascii: "'"): skipText()
      case UInt8(ascii: "\""): skipQuoted(byte, escapes: false)
      case UInt8(ascii: "$"): skipDollarQuoted()
      default: if !skipComment() { advance() }
      }
    }
  }

  private mutating func skipText() {
    let before = position > 0 ? bytes[position - 1] : 0
    skipQuoted(
      UInt8(ascii: "'"), escapes: before == UInt8(ascii: "e") || before == UInt8(ascii: "E"))
  }

  /// Skips a quoted text. A doubled quote inside counts as the end of one text and the start of the next,
  /// with the same result.
  private mutating func skipQuoted(_ quote: UInt8, escapes: Bool) {
    advance()
    while let byte = current, byte != quote {
      advance(by: escapes && byte == UInt8(ascii: "\\") ? 2 : 1)
    }
    advance()
  }

  private mutating func skipDollarQuoted() {
    var end = position + 1
    while end < bytes.count, Self.isNamePart(bytes[end]) { end += 1 }
    guard end < bytes.count, bytes[end] == UInt8(ascii: "$") else { return advance() }
    let tag = bytes[position...end]
    advance(by: tag.count)
    while position < bytes.count, !bytes[position...].starts(with: tag) { advance() }
    advance(by: tag.count)
  }

  private static func isNamePart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }

  private mutating func skipComment() -> Bool {
    if current == UInt8(ascii: "-"), following == UInt8(ascii: "-") {
      while position < bytes.count, bytes[position] != 0x0A { advance() }
      return true
    }
    guard current == UInt8(ascii: "/"), following == UInt8(ascii: "*") else { return false }
    var depth = 0
    repeat {
      if current == UInt8(ascii: "/"), following == UInt8(ascii: "*") {
        depth += 1
        advance(by: 2)
      } else if current == UInt8(ascii: "*"), following == UInt8(ascii: "/") {
        depth -= 1
        advance(by: 2)
      } else {
        advance()
      }
    } while depth > 0 && current != nil
    return true
  }
}
