import QuakeModel

/// Converts a value of CSV or FDSN text to the type of its column.
enum TextReading {
  case text, number, integer, instant
  /// An event type, as a name or as two letters of the international bulletin format.
  case eventType

  /// Sets the column to a value, which is not empty.
  func set(
    _ text: UnsafeRawBufferPointer, _ column: EventColumn, in record: inout EventRecord
  ) throws(Rejection) {
    switch self {
    case .text:
      // Nearly all text is ASCII, which needs no conversion to String.
      guard text.allSatisfy({ $0 < 0x80 }) || String(validating: text, as: UTF8.self) != nil else {
        throw Rejection("The \(FieldCheck.name(column)) is not valid UTF-8.")
      }
      try FieldCheck.set(utf8: text, column, in: &record)
    case .eventType:
      if let type = EMSCEventType.name(of: text) {
        type.withUTF8Buffer { record.set(column, utf8: UnsafeRawBufferPointer($0)) }
      } else {
        try TextReading.text.set(text, column, in: &record)
      }
    case .number:
      guard let number = DecimalNumber.parse(text) ?? DecimalNumber.notANumber(text) else {
        throw Self.wrong(column, text, "a number")
      }
      try FieldCheck.set(number, column, in: &record)
    case .integer:
      if DecimalNumber.notANumber(text) != nil { return record.setNull(column) }
      guard let number = DecimalNumber.parse(text), let integer = Int(exactly: number) else {
        throw Self.wrong(column, text, "a whole number")
      }
      try FieldCheck.set(integer: integer, column, in: &record)
    case .instant:
      guard let instant = Timestamp(iso8601: text) else {
        throw Self.wrong(column, text, "a date and time of the years 1 to 9999")
      }
      record.set(column, instant)
    }
  }

  /// Sets the column to a value, which is not empty.
  func set(
    _ text: [UInt8], _ column: EventColumn, in record: inout EventRecord
  ) throws(Rejection) {
    try text.withRawBytes { bytes throws(Rejection) in try set(bytes, column, in: &record) }
  }

  static func wrong(
    _ column: EventColumn, _ text: UnsafeRawBufferPointer, _ expected: String
  ) -> Rejection {
    let found = FeedReject.text(UnsafeRawBufferPointer(rebasing: text.prefix(64)))
    return Rejection(
      "The \(FieldCheck.name(column)) \"\(found)\" is not \(expected).", of: column)
  }
}

extension [UInt8] {
  /// Like `withUnsafeBytes`, which loses the type of what `body` throws.
  func withRawBytes<Value, Failure>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try withUnsafeBufferPointer { bytes throws(Failure) in try body(UnsafeRawBufferPointer(bytes)) }
  }
}

extension InputBuffer {
  /// Throws if a row that cannot be decoded is only the beginning of the last one.
  func checkEnd(of row: LineReader.Line, fields: Int, expected: Int) throws(FeedError) {
    guard !row.endsWithLineBreak, fields < expected else { return }
    throw error(
      .truncated, "\(name) is truncated", at: row.range.lowerBound,
      detail: "The last row has \(fields) fields and no end.", hint: "Fetch it again.")
  }
}

/// The column of a field, and how its values are read.
typealias TextField = (column: EventColumn, reading: TextReading)

extension InputBuffer {
  /// The columns of the fields that a header names; nil for those that are not `known`.
  ///
  /// - Parameter message: The message of an error.
  func fields(
    _ names: [String], _ known: [String: TextField], of header: LineReader.Line, _ message: String
  ) throws(FeedError) -> [TextField?] {
    // Then all rows would be part of the header.
    if !header.endsWithLineBreak, bytes(header.range).contains(0x0D) {
      throw error(
        .csvHeader, message, at: header.range.lowerBound,
        detail: "Its lines end with carriage returns alone.",
        hint: "End them with line feeds: \"tr '\\r' '\\n'\" converts a file.")
    }
    var fields: [TextField?] = []
    for name in names {
      let field = known[name]
      if let field, fields.contains(where: { $0?.column == field.column }) {
        throw error(
          .csvHeader, message, at: header.range.lowerBound,
          detail: "It names the column \"\(name)\" twice.")
      }
      fields.append(field)
    }
    return fields
  }
}

enum DecimalNumber {
  /// The powers of ten that a double represents exactly.
  private static let powers: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
    1e18, 1e19, 1e20, 1e21, 1e22,
  ]

  /// The double nearest to `[+-]digits[.digits][e[+-]digits]`; nil for anything else, also for
  /// `nan`, `inf`, and spaces.
  static func parse(_ bytes: UnsafeRawBufferPointer) -> Double? { parse(bytes, shiftedBy: 0) }

  /// NaN, if the text is `nan` in any case: programs write unknown values so.
  static func notANumber(_ bytes: UnsafeRawBufferPointer) -> Double? {
    guard bytes.count == 3, bytes.elementsEqual("nan".utf8, by: { $0 | 0x20 == $1 }) else {
      return nil
    }
    return .nan
  }

  /// The double nearest to a number in another unit.
  ///
  /// - Parameter places: The number of places by which the decimal point is moved to the right before the
  ///   number is rounded to a double: -3 converts metres to kilometres.
  static func parse(_ bytes: UnsafeRawBufferPointer, shiftedBy places: Int) -> Double? {
    var position = 0
    var mantissa: UInt64 = 0
    var exponent = places
    var digits = 0
    var isExact = true
    func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }
    func readDigits(fraction: Bool) {
      while let byte = peek(), byte >= 0x30, byte <= 0x39 {
        position += 1
        digits += 1
        if mantissa < 100_000_000_000_000_000 {
          mantissa = mantissa * 10 + UInt64(byte - 0x30)
          if fraction { exponent -= 1 }
        } else {
          isExact = false
        }
      }
    }
    let isNegative = peek() == UInt8(ascii: "-")
    if isNegative || peek() == UInt8(ascii: "+") { position += 1 }
    readDigits(fraction: false)
    if peek() == UInt8(ascii: ".") {
      position += 1
      readDigits(fraction: true)
    }
    guard digits > 0 else { return nil }
    if peek() == UInt8(ascii: "e") || peek() == UInt8(ascii: "E") {
      position += 1
      let isDown = peek() == UInt8(ascii: "-")
      if isDown || peek() == UInt8(ascii: "+") { position += 1 }
      var value = 0
      let first = position
      while let byte = peek(), byte >= 0x30, byte <= 0x39 {
        position += 1
        value = min(value * 10 + Int(byte - 0x30), 100_000)
      }
      guard position > first else { return nil }
      exponent += isDown ? -value : value
    }
    guard position == bytes.count else { return nil }
    // If both operands are exact, there is only one rounding, and it is correct. Otherwise the slow way is
    // needed.
    if isExact, mantissa <= 1 << 53, exponent.magnitude < powers.count {
      let power = powers[Int(exponent.magnitude)]
      let value = exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
      return isNegative ? -value : value
    }
    guard places != 0 else { return Double(String(decoding: bytes, as: UTF8.self)) }
    // The digits as written, with the shift added to the written exponent.
    let text = String(decoding: bytes, as: UTF8.self)
    let parts = text.split(omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
    let written = parts.count > 1 ? Int(parts[1]) ?? 100_000 : 0
    return Double("\(parts[0])e\(written + places)")
  }
}
