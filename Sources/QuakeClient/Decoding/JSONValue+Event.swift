internal import QuakeModel

extension JSONValue {
  private static let columns: [(column: EventColumn, name: [UInt8])] =
    EventColumn.allCases.map { ($0, Array($0.name.utf8)) }

  /// An event: an object with a member for each column, or null. Members that are no columns are skipped.
  func event() throws(JSONReader.Invalid) -> EventRecord? {
    if isNull { return nil }
    var record = EventRecord()
    // The columns come in their order.
    var expected = 0
    for (name, value) in try object() {
      guard let index = Self.column(name, expected: expected) else { continue }
      expected = index + 1
      if !value.isNull { try value.set(Self.columns[index].column, of: &record) }
    }
    return record
  }

  private static func column(_ name: UnsafeRawBufferPointer, expected: Int) -> Int? {
    if expected < columns.count, name.elementsEqual(columns[expected].name) { return expected }
    return columns.firstIndex { name.elementsEqual($0.name) }
  }

  private func set(
    _ column: EventColumn, of record: inout EventRecord
  ) throws(JSONReader.Invalid) {
    switch column.kind {
    case .text: record.set(column, utf8: try utf8())
    case .float8: record.set(column, try double())
    case .int4: record.set(column, integer: try integer(Int32.self))
    case .int2: record.set(column, integer: try integer(Int16.self))
    case .timestamp: record.set(column, try timestamp())
    case .bool: record.set(column, try bool())
    }
  }

  private func integer(
    _ type: (some FixedWidthInteger).Type
  ) throws(JSONReader.Invalid) -> Int {
    guard let value = type.init(exactly: try integer()) else {
      throw JSONReader.Invalid("an integer is too large for its column")
    }
    return Int(value)
  }

  func timestamp() throws(JSONReader.Invalid) -> Timestamp {
    guard let value = Timestamp(written: try utf8()) else {
      throw JSONReader.Invalid("expected a time such as 2026-01-31T12:00:00.000Z")
    }
    return value
  }

  func token() throws(JSONReader.Invalid) -> ChangeToken {
    guard let token = ChangeToken(try string()) else {
      throw JSONReader.Invalid("expected a token such as 1042.9f3ac2d1")
    }
    return token
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
