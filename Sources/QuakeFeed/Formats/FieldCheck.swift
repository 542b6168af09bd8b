import Glibc
package import QuakeModel

/// Checks the limits of a column's values, which are the same for every format, and sets the value in the
/// record.
enum FieldCheck {
  /// The most bytes of a text for people, or of a list.
  static let maximumTextBytes = 64 * 1024
  /// The most bytes of a short text: a network's name, a type, a status.
  static let maximumWordBytes = 1024
  /// The most bytes of a code, and of each id that an event lists, because both are keys.
  static let maximumCodeBytes = 256

  private static func limit(of column: EventColumn) -> Int {
    switch column {
    case .code: maximumCodeBytes
    case .place, .title, .url, .detail, .ids, .sources, .types: maximumTextBytes
    default: maximumWordBytes
    }
  }

  /// Sets a number after checking that it is within the column's range.
  ///
  /// Sources write unknown values as NaN, as a magnitude such as -9, or as a negative number where no value can
  /// be negative: those become null. Longitudes of 180 to 360 degrees are converted.
  static func set(
    _ value: Double, _ column: EventColumn, in record: inout EventRecord
  ) throws(Rejection) {
    guard !value.isNaN else { return record.setNull(column) }
    guard value.isFinite else { throw Rejection("The \(name(column)) is not a finite number.") }
    let range: ClosedRange<Double>
    switch column {
    case .latitude: range = -90...90
    case .longitude: range = -180...360
    case .magnitude:
      guard value >= leastMagnitude else { return record.setNull(column) }
      range = leastMagnitude...12
    case .depth: range = -100...7000
    case .cdi, .mmi, .dmin, .rms, .gap:
      guard value >= 0 else { return record.setNull(column) }
      range = 0...Double.greatestFiniteMagnitude
    default: range = -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
    }
    guard range.contains(value) else {
      throw Rejection(
        "The \(name(column)) \(text(value)) is outside \(text(range.lowerBound)) to \(text(range.upperBound))."
      )
    }
    record.set(column, column == .longitude && value > 180 ? westward(value) : value)
  }

  /// The least magnitude that an event can have: laboratories measure fractures of -4. A smaller number means
  /// that the magnitude is unknown.
  private static let leastMagnitude = -5.0

  /// A longitude of more than 180 degrees as one of -180 to 0: 190.1234 is -169.8766. The difference is rounded
  /// to 12 decimals, which is finer than the digits that a number of this size has.
  private static func westward(_ longitude: Double) -> Double {
    ((longitude - 360) * 1e12).rounded() / 1e12
  }

  /// Sets a whole number after checking that the column can hold it. A negative number means that the value is
  /// unknown.
  static func set(
    integer value: Int, _ column: EventColumn, in record: inout EventRecord
  ) throws(Rejection) {
    guard value >= 0 else { return record.setNull(column) }
    let fits = column.kind == .int2 ? Int16(exactly: value) != nil : Int32(exactly: value) != nil
    guard fits else { throw Rejection("The \(name(column)) \(value) is too large a number.") }
    record.set(column, integer: value)
  }

