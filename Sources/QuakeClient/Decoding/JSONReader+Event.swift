internal import QuakeModel

extension JSONReader {
  private static let columns: [(column: QuakeColumn, name: [UInt8])] =
    QuakeColumn.allCases.map { ($0, Array($0.name.utf8)) }

  /// Reads an event: an object with a member for each column, or null. Members that are no columns are skipped.
  mutating func event() throws(Invalid) -> QuakeRecord? {
    if try null() { return nil }
    var record = QuakeRecord()
    // The columns come in their order.
    var expected = 0
    try object { reader, name throws(Invalid) in
      guard let index = Self.column(name, expected: expected) else {
        return try reader.skipValue()
      }
      expected = index + 1
      let column = Self.columns[index].column
      if try !reader.null() { try reader.value(of: column, into: &record) }
    }
    return record
  }

  private static func column(_ name: StringValue, expected: Int) -> Int? {
    name.withBytes { name in
      if expected < columns.count, name.elementsEqual(columns[expected].name) { return expected }
      return columns.firstIndex { name.elementsEqual($0.name) }
    }
  }

  private mutating func value(
    of column: QuakeColumn, into record: inout QuakeRecord
  ) throws(Invalid) {
    switch column.kind {
    case .text: try string().withBytes { record.set(column, utf8: $0) }
    case .float8: record.set(column, try double())
    case .int4: record.set(column, integer: try integer(Int32.self))
    case .int2: record.set(column, integer: try integer(Int16.self))
    case .timestamp: record.set(column, try timestamp())
    case .bool: record.set(column, try bool())
    }
  }

  private mutating func integer(_ type: (some FixedWidthInteger).Type) throws(Invalid) -> Int {
    guard let value = type.init(exactly: try integer()) else {
      throw invalid("an integer is too large for its column")
    }
    return Int(value)
  }

  /// Reads an instant.
  mutating func timestamp() throws(Invalid) -> Timestamp {
    guard let value = try string().withBytes({ Timestamp(written: $0) }) else {
      throw invalid("expected a time such as 2026-01-31T12:00:00.000Z")
    }
    return value
  }

  /// Reads a token.
  mutating func token() throws(Invalid) -> ChangeToken {
    guard let token = ChangeToken(try string().text) else {
      throw invalid("expected a token such as 1042.9f3ac2d1")
    }
    return token
  }

  /// Reads a string, or null.
  mutating func optionalString() throws(Invalid) -> String? {
    try null() ? nil : try string().text
  }
}

extension Timestamp {
  /// Microseconds in 400 years, after which the calendar repeats itself.
  private static let cycle: Int64 = 146_097 * 86_400_000_000

  /// Reads what `description` writes, of any year: those that a feed may not contain have a sign and six digits.
  init?(written bytes: UnsafeRawBufferPointer) {
    if let value = Timestamp(iso8601: bytes) {
      self = value
      return
    }
    var text = String(decoding: bytes, as: UTF8.self)
    let length = text.hasPrefix("+") || text.hasPrefix("-") ? 7 : 4
    guard text.utf8.count > length, let year = Int64(text.prefix(length)) else { return nil }
    // The same day in a year of the present cycle.
    let cycles = (year - 2000).quotientRoundedDown(by: 400)
    text = "\(year - cycles * 400)" + text.dropFirst(length)
    guard let value = Timestamp(iso8601: text) else { return nil }
    let (distance, isTooFar) = cycles.multipliedReportingOverflow(by: Self.cycle)
    let (microseconds, isOutside) = value.microseconds.addingReportingOverflow(distance)
    guard !isTooFar, !isOutside else { return nil }
    self.init(microseconds: microseconds)
  }
}

extension Int64 {
  fileprivate func quotientRoundedDown(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
