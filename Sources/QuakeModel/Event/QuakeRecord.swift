/// One event as a row: a value, or none, for each `QuakeColumn`.
///
/// Text is stored as UTF-8 in one buffer of the record, not in a `String` for each field: a record can be
/// cleared and filled for a million events without an allocation.
public struct QuakeRecord: Sendable {
  /// One word for each column: a number's bits, an instant's microseconds, or the offset (high half) and
  /// length (low half) of a text in `bytes`.
  private var values: [UInt64]
  /// One bit for each column that has a value.
  private var present: UInt64 = 0
  private var bytes: [UInt8] = []

  /// A record without a value in any column.
  public init() {
    values = Array(repeating: 0, count: QuakeColumn.allCases.count)
  }

  /// Removes the values of all columns, and keeps the memory.
  public mutating func removeAll() {
    present = 0
    bytes.removeAll(keepingCapacity: true)
  }

  /// The size of all texts in bytes; more if one was set several times.
  var textSize: Int { bytes.count }

  /// Calls `body` with what is stored, for a writer that passes through all columns: one word for each column,
  /// one bit for each that has a value, and the bytes of the texts.
  @inline(__always)
  func withContents<Value>(
    _ body: (
      _ values: UnsafeBufferPointer<UInt64>, _ present: UInt64, _ bytes: UnsafeRawBufferPointer
    ) -> Value
  ) -> Value {
    values.withUnsafeBufferPointer { values in
      bytes.withUnsafeBytes { body(values, present, $0) }
    }
  }

  /// Whether the column has a value.
  public func has(_ column: QuakeColumn) -> Bool {
    present & (1 << UInt64(column.rawValue)) != 0
  }

  /// The length of the column's text in bytes; nil if it has no value.
  func textSize(of column: QuakeColumn) -> Int? {
    assert(column.kind == .text)
    return has(column) ? Int(values[column.rawValue] & 0xFFFF_FFFF) : nil
  }

  /// Removes the column's value.
  public mutating func setNull(_ column: QuakeColumn) {
    present &= ~(1 << UInt64(column.rawValue))
  }

  private mutating func store(_ column: QuakeColumn, _ value: UInt64) {
    values[column.rawValue] = value
    present |= 1 << UInt64(column.rawValue)
  }

  /// Sets a text column from UTF-8 that the caller has validated and that holds no NUL.
  public mutating func set(_ column: QuakeColumn, utf8: UnsafeRawBufferPointer) {
    assert(column.kind == .text)
    store(column, UInt64(bytes.count) << 32 | UInt64(utf8.count))
    bytes.append(contentsOf: utf8)
  }

  /// Sets a text column.
  public mutating func set(_ column: QuakeColumn, _ text: String) {
    var text = text
    text.withUTF8 { set(column, utf8: UnsafeRawBufferPointer($0)) }
  }

  /// Sets a `float8` column.
  public mutating func set(_ column: QuakeColumn, _ value: Double) {
    assert(column.kind == .float8)
    store(column, value.bitPattern)
  }

  /// Sets an `int4` or `int2` column; the caller has checked the range.
  public mutating func set(_ column: QuakeColumn, integer value: Int) {
    assert(column.kind == .int4 || column.kind == .int2)
    store(column, UInt64(bitPattern: Int64(value)))
  }

  /// Sets a `timestamp` column.
  public mutating func set(_ column: QuakeColumn, _ value: Timestamp) {
    assert(column.kind == .timestamp)
    store(column, UInt64(bitPattern: value.microseconds))
  }

  /// Sets a `bool` column.
  public mutating func set(_ column: QuakeColumn, _ value: Bool) {
    assert(column.kind == .bool)
    store(column, value ? 1 : 0)
  }

  /// The text of a text column as a `String`, or nil.
  public func text(_ column: QuakeColumn) -> String? {
    withUTF8(column) { $0.map { String(decoding: $0, as: UTF8.self) } }
  }

  /// Calls `body` with the bytes of a text column, or nil. It is not generic, because unspecialised calls
  /// from other modules, for each field of a million records, would dominate the cost.
  public func withUTF8(_ column: QuakeColumn, _ body: (UnsafeRawBufferPointer?) -> Void) {
    guard has(column) else { return body(nil) }
    let value = values[column.rawValue]
    let start = Int(value >> 32)
    let count = Int(value & 0xFFFF_FFFF)
    bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<(start + count)])) }
  }

  /// Calls a `body` that returns a value, or throws.
  public func withUTF8<Value, Failure: Error>(
    _ column: QuakeColumn, _ body: (UnsafeRawBufferPointer?) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard has(column) else { return try body(nil) }
    let value = values[column.rawValue]
    let start = Int(value >> 32)
    let count = Int(value & 0xFFFF_FFFF)
    var result: Result<Value, Failure>?
    bytes.withUnsafeBytes { all in
      do throws(Failure) {
        result = .success(try body(UnsafeRawBufferPointer(rebasing: all[start..<(start + count)])))
      } catch {
        result = .failure(error)
      }
    }
    guard let result else { preconditionFailure("withUnsafeBytes always calls its body") }
    return try result.get()
  }

  /// The value of a `float8` column, or nil.
  public func double(_ column: QuakeColumn) -> Double? {
    has(column) ? Double(bitPattern: values[column.rawValue]) : nil
  }

  /// The value of an `int4` or `int2` column, or nil.
  public func integer(_ column: QuakeColumn) -> Int? {
    has(column) ? Int(Int64(bitPattern: values[column.rawValue])) : nil
  }

  /// The value of a `timestamp` column, or nil.
  public func timestamp(_ column: QuakeColumn) -> Timestamp? {
    has(column) ? Timestamp(microseconds: Int64(bitPattern: values[column.rawValue])) : nil
  }

  /// The value of a `bool` column, or nil.
  public func bool(_ column: QuakeColumn) -> Bool? {
    has(column) ? values[column.rawValue] != 0 : nil
  }
}

extension QuakeRecord: Hashable {
  /// Whether both have the same values, numbers bit for bit, in the same columns.
  public static func == (left: QuakeRecord, right: QuakeRecord) -> Bool {
    guard left.present == right.present else { return false }
    for column in QuakeColumn.allCases where left.has(column) {
      guard column.kind == .text else {
        guard left.values[column.rawValue] == right.values[column.rawValue] else { return false }
        continue
      }
      // The offset of a text depends on the order in which the columns were set.
      guard left.hasText(of: right, in: column) else { return false }
    }
    return true
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(present)
    for column in QuakeColumn.allCases where has(column) {
      if column.kind == .text {
        withUTF8(column) { text in
          hasher.combine(text?.count)
          text.map { hasher.combine(bytes: $0) }
        }
      } else {
        hasher.combine(values[column.rawValue])
      }
    }
  }

  private func hasText(of other: QuakeRecord, in column: QuakeColumn) -> Bool {
    withUTF8(column) { own in
      other.withUTF8(column) { others in
        switch (own, others) {
        case (let own?, let others?): own.elementsEqual(others)
        case (nil, nil): true
        default: false
        }
      }
    }
  }
}
