import QuakeModel

/// Makes records of the rows of a USGS CSV file, by its header.
struct CSVDecoder {
  /// How a column's values are read.
  private enum Reading {
    case text, number, integer, instant
  }

  private static let names: [(name: StaticString, column: QuakeColumn, reading: Reading)] = [
    ("time", .time, .instant),
    ("latitude", .latitude, .number),
    ("longitude", .longitude, .number),
    ("depth", .depth, .number),
    ("mag", .magnitude, .number),
    ("magType", .magnitudeType, .text),
    ("nst", .nst, .integer),
    ("gap", .gap, .number),
    ("dmin", .dmin, .number),
    ("rms", .rms, .number),
    ("net", .net, .text),
    ("id", .code, .text),
    ("updated", .updated, .instant),
    ("place", .place, .text),
    ("type", .type, .text),
    ("status", .status, .text),
  ]

  /// The columns that the file carries.
  let columns: [QuakeColumn]
  /// For each field of a row, what it is; nil for those that mean nothing to us.
  private let fields: [(column: QuakeColumn, reading: Reading)?]
  private let codeIndex: Int
  private let strict: Bool
  private var scratch: [UInt8] = []

  /// Reads the header, which is the row that `rows` read last.
  init(header rows: CSVRowReader, row: CSVRowReader.Row, strict: Bool) throws(FeedError) {
    self.strict = strict
    var fields: [(column: QuakeColumn, reading: Reading)?] = []
    var scratch: [UInt8] = []
    for field in rows.fields {
      let known = rows.withText(of: field, scratch: &scratch) { text in
        Self.names.first { entry in
          entry.name.withUTF8Buffer { UnsafeRawBufferPointer($0).elementsEqual(text) }
        }
      }
      if let known, fields.contains(where: { $0?.column == known.column }) {
        throw rows.input.error(
          .csvHeader, "the CSV header of \(rows.input.name) is wrong", at: row.range.lowerBound,
          detail: "It names the column \"\(known.name)\" twice.")
      }
      fields.append(known.map { ($0.column, $0.reading) })
    }
    let present = Set(fields.compactMap { $0?.column })
    for required in [QuakeColumn.code, .time, .latitude, .longitude]
    where !present.contains(required) {
      let name = Self.names.first { $0.column == required }?.name ?? ""
      // Text of some other kind has none of them: then it is no header at all.
      let isHeader = present.count > 1
      throw rows.input.error(
        isHeader ? .csvHeader : .notAFeed,
        isHeader
          ? "the CSV header of \(rows.input.name) is wrong" : "\(rows.input.name) is not a feed",
        at: row.range.lowerBound,
        detail: isHeader
          ? "It has no column \"\(name)\"." : "It is neither GeoJSON nor CSV with a header.",
        hint: isHeader ? nil : "Check the URL or the file.")
    }
    self.fields = fields
    codeIndex = fields.firstIndex { $0?.column == .code } ?? 0
    let carried = present.union([.source]).union(present.contains(.net) ? [.netCode] : [])
    columns = QuakeColumn.feed.filter(carried.contains)
  }

  /// How many fields a row must have.
  var fieldCount: Int { fields.count }

  /// Fills `record`, which must be empty, from the row that `rows` read last; throws when the event
  /// cannot be taken.
  mutating func decode(
    _ row: CSVRowReader.Row, of rows: CSVRowReader, into record: inout QuakeRecord
  ) throws(Rejection) {
    guard !row.isMalformed else { throw Rejection("A field goes on after its closing quote.") }
    guard rows.fields.count == fields.count else {
      throw Rejection(
        "The row has \(rows.fields.count) fields, where the header has \(fields.count).")
    }
    record.set(.source, "usgs")
    // First of all, so that a reject of the others has it.
    try set(rows.fields[codeIndex], fields[codeIndex], of: rows, in: &record)
    for index in fields.indices where index != codeIndex {
      try set(rows.fields[index], fields[index], of: rows, in: &record)
    }
    setNetCode(in: &record)
    try FieldCheck.checkComplete(record, strict: strict)
  }

  private mutating func set(
    _ field: CSVRowReader.Field, _ target: (column: QuakeColumn, reading: Reading)?,
    of rows: CSVRowReader, in record: inout QuakeRecord
  ) throws(Rejection) {
    guard let target, !field.range.isEmpty else { return }
    let result: Result<Void, Rejection> = rows.withText(of: field, scratch: &scratch) { text in
      do throws(Rejection) {
        return .success(try Self.set(text, target.column, target.reading, in: &record))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  private static func set(
    _ text: UnsafeRawBufferPointer, _ column: QuakeColumn, _ reading: Reading,
    in record: inout QuakeRecord
  ) throws(Rejection) {
    switch reading {
    case .text:
      // Nearly all text is ASCII, for which no String need be made.
      guard text.allSatisfy({ $0 < 0x80 }) || String(validating: text, as: UTF8.self) != nil else {
        throw Rejection("The \(FieldCheck.name(column)) is not valid UTF-8.")
      }
      try FieldCheck.set(utf8: text, column, in: &record)
    case .number:
      guard let number = DecimalNumber.parse(text) else {
        throw wrong(column, text, "a number")
      }
      try FieldCheck.set(number, column, in: &record)
    case .integer:
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

  private static func wrong(
    _ column: QuakeColumn, _ text: UnsafeRawBufferPointer, _ expected: String
  ) -> Rejection {
    let found = FeedReject.text(UnsafeRawBufferPointer(rebasing: text.prefix(64)))
    return Rejection(
      "The \(FieldCheck.name(column)) \"\(found)\" is not \(expected).", of: column)
  }

  /// CSV has no column for it: it is what follows the network in the id. Some ids begin otherwise
  /// (`usp000hsce` is `us`, but an older network's id may stay when `net` changes): then none.
  private mutating func setNetCode(in record: inout QuakeRecord) {
    scratch.removeAll(keepingCapacity: true)
    let netCount = record.withUTF8(.net) { $0?.count ?? 0 }
    guard netCount > 0 else { return }
    record.withUTF8(.code) { code in
      guard let code, code.count > netCount else { return }
      let startsWithNet = record.withUTF8(.net) { net in
        net.map { code.starts(with: $0) } ?? false
      }
      if startsWithNet { scratch.append(contentsOf: code[netCount...]) }
    }
    guard !scratch.isEmpty else { return }
    scratch.withUnsafeBytes { record.set(.netCode, utf8: $0) }
  }
}
