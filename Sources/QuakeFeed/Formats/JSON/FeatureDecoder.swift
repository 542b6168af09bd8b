import CSimdjson
import Glibc
import QuakeModel
import Simdjson

/// Converts a parsed GeoJSON feature in any of the three dialects, or a line of an export, to a record.
struct FeatureDecoder {
  let format: FeedFormat
  private let source: [UInt8]
  private let codePrefix: [UInt8]
  private let options: FeedReader.Options
  private var table: PropertyTable
  private var scratch: [UInt8] = []
  /// The columns of the object that is being read, one bit each.
  private var seen: UInt64 = 0
  /// The columns that each line must have.
  private var lineColumns: UInt64 = 0

  init(format: FeedFormat, options: FeedReader.Options) {
    self.format = format
    self.options = options
    source = Array((format.centre?.name ?? "").utf8)
    codePrefix = Array((format.centre?.codePrefix ?? "").utf8)
    table = PropertyTable(format.properties)
  }

  /// Notes which columns the lines have: those of the first line.
  mutating func readColumns(ofLine line: csj_element) -> [EventColumn] {
    lineColumns = 0
    var place = 0
    for member in line.members {
      if let entry = table.entry(for: member, at: place) {
        lineColumns |= 1 << UInt64(entry.column.rawValue)
      }
      place += 1
    }
    return EventColumn.feed.filter { lineColumns & (1 << UInt64($0.rawValue)) != 0 }
  }

  /// Fills `record`, which must be empty, from a line of an export. Throws if the event is invalid.
  mutating func decode(
    line: csj_element, into record: inout EventRecord
  ) throws(Rejection) {
    guard line.kind == CSJ_OBJECT else {
      throw Rejection("The line is not an object but \(line.kindName).")
    }
    try readProperties(line, into: &record)
    let isPast = line.members.contains { member in
      (member.isNamed("withdrawn_at") || member.isNamed("superseded_by"))
        && member.value.kind != CSJ_NULL
    }
    // As the other formats of exports mark a withdrawn or superseded event.
    if isPast, !record.isDeletion { record.set(.status, "deleted") }
    guard seen & lineColumns == lineColumns else {
      throw Rejection("The line lacks a member that the first line has.")
    }
    // The import would leave its value out.
    guard seen == lineColumns else {
      throw Rejection("The line has a member that the first line lacks.")
    }
    try FieldCheck.checkComplete(record, options)
  }

  /// Fills `record`, which must be empty. Throws if the event is invalid.
  mutating func decode(
    _ feature: csj_element, into record: inout EventRecord
  ) throws(Rejection) {
    guard feature.kind == CSJ_OBJECT else {
      throw Rejection("The feature is not an object but \(feature.kindName).")
    }
    if format == .usgsGeoJSON {
      // USGS writes it last. It is read first, so that a reject for another value has the code.
      for member in feature.members where member.isNamed("id") {
        try readIdentifier(member.value, .code, into: &record)
      }
    } else {
      source.withUnsafeBytes { record.set(.source, utf8: $0) }
    }
    var vertical: Double?
    for member in feature.members {
      if member.isNamed("properties") {
        try readProperties(member.value, into: &record)
      } else if member.isNamed("geometry") {
        vertical = try readGeometry(member.value, into: &record)
      }
    }
    if let vertical, !record.has(.depth) {
      // EMSC's third coordinate is a height, the negated depth.
      let depth = format == .emscJSON && vertical != 0 ? -vertical : vertical
      try FieldCheck.set(depth, .depth, in: &record)
    }
    if format == .usgsGeoJSON, !record.has(.source) {
      record.setInferredSource(scratch: &scratch)
    }
    try FieldCheck.checkComplete(record, options)
  }