  /// Sets a text, known to be UTF-8, after checking its size and that it holds no NUL, which
  /// PostgreSQL cannot store. A type of events gets QuakeML's spelling.
  ///
  /// White space around an id does not belong to it. Nor may a code hold control characters: it is a line of a list of
  /// codes, and a part of addresses.
  static func set(
    utf8: UnsafeRawBufferPointer, _ column: EventColumn, in record: inout EventRecord
  ) throws(Rejection) {
    let utf8 = column == .code ? trimmed(utf8) : utf8
    if let start = utf8.baseAddress, memchr(start, 0, utf8.count) != nil {
      throw Rejection("The \(name(column)) contains the character NUL.")
    }
    let limit = limit(of: column)
    guard utf8.count <= limit else {
      throw Rejection(
        "The \(name(column)) is too long: \(utf8.count) bytes, where \(limit) are allowed.")
    }
    if column == .ids {
      if utf8.count > maximumCodeBytes { try checkIDs(utf8) }
      if utf8.contains(where: isSpace) { return record.set(column, trimmedIDs(utf8)) }
    }
    if column == .code {
      guard !utf8.isEmpty else { throw Rejection("The event's code is empty.") }
      guard !utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
        throw Rejection("The event's code contains a control character.")
      }
    }
    if column == .type, let word = EventTypes.word(for: utf8) {
      return word.withUTF8Buffer { record.set(column, utf8: UnsafeRawBufferPointer($0)) }
    }
    record.set(column, utf8: utf8)
  }

  /// Sets an instant after checking that it is one that feeds may have.
  static func set(
    _ time: Timestamp, _ column: EventColumn, in record: inout EventRecord
  ) throws(Rejection) {
    guard time >= .earliest, time <= .latest else {
      throw Rejection("The \(name(column)) is not within the years 1 to 9999.", of: column)
    }
    record.set(column, time)
  }

  private static func checkIDs(_ ids: UnsafeRawBufferPointer) throws(Rejection) {
    for id in ids.split(separator: UInt8(ascii: ",")) where id.count > maximumCodeBytes {
      throw Rejection(
        "One of the ids is too long: \(id.count) bytes, where \(maximumCodeBytes) are allowed.")
    }
  }

  /// The text without the white space around it.
  static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard let first = text.firstIndex(where: { !isSpace($0) }),
      let last = text.lastIndex(where: { !isSpace($0) })
    else { return UnsafeRawBufferPointer(rebasing: text.prefix(0)) }
    return UnsafeRawBufferPointer(rebasing: text[first...last])
  }

  private static func trimmedIDs(_ ids: UnsafeRawBufferPointer) -> String {
    ids.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
      .map { String(decoding: trimmed(UnsafeRawBufferPointer(rebasing: $0)), as: UTF8.self) }
      .joined(separator: ",")
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }

  /// Checks the required columns, the region where epicentres are expected, and under the strict rule also magnitude
  /// and place. A record that says that its event was deleted needs the code alone.
  static func checkComplete(
    _ record: EventRecord, _ options: FeedReader.Options
  ) throws(Rejection) {
    guard record.has(.code) else { throw Rejection("The event has no code.") }
    if record.isDeletion { return }
    guard record.has(.time) else { throw Rejection("The event has no time.", of: .time) }
    guard record.has(.longitude), record.has(.latitude) else {
      throw Rejection("The event has no coordinates.")
    }
    if let region = options.expectedRegion, let longitude = record.longitude,
      let latitude = record.latitude, !region.contains(longitude: longitude, latitude: latitude)
    {
      throw Rejection(
        """
        The epicentre \(text(latitude)), \(text(longitude)) (latitude, longitude) is outside of the region where this \
        feed is expected to have events.
        """)
    }
    guard options.strict else { return }
    guard record.has(.magnitude) else {
      throw Rejection("The event has no magnitude, which the strict rule asks for.")
    }
    guard record.has(.place) else {
      throw Rejection("The event has no place, which the strict rule asks for.")
    }
  }

  static func name(_ column: EventColumn) -> String {
    String(column.name.map { $0 == "_" ? " " : $0 })
  }

  /// A number without the `.0` that Swift appends to whole numbers.
  private static func text(_ value: Double) -> String {
    Int(exactly: value).map(String.init) ?? "\(value)"
  }
}

/// Applies the rules for the records of feeds to a record that a program has made.
package enum RecordCheck {
  /// Gives the record's values the form that those of feeds have. Returns why the record cannot be imported, as
  /// a sentence; nil: it can.
  package static func normalise(_ record: inout EventRecord) -> (text: String, isOfTime: Bool)? {
    var checked = EventRecord()
    do throws(Rejection) {
      for column in EventColumn.allCases where record.has(column) {
        switch column.kind {
        case .float8:
          if let value = record.double(column) {
            try FieldCheck.set(value, column, in: &checked)
          }
        case .int4, .int2:
          if let value = record.integer(column) {
            try FieldCheck.set(integer: value, column, in: &checked)
          }
        case .text:
          try record.withUTF8(column) { (text: UnsafeRawBufferPointer?) throws(Rejection) in
            if let text { try FieldCheck.set(utf8: text, column, in: &checked) }
          }
        case .timestamp:
          if let time = record.timestamp(column) {
            try FieldCheck.set(time, column, in: &checked)
          }
        case .bool: if let value = record.bool(column) { checked.set(column, value) }
        }
      }
      try FieldCheck.checkComplete(checked, FeedReader.Options())
      record = checked
      return nil
    } catch {
      return (error.reason, error.isOfTime)
    }
  }
}

extension EventRecord {
  /// Sets `source` to the catalogue that the code tells.
  mutating func setInferredSource(scratch: inout [UInt8]) {
    scratch.removeAll(keepingCapacity: true)
    withUTF8(.code) { code in
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      CatalogueCode.withSource(of: code ?? none) { scratch.append(contentsOf: $0) }
    }
    scratch.withUnsafeBytes { set(.source, utf8: $0) }
  }

  /// Sets `net_code` to the part after the network in USGS's id, for formats without a field for it. If the
  /// id does not begin with the network, because an older id may remain when `net` changes, `net_code` stays
  /// null.
  mutating func setNetCode(scratch: inout [UInt8]) {
    scratch.removeAll(keepingCapacity: true)
    let netCount = withUTF8(.net) { $0?.count ?? 0 }
    guard netCount > 0 else { return }
    withUTF8(.code) { code in
      guard let code, code.count > netCount else { return }
      if let length = CatalogueCode.nameLength(in: code) {
        return scratch.append(contentsOf: code[(length + 1)...])
      }
      let startsWithNet = withUTF8(.net) { net in net.map { code.starts(with: $0) } ?? false }
      if startsWithNet { scratch.append(contentsOf: code[netCount...]) }
    }
    guard !scratch.isEmpty else { return }
    scratch.withUnsafeBytes { set(.netCode, utf8: $0) }
  }
}
