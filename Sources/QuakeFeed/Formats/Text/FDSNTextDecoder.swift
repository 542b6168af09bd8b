import QuakeModel

/// Decodes the rows of an FDSN event service's text, according to its header.
///
/// Centres write the names in the header in different cases (`Depth/Km`), and SCEDC misspells one.
final class FDSNTextDecoder: FeedDecoder {
  private static let names: [String: TextField] = [
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
  private static let exportFields: [TextField?] = [
    (.code, .text), (.time, .instant), (.latitude, .number), (.longitude, .number),
    (.depth, .number), (.net, .text), (.source, .text), nil, (.netCode, .text),
    (.magnitudeType, .text), (.magnitude, .number), nil, (.place, .text), (.type, .text),
  ]

  let format = FeedFormat.fdsnText
  private(set) var columns: [EventColumn]
  private let rows: FDSNRowReader
  private let options: FeedReader.Options
  /// The column of each field of a row; nil for ignored fields.
  private var fields: [TextField?]
  /// Whether an export of ours has written the text; with `decidesByRow`, the row that was read last.
  private var isExport = false
  /// Whether each row tells by itself whether it is one of ours: the answer of a service that may be another store's.
  private let decidesByRow: Bool
  private var scratch: [UInt8] = []
  /// The first row after the header, if it was read early to recognise an export.
  private var pending: LineReader.Line?
  /// The identifier of the event that was decoded last, if it is a publicID.
  private var publicID: PublicID?
  private var publicIDs = PublicIDCheck()

  init(
    _ input: InputBuffer, from start: Int, options: FeedReader.Options
  ) throws(FeedError) {
    self.options = options
    rows = FDSNRowReader(
      input: input, position: start, maximumRowBytes: options.maximumFeatureBytes)
    guard let header = try rows.next() else {
      preconditionFailure("text is recognised by its header")
    }
    let hasExportHeader = input.bytes(header.range).elementsEqual(Self.exportHeader.utf8)
    decidesByRow = hasExportHeader && options.centre == nil && options.service != nil
    fields = try Self.fields(of: header, rows)
    columns = Self.columns(of: fields, and: [.source, .netCode])
    let isCentreGiven = options.centre != nil || options.service != nil
    if !decidesByRow, hasExportHeader || !isCentreGiven {
      pending = try rows.next()
      if let pending {
        if hasExportHeader, isRowOfExport {
          setExport()
          rows.keepSpaces(in: pending)
        }
      } else if hasExportHeader, !isCentreGiven {
        setExport()  // an export of no events
      }
    }
    guard isCentreGiven || isExport || centre(of: publicIDOfRow) != nil else {
      throw .unknownCentre(
        input.name,
        detail: "FDSN text does not name the data centre, whose identifiers it gives.")
    }
  }

  /// The column of each field that the header names.
  private static func fields(
    of header: LineReader.Line, _ rows: FDSNRowReader
  ) throws(FeedError) -> [TextField?] {
    var names = rows.fields.map {
      String(decoding: rows.input.bytes($0), as: UTF8.self).lowercased()
    }
    names[0] = String(names[0].drop { $0 == "#" || $0 == " " })
    let subject = "the FDSN text header of \(rows.input.name) is wrong"
    let fields = try rows.input.fields(names, Self.names, of: header, subject)
    let required: [(EventColumn, String)] = [
      (.code, "EventID"), (.time, "Time"), (.latitude, "Latitude"), (.longitude, "Longitude"),
    ]
    for (column, name) in required where !fields.contains(where: { $0?.column == column }) {
      throw rows.input.error(
        .csvHeader, subject, at: header.range.lowerBound, detail: "It has no column \"\(name)\".")
    }
    return fields
  }

  private static func columns(
    of fields: [TextField?], and others: Set<EventColumn> = []
  ) -> [EventColumn] {
    let carried = others.union(fields.compactMap { $0?.column })
    return EventColumn.feed.filter(carried.contains)
  }

  /// Whether the first row after the header is one of an export of ours: `Catalog` is the catalogue that the code
  /// implies, or `local`, or at least a name in small letters beside an author who is also the contributor.
  private var isRowOfExport: Bool {
    guard rows.fields.count == Self.exportFields.count else { return false }
    let code = rows.input.bytes(rows.fields[0])
    let source = rows.input.bytes(rows.fields[6])
    let isLocal = source.elementsEqual("local".utf8)
    if !isLocal, !CatalogueCode.tells(source, in: code) {
      let author = rows.input.bytes(rows.fields[5])
      let contributor = rows.input.bytes(rows.fields[7])
      guard options.centre == nil, options.service == nil, author.elementsEqual(contributor),
        DataCentre(name: String(decoding: source.prefix(65), as: UTF8.self)) != nil
      else { return false }
    }
    return true
  }

  /// The data centre of an event; nil: it is not known.
  private func centre(of publicID: PublicID?) -> DataCentre? {
    DataCentre.choose(named: options.centre, publicID: publicID, service: options.service)
  }

  /// The identifier in the row that was read last, if it is a publicID.
  private var publicIDOfRow: PublicID? {
    guard let place = fields.firstIndex(where: { $0?.column == .code }),
      place < rows.fields.count
    else { return nil }
    return PublicID(withScheme: rows.input.bytes(rows.fields[place]))
  }

  /// Reads the rows as those of an export of ours.
  private func setExport() {
    isExport = true
    fields = Self.exportFields
    columns = Self.columns(of: fields)
  }

  func next(into record: inout EventRecord) throws(FeedError) -> DecodedEvent? {
    var next = pending.take()
    if next == nil { next = try rows.next() }
    guard let row = next else { return nil }
    if decidesByRow {
      isExport = isRowOfExport
      publicID = nil
      if isExport { rows.keepSpaces(in: row) }
    }
    defer { if decidesByRow { rows.trimsFields = true } }
    do throws(Rejection) {
      try decode(into: &record)
    } catch {
      try rows.input.checkEnd(of: row, fields: rows.fields.count, expected: fields.count)
      return .reject(error, rows.input.text(of: row))
    }
    try publicIDs.check(publicID, of: record, line: row.number, in: rows.input)
    return .record
  }

  private func decode(into record: inout EventRecord) throws(Rejection) {
    guard rows.fields.count == fields.count else {
      throw Rejection(
        "The row has \(rows.fields.count) fields, where the header has \(fields.count).")
    }
    guard !isExport else { return try decodeExport(into: &record) }
    publicID = publicIDOfRow
    guard let centre = centre(of: publicID) else {
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
    try FieldCheck.checkComplete(record, options)
  }

  private func decodeExport(into record: inout EventRecord) throws(Rejection) {
    for (range, target) in zip(rows.fields, Self.exportFields) {
      guard let target else { continue }
      let text = rows.input.bytes(range)
      guard !text.isEmpty else { continue }
      // A single space is an empty text, because an empty field is a missing value.
      if target.column.kind == .text, text.elementsEqual(" ".utf8) {
        record.set(target.column, "")
      } else if text.contains(0xE2) {
        restore(text)
        try target.reading.set(scratch, target.column, in: &record)
      } else {
        try target.reading.set(text, target.column, in: &record)
      }
    }
    try FieldCheck.checkComplete(record, options)
  }

  /// Restores the characters that an export has replaced; the result is in `scratch`.
  private func restore(_ text: UnsafeRawBufferPointer) {
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
  private func setCode(
    _ publicID: PublicID?, _ text: UnsafeRawBufferPointer, of centre: DataCentre,
    in record: inout EventRecord
  ) throws(Rejection) {
    scratch.removeAll(keepingCapacity: true)
    if let publicID {
      guard !publicID.name.isEmpty else { throw publicID.namesNothing }
      scratch.append(contentsOf: publicID.name)
    } else {
      scratch.append(contentsOf: text)
    }
    guard centre != .usgs else { return try TextReading.text.set(scratch, .code, in: &record) }
    try TextReading.text.set(scratch, .netCode, in: &record)
    let prefix = centre.codePrefix.utf8
    if publicID == nil || !scratch.starts(with: prefix) {
      scratch.insert(contentsOf: prefix, at: 0)
    }
    try TextReading.text.set(scratch, .code, in: &record)
  }

  /// SCEDC separates the parts of a date by slashes.
  private func setTime(
    _ text: UnsafeRawBufferPointer, in record: inout EventRecord
  ) throws(Rejection) {
    guard text.count > 7, text[4] == UInt8(ascii: "/"), text[7] == UInt8(ascii: "/") else {
      return try TextReading.instant.set(text, .time, in: &record)
    }
    scratch.removeAll(keepingCapacity: true)
    scratch.append(contentsOf: text)
    scratch[4] = UInt8(ascii: "-")
    scratch[7] = UInt8(ascii: "-")
    try TextReading.instant.set(scratch, .time, in: &record)
  }
}

/// Splits FDSN text into lines and fields, as ranges of the input. Vertical bars separate the fields, spaces
/// around them are ignored, and there are no quotes.
final class FDSNRowReader {
  let input: InputBuffer
  /// The fields of the row read last; none at the end.
  private(set) var fields: [Range<Int>] = []
  private let lines: LineReader
  private var isHeader = true
  /// Whether spaces around a field do not belong to it.
  var trimsFields = true

  init(input: InputBuffer, position: Int, maximumRowBytes: Int) {
    self.input = input
    lines = LineReader(
      input: input, position: position, maximumBytes: maximumRowBytes, isTable: true)
  }

  /// The next row that is neither blank nor a comment, or nil at the end. The first row is the header, which
  /// may look like a comment. Its bytes are valid until the next call.
  func next() throws(FeedError) -> LineReader.Line? {
    fields.removeAll(keepingCapacity: true)
    while let row = try lines.next() {
      guard let first = input.bytes(row.range).first(where: { !Self.isSpace($0) }) else { continue }
      if first == UInt8(ascii: "#"), !isHeader { continue }
      isHeader = false
      split(row.range)
      return row
    }
    return nil
  }

  /// Splits the last row again, and keeps the spaces of its fields and of those of later rows.
  func keepSpaces(in row: LineReader.Line) {
    trimsFields = false
    split(row.range)
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