  private mutating func readProperties(
    _ properties: csj_element, into record: inout EventRecord
  ) throws(Rejection) {
    guard properties.kind == CSJ_OBJECT || properties.kind == CSJ_NULL else {
      throw Rejection("The properties are not an object but \(properties.kindName).")
    }
    var place = 0
    seen = 0
    for member in properties.members {
      if let entry = table.entry(for: member, at: place) {
        seen |= 1 << UInt64(entry.column.rawValue)
        if member.value.kind == CSJ_NULL {
          record.setNull(entry.column)
        } else {
          try read(member.value, as: entry, into: &record)
        }
      }
      place += 1
    }
  }

  private mutating func read(
    _ value: csj_element, as entry: PropertyTable.Entry, into record: inout EventRecord
  ) throws(Rejection) {
    switch entry.reading {
    case .text:
      guard let utf8 = value.utf8 else { throw wrongType(entry.column, value, "a string") }
      try FieldCheck.set(utf8: utf8, entry.column, in: &record)
    case .number:
      guard let number = value.number else { throw wrongType(entry.column, value, "a number") }
      try FieldCheck.set(number, entry.column, in: &record)
    case .integer:
      guard let integer = value.wholeNumber else {
        throw wrongType(entry.column, value, "a whole number")
      }
      try FieldCheck.set(integer: integer, entry.column, in: &record)
    case .milliseconds:
      record.set(entry.column, try milliseconds(value, entry.column))
    case .iso8601:
      guard let utf8 = value.utf8 else {
        throw wrongType(entry.column, value, "a date and time as a string")
      }
      guard let instant = Timestamp(iso8601: utf8) else {
        throw Rejection(
          "The \(FieldCheck.name(entry.column)) is not a date and time of the years 1 to 9999.")
      }
      record.set(entry.column, instant)
    case .identifier: try readIdentifier(value, .netCode, into: &record)
    case .emscEventType:
      guard let utf8 = value.utf8 else { throw wrongType(entry.column, value, "a string") }
      if let type = EMSCEventType.name(of: utf8) {
        type.withUTF8Buffer { record.set(entry.column, utf8: UnsafeRawBufferPointer($0)) }
      } else {
        try FieldCheck.set(utf8: utf8, entry.column, in: &record)
      }
    }
  }

  private func milliseconds(
    _ value: csj_element, _ column: EventColumn
  ) throws(Rejection) -> Timestamp {
    let instant: Timestamp?
    switch value.kind {
    case CSJ_INT64: instant = Timestamp(feedMilliseconds: Int(csj_int64(value)))
    case CSJ_DOUBLE:
      let microseconds = Int64(exactly: (csj_double(value) * 1000).rounded())
      instant = microseconds.map(Timestamp.init(microseconds:)).flatMap {
        $0 >= .earliest && $0 <= .latest ? $0 : nil
      }
    case CSJ_UINT64: instant = nil
    default: throw wrongType(column, value, "a number of milliseconds")
    }
    guard let instant else {
      throw Rejection(
        "The \(FieldCheck.name(column)) is not within the years 1 to 9999.", of: column)
    }
    return instant
  }

  /// Sets `code`, and also `net_code` if the dialect's identifier is one.
  private mutating func readIdentifier(
    _ value: csj_element, _ column: EventColumn, into record: inout EventRecord
  ) throws(Rejection) {
    scratch.removeAll(keepingCapacity: true)
    scratch.append(contentsOf: codePrefix)
    let prefixCount = scratch.count
    if let utf8 = value.utf8 {
      scratch.append(contentsOf: FieldCheck.trimmed(utf8))
    } else {
      switch value.kind {
      case CSJ_NULL: return
      case CSJ_INT64: scratch.append(contentsOf: String(csj_int64(value)).utf8)
      case CSJ_UINT64: scratch.append(contentsOf: String(csj_uint64(value)).utf8)
      case CSJ_DOUBLE: scratch.append(contentsOf: String(csj_double(value)).utf8)
      default: throw wrongType(.code, value, "a string or a number")
      }
    }
    guard scratch.count > prefixCount else { throw Rejection("The event's code is empty.") }
    try scratch.withRawBytes { bytes throws(Rejection) in
      try FieldCheck.set(utf8: bytes, .code, in: &record)
      guard column != .code else { return }
      let own = UnsafeRawBufferPointer(rebasing: bytes[prefixCount...])
      try FieldCheck.set(utf8: own, column, in: &record)
    }
  }

