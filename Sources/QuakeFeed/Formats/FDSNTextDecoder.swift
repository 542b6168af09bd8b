import QuakeModel

/// Converts the rows of an FDSN event service's text to records, according to its header.
///
/// Centres write the names in the header in different cases (`Depth/Km`), and SCEDC misspells one.
struct FDSNTextDecoder {
  private typealias Field = (column: QuakeColumn, reading: TextReading)

  private static let names: [String: Field] = [
    "eventid": (.code, .text), "time": (.time, .instant), "latitude": (.latitude, .number),
    "longitude": (.longitude, .number), "longtitude": (.longitude, .number),
    "depth/km": (.depth, .number), "author": (.net, .text), "magtype": (.magnitudeType, .text),
    "magnitude": (.magnitude, .number), "eventlocationname": (.place, .text),
    "eventtype": (.type, .eventType),
  ]

  /// The columns that the text has.
  let columns: [QuakeColumn]
  /// The column of each field of a row; nil for ignored fields.
  private let fields: [Field?]
  private let centre: DataCentre
  private let strict: Bool
  private var scratch: [UInt8] = []

  /// Reads the header, which is the last row that `rows` has read.
  init(
    header rows: FDSNRowReader, row: FDSNRowReader.Row, centre: DataCentre, strict: Bool
  ) throws(FeedError) {
    self.centre = centre
    self.strict = strict
    var fields: [Field?] = []
    for range in rows.fields {
      var name = String(decoding: rows.input.bytes(range), as: UTF8.self).lowercased()
      if fields.isEmpty { name = String(name.drop { $0 == "#" || $0 == " " }) }
      let known = Self.names[name]
      if let known, fields.contains(where: { $0?.column == known.column }) {
        throw Self.wrongHeader(rows, row, "It names the column \"\(name)\" twice.")
      }
      fields.append(known)
    }
    let present = Set(fields.compactMap { $0?.column })
    for (column, name) in [
      (.code, "EventID"), (.time, "Time"), (.latitude, "Latitude"), (.longitude, "Longitude"),
    ] as [(QuakeColumn, String)] where !present.contains(column) {
      throw Self.wrongHeader(rows, row, "It has no column \"\(name)\".")
    }
    self.fields = fields
    let carried = present.union([.source, .netCode])
    columns = QuakeColumn.feed.filter(carried.contains)
  }

  private static func wrongHeader(
    _ rows: FDSNRowReader, _ row: FDSNRowReader.Row, _ detail: String
  ) -> FeedError {
    rows.input.error(
      .csvHeader, "the FDSN text header of \(rows.input.name) is wrong", at: row.range.lowerBound,
      detail: detail)
  }

  /// The number of fields of each row.
  var fieldCount: Int { fields.count }

  /// Fills `record`, which must be empty, from the last row that `rows` has read. Throws if the event is
  /// invalid.
  mutating func decode(of rows: FDSNRowReader, into record: inout QuakeRecord) throws(Rejection) {
    guard rows.fields.count == fields.count else {
      throw Rejection(
        "The row has \(rows.fields.count) fields, where the header has \(fields.count).")
    }
    record.set(.source, centre.name)
    for (range, target) in zip(rows.fields, fields) {
      guard let target else { continue }
      let text = rows.input.bytes(range)
      // INGV writes two hyphens for unknown values.
      if text.isEmpty || text.elementsEqual("--".utf8) { continue }
      switch target.column {
      case .code: try setCode(text, in: &record)
      case .time: try setTime(text, in: &record)
      default: try target.reading.set(text, target.column, in: &record)
      }
    }
    if centre == .usgs { record.setNetCode(scratch: &scratch) }
    try FieldCheck.checkComplete(record, strict: strict)
  }

  /// The centre's identifier is stored as `net_code`, and with the centre's prefix as `code`.
  private mutating func setCode(
    _ text: UnsafeRawBufferPointer, in record: inout QuakeRecord
  ) throws(Rejection) {
    guard centre != .usgs else { return try TextReading.text.set(text, .code, in: &record) }
    try TextReading.text.set(text, .netCode, in: &record)
    scratch.removeAll(keepingCapacity: true)
    scratch.append(contentsOf: centre.codePrefix.utf8)
    scratch.append(contentsOf: text)
    try setScratch(.text, .code, in: &record)
  }

  /// SCEDC separates the parts of a date by slashes.
  private mutating func setTime(
    _ text: UnsafeRawBufferPointer, in record: inout QuakeRecord
  ) throws(Rejection) {
    guard text.count > 7, text[4] == UInt8(ascii: "/"), text[7] == UInt8(ascii: "/") else {
      return try TextReading.instant.set(text, .time, in: &record)
    }
    scratch.removeAll(keepingCapacity: true)
    scratch.append(contentsOf: text)
    scratch[4] = UInt8(ascii: "-")
    scratch[7] = UInt8(ascii: "-")
    try setScratch(.instant, .time, in: &record)
  }

  private func setScratch(
    _ reading: TextReading, _ column: QuakeColumn, in record: inout QuakeRecord
  ) throws(Rejection) {
    let result: Result<Void, Rejection> = scratch.withUnsafeBytes { bytes in
      do throws(Rejection) {
        return .success(try reading.set(bytes, column, in: &record))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }
}
