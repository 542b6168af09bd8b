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

  /// The header of an export of ours, which is also that of several centres.
  private static let exportHeader =
    "#EventID|Time|Latitude|Longitude|Depth/km|Author|Catalog|Contributor|ContributorID|MagType|"
    + "Magnitude|MagAuthor|EventLocationName|EventType"
  private static let exportFields: [Field?] = [
    (.code, .text), (.time, .instant), (.latitude, .number), (.longitude, .number),
    (.depth, .number), (.net, .text), (.source, .text), nil, (.netCode, .text),
    (.magnitudeType, .text), (.magnitude, .number), nil, (.place, .text), (.type, .text),
  ]

  /// The columns that the text has.
  private(set) var columns: [QuakeColumn]
  /// Whether the text has the header of an export of ours.
  let hasExportHeader: Bool
  /// The column of each field of a row; nil for ignored fields.
  private var fields: [Field?]
  /// Whether an export of ours has written the text.
  private(set) var isExport = false
  private let centre: DataCentre?
  private let service: DataCentre?
  private let strict: Bool
  private var scratch: [UInt8] = []
  /// The identifier of the event that was decoded last, if it is a publicID.
  private(set) var publicID: PublicID?

  /// Reads the header, which is the last row that `rows` has read.
  ///
  /// - Parameters:
  ///   - centre: The data centre that the user names.
  ///   - service: The data centre of the service that the text comes from.
  init(
    header rows: FDSNRowReader, row: FDSNRowReader.Row, centre: DataCentre?, service: DataCentre?,
    strict: Bool
  ) throws(FeedError) {
    let header = rows.input.bytes(row.range)
    hasExportHeader = header.elementsEqual(Self.exportHeader.utf8)
    self.centre = centre
    self.service = service
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

  /// Examines the first row after the header: in an export of ours, `Catalog` is the catalogue that the code
  /// implies, or `local`, or at least a name in small letters beside an author who is also the contributor.
  /// Returns whether it is an export; then the row must be split again, because spaces are part of a text.
  mutating func recogniseExport(_ rows: FDSNRowReader) -> Bool {
    guard hasExportHeader, rows.fields.count == Self.exportFields.count else { return false }
    let code = rows.input.bytes(rows.fields[0])
    let source = rows.input.bytes(rows.fields[6])
    let isLocal = source.elementsEqual("local".utf8)
    if !isLocal, !CatalogueCode.tells(source, in: code) {
      let author = rows.input.bytes(rows.fields[5])
      let contributor = rows.input.bytes(rows.fields[7])
      guard centre == nil, service == nil, author.elementsEqual(contributor),
        DataCentre(name: String(decoding: source.prefix(65), as: UTF8.self)) != nil
      else { return false }
    }
    setExport()
    return true
  }

  /// Whether the data centre of the row that `rows` has read last is known.
  func knowsCentre(of rows: FDSNRowReader) -> Bool {
    DataCentre.choose(named: centre, publicID: publicID(in: rows), service: service) != nil
  }

  /// The identifier in the row that `rows` has read last, if it is a publicID.
  private func publicID(in rows: FDSNRowReader) -> PublicID? {
    guard let place = fields.firstIndex(where: { $0?.column == .code }),
      place < rows.fields.count
    else { return nil }
    return PublicID(withScheme: rows.input.bytes(rows.fields[place]))
  }

  /// Reads the rows as those of an export of ours.
  mutating func setExport() {
    isExport = true
    fields = Self.exportFields
    let present = Set(fields.compactMap { $0?.column })
    columns = QuakeColumn.feed.filter(present.contains)
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
    guard !isExport else { return try decodeExport(rows, into: &record) }
    publicID = publicID(in: rows)
    guard let centre = DataCentre.choose(named: self.centre, publicID: publicID, service: service)
    else {
      throw Rejection("The data centre of the event is not known.")
    }
    record.set(.source, centre.name)
    for (range, target) in zip(rows.fields, fields) {
      guard let target else { continue }
      let text = rows.input.bytes(range)
      // INGV writes two hyphens for unknown values.
      if text.isEmpty || text.elementsEqual("--".utf8) { continue }
      switch target.column {
      case .code: try setCode(publicID, text, of: centre, in: &record)
      case .time: try setTime(text, in: &record)
      default: try target.reading.set(text, target.column, in: &record)
      }
    }
    if centre == .usgs { record.setNetCode(scratch: &scratch) }
    try FieldCheck.checkComplete(record, strict: strict)
  }

  private mutating func decodeExport(
    _ rows: FDSNRowReader, into record: inout QuakeRecord
  ) throws(Rejection) {
    for (range, target) in zip(rows.fields, fields) {
      guard let target else { continue }
      let text = rows.input.bytes(range)
      guard !text.isEmpty else { continue }
      // A single space is an empty text, because an empty field is a missing value.
      if text.elementsEqual(" ".utf8) {
        record.set(target.column, "")
      } else if text.contains(0xE2) {
        restore(text)
        try setScratch(target.reading, target.column, in: &record)
      } else {
        try target.reading.set(text, target.column, in: &record)
      }
    }
    try FieldCheck.checkComplete(record, strict: strict)
  }

  /// Restores the characters that an export has replaced; the result is in `scratch`.
  private mutating func restore(_ text: UnsafeRawBufferPointer) {
    scratch.removeAll(keepingCapacity: true)
    var index = 0
    while index < text.count {
      guard text[index] == 0xE2, index + 2 < text.count else {
        scratch.append(text[index])
        index += 1
        continue
      }
      switch (text[index + 1], text[index + 2]) {
      case (0x94, 0x82): scratch.append(UInt8(ascii: "|"))
      case (0x90, 0xA4): scratch.append(0x0A)
      case (0x90, 0x8D): scratch.append(0x0D)
      case (0x90, 0x9B):
        // The next character is meant as it is.
        index += 3
        guard index < text.count else { return }
        scratch.append(text[index])
        index += 1
        while index < text.count, text[index] & 0xC0 == 0x80 {
          scratch.append(text[index])
          index += 1
        }
        continue
      default: scratch.append(contentsOf: text[index...(index + 2)])
      }
      index += 3
    }
  }

  /// The centre's identifier is stored as `net_code`, and with the centre's prefix as `code`. Some centres give
  /// whole publicIDs, of which the name is the identifier, as in QuakeML.
  private mutating func setCode(
    _ publicID: PublicID?, _ text: UnsafeRawBufferPointer, of centre: DataCentre,
    in record: inout QuakeRecord
  ) throws(Rejection) {
    scratch.removeAll(keepingCapacity: true)
    if let publicID {
      guard !publicID.name.isEmpty else { throw publicID.namesNothing }
      scratch.append(contentsOf: publicID.name)
    } else {
      scratch.append(contentsOf: text)
    }
    guard centre != .usgs else { return try setScratch(.text, .code, in: &record) }
    try setScratch(.text, .netCode, in: &record)
    let prefix = centre.codePrefix.utf8
    if publicID == nil || !scratch.starts(with: prefix) {
      scratch.insert(contentsOf: prefix, at: 0)
    }
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

/// Splits FDSN text into lines and fields, as ranges of the input. Vertical bars separate the fields, spaces
/// around them are ignored, and there are no quotes.
final class FDSNRowReader {
  struct Row {
    let range: Range<Int>
    /// The line, counted from 1.
    let line: Int
    let endsWithLineBreak: Bool
  }

  let input: InputBuffer
  /// The fields of the row read last.
  private(set) var fields: [Range<Int>] = []
  private let maximumRowBytes: Int
  private var position: Int
  private var line = 0
  private var isHeader = true
  /// Whether spaces around a field do not belong to it.
  private(set) var trimsFields = true

  /// Reads rows from `position` on.
  init(input: InputBuffer, position: Int, maximumRowBytes: Int) {
    self.input = input
    self.position = position
    self.maximumRowBytes = maximumRowBytes
  }

  /// The next row that is neither blank nor a comment, or nil at the end. The first row is the header, which
  /// may look like a comment. Its bytes are valid until the next call.
  func next() throws(FeedError) -> Row? {
    while let row = try nextLine() {
      guard let first = input.bytes(row.range).first(where: { !Self.isSpace($0) }) else { continue }
      if first == UInt8(ascii: "#"), !isHeader { continue }
      isHeader = false
      split(row.range)
      return row
    }
    return nil
  }

  /// Splits the last row again, and keeps the spaces of its fields and of those of later rows.
  func keepSpaces(in row: Row) {
    trimsFields = false
    split(row.range)
  }

  private func nextLine() throws(FeedError) -> Row? {
    let begin = position
    line += 1
    while true {
      if position == input.end, !(try input.fill(keepingFrom: begin)) { break }
      for byte in input.bytes(position..<input.end) {
        position += 1
        guard byte == 0x0A else { continue }
        return Row(range: begin..<(position - 1), line: line, endsWithLineBreak: true)
      }
      guard position - begin <= maximumRowBytes else {
        throw input.error(
          .featureTooLarge, "a row of \(input.name) is too large", at: begin,
          detail: "A row may have \(maximumRowBytes) bytes.")
      }
    }
    return position > begin
      ? Row(range: begin..<position, line: line, endsWithLineBreak: false) : nil
  }

  private func split(_ row: Range<Int>) {
    fields.removeAll(keepingCapacity: true)
    var start = row.lowerBound
    for place in row where input.byte(at: place) == UInt8(ascii: "|") {
      fields.append(trimmed(start..<place))
      start = place + 1
    }
    fields.append(trimmed(start..<row.upperBound))
  }

  private func trimmed(_ range: Range<Int>) -> Range<Int> {
    var (low, high) = (range.lowerBound, range.upperBound)
    guard trimsFields else {
      // A carriage return at the end belongs to the line break.
      let endsLine = low < high && input.byte(at: high - 1) == 0x0D
      return low..<(endsLine ? high - 1 : high)
    }
    while low < high, Self.isSpace(input.byte(at: low)) { low += 1 }
    while low < high, Self.isSpace(input.byte(at: high - 1)) { high -= 1 }
    return low..<high
  }

  /// A carriage return counts as a space, because it may precede the line feed.
  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0D
  }
}