  /// Sets longitude and latitude, and returns the third coordinate (km), if there is one.
  private func readGeometry(
    _ geometry: csj_element, into record: inout EventRecord
  ) throws(Rejection) -> Double? {
    guard geometry.kind == CSJ_OBJECT else {
      if geometry.kind == CSJ_NULL { return nil }
      throw Rejection("The geometry is not an object but \(geometry.kindName).")
    }
    var vertical: Double?
    for member in geometry.members where member.isNamed("coordinates") {
      guard member.value.kind == CSJ_ARRAY else {
        throw Rejection("The coordinates are not an array but \(member.value.kindName).")
      }
      var place = 0
      for element in member.value.array {
        switch (place, element.number) {
        case (0, let number?): try FieldCheck.set(number, .longitude, in: &record)
        case (1, let number?): try FieldCheck.set(number, .latitude, in: &record)
        case (2, let number?): vertical = number
        case (0, nil): throw wrongType(.longitude, element, "a number")
        case (1, nil): throw wrongType(.latitude, element, "a number")
        case (2, nil) where element.kind != CSJ_NULL: throw wrongType(.depth, element, "a number")
        default: break
        }
        place += 1
      }
    }
    return vertical
  }

  private func wrongType(
    _ column: EventColumn, _ value: csj_element, _ expected: String
  ) -> Rejection {
    let found =
      value.number.map { "\($0)" } ?? (value.kind == CSJ_NULL ? "null" : value.kindName)
    return Rejection(
      "The \(FieldCheck.name(column)) is not \(expected) but \(found).", of: column)
  }
}

/// Maps the members of one format's `properties` to columns.
///
/// A feed writes the same names in the same order for each event, so the table remembers the entry at each
/// index of the last event and compares with it first.
struct PropertyTable {
  enum Reading {
    case text
    case number
    case integer
    /// Milliseconds since 1970.
    case milliseconds
    /// A date and time as a string.
    case iso8601
    /// The event's identifier: stored unchanged as `net_code`, and with the dialect's prefix as `code`.
    case identifier
    case emscEventType

    /// How an export writes the values of this kind.
    init(_ kind: EventColumn.Kind) {
      switch kind {
      case .text: self = .text
      case .float8: self = .number
      case .int4, .int2: self = .integer
      case .timestamp: self = .iso8601
      case .bool: preconditionFailure("no column of a feed is a boolean")
      }
    }
  }

  struct Entry {
    let name: StaticString
    let column: EventColumn
    let reading: Reading

    init(_ name: StaticString, _ column: EventColumn, _ reading: Reading) {
      self.name = name
      self.column = column
      self.reading = reading
    }
  }

  private let entries: [Entry]
  /// The last entry at each index of the members.
  private var expected: [Int] = []

  init(_ entries: [Entry]) {
    self.entries = entries
  }

  private static func matches(_ entry: Entry, _ member: csj_member) -> Bool {
    entry.name.utf8CodeUnitCount == member.key_count
      && memcmp(entry.name.utf8Start, member.key, member.key_count) == 0
  }

  /// The entry of the member at index `place`, or nil if the member is ignored.
  mutating func entry(for member: csj_member, at place: Int) -> Entry? {
    if place < expected.count, expected[place] >= 0 {
      let entry = entries[expected[place]]
      if Self.matches(entry, member) { return entry }
    }
    guard let index = entries.firstIndex(where: { Self.matches($0, member) }) else { return nil }
    // Limited, because a malicious feed could have any number of members.
    if place < 128 {
      while expected.count <= place { expected.append(-1) }
      expected[place] = index
    }
    return entries[index]
  }
}
