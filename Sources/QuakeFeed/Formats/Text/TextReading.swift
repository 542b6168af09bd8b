import QuakeModel

/// Converts a value of CSV or FDSN text to the type of its column.
enum TextReading {
  case text, number, integer, instant
  /// An event type, as a name or as two letters of the international bulletin format.
  case eventType

  /// Sets the column to a value, which is not empty.
  func set(
    _ text: UnsafeRawBufferPointer, _ column: QuakeColumn, in record: inout QuakeRecord
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
        throw wrong(column, text, "a number")
      }
      try FieldCheck.set(number, column, in: &record)
    case .integer:
      if DecimalNumber.notANumber(text) != nil { return record.setNull(column) }
      guard let number = DecimalNumber.parse(text), let integer = Int(exactly: number) else {
        throw wrong(column, text, "a whole number")
      }
      try FieldCheck.set(integer: integer, column, in: &record)
    case .instant:
      guard let instant = Timestamp(iso8601: text) else {
        throw wrong(column, text, "a date and time of the years 1 to 9999")
      }
      record.set(column, instant)
    }
  }

  private func wrong(
    _ column: QuakeColumn, _ text: UnsafeRawBufferPointer, _ expected: String
  ) -> Rejection {
    let found = FeedReject.text(UnsafeRawBufferPointer(rebasing: text.prefix(64)))
    return Rejection(
      "The \(FieldCheck.name(column)) \"\(found)\" is not \(expected).", of: column)
  }
}
