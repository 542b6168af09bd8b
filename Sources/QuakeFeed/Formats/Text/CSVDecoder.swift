import QuakeModel

/// Decodes the rows of a USGS CSV file, according to its header.
final class CSVDecoder: FeedDecoder {
  private static let names: [String: TextField] = [
    "time": (.time, .instant), "latitude": (.latitude, .number), "longitude": (.longitude, .number),
    "depth": (.depth, .number), "mag": (.magnitude, .number), "magType": (.magnitudeType, .text),
    "nst": (.nst, .integer), "gap": (.gap, .number), "dmin": (.dmin, .number),
    "rms": (.rms, .number), "net": (.net, .text), "id": (.code, .text),
    "updated": (.updated, .instant), "place": (.place, .text), "type": (.type, .text),
    "status": (.status, .text),
  ]

  let format = FeedFormat.usgsCSV
  let columns: [EventColumn]
  /// They follow from the code.
  let inferredColumns: Set<EventColumn> = [.source, .netCode]
  private let rows: CSVRowReader
  /// The column of each field of a row; nil for ignored fields.
  private let fields: [TextField?]
  private let codeIndex: Int
  private let options: FeedReader.Options
  private var scratch: [UInt8] = []

  init(
    _ input: InputBuffer, from start: Int, options: FeedReader.Options
  ) throws(FeedError) {
    self.options = options
    rows = CSVRowReader(input: input, position: start, maximumRowBytes: options.maximumFeatureBytes)
    guard let header = try rows.next() else {
      throw FeedError(.emptyBody, "\(input.name) is empty", detail: "The body is empty.")
    }
    do throws(FeedError) {
      fields = try Self.fields(of: header, rows)
    } catch {
      // It may be a sentence instead of a feed.
      let text = input.bytes(header.range).prefix(FeedError.longestAnswer)
      throw error.quoting(String(decoding: text, as: UTF8.self))
    }
    codeIndex = fields.firstIndex { $0?.column == .code } ?? 0
    let present = Set(fields.compactMap { $0?.column })
    let carried = present.union([.source]).union(present.contains(.net) ? [.netCode] : [])
    columns = EventColumn.feed.filter(carried.contains)
  }

  /// The column of each field that the header names.
  private static func fields(
    of header: LineReader.Line, _ rows: CSVRowReader
  ) throws(FeedError) -> [TextField?] {
    var scratch: [UInt8] = []
    let names = rows.fields.map { field in
      rows.withText(of: field, scratch: &scratch) { String(decoding: $0, as: UTF8.self) }
    }
    let subject = "the CSV header of \(rows.input.name) is wrong"
    let fields = try rows.input.fields(names, Self.names, of: header, subject)
    let required: [(EventColumn, String)] = [
      (.code, "id"), (.time, "time"), (.latitude, "latitude"), (.longitude, "longitude"),
    ]
    for (column, name) in required where !fields.contains(where: { $0?.column == column }) {
      // Text of another kind has none of these columns, and then the row is not a header.
      guard fields.count(where: { $0 != nil }) > 1 else {
        throw rows.input.error(
          .notAFeed, "\(rows.input.name) is not a feed", at: header.range.lowerBound,
          detail: "It is neither GeoJSON, nor CSV with a header, nor FDSN text.",
          hint: "Check the URL or the file.")
      }
      throw rows.input.error(
        .csvHeader, subject, at: header.range.lowerBound, detail: "It has no column \"\(name)\".")
    }
    return fields
  }

  func next(into record: inout EventRecord) throws(FeedError) -> DecodedEvent? {
    guard let row = try rows.next() else { return nil }
    do throws(Rejection) {
      try decode(into: &record)
      return .record
    } catch {
      try rows.input.checkEnd(of: row, fields: rows.fields.count, expected: fields.count)
      return .reject(error, rows.input.text(of: row))
    }
  }

  private func decode(into record: inout EventRecord) throws(Rejection) {
    guard !rows.isMalformed else { throw Rejection("A field continues after its closing quote.") }
    guard rows.fields.count == fields.count else {
      throw Rejection(
        "The row has \(rows.fields.count) fields, where the header has \(fields.count).")
    }
    // The code is read first, so that a reject for another column has it.
    try set(codeIndex, in: &record)
    for index in fields.indices where index != codeIndex {
      try set(index, in: &record)
    }
    record.setInferredSource(scratch: &scratch)
    record.setNetCode(scratch: &scratch)
    try FieldCheck.checkComplete(record, options)
  }

  private func set(_ index: Int, in record: inout EventRecord) throws(Rejection) {
    let field = rows.fields[index]
    guard let target = fields[index], !field.range.isEmpty else { return }
    try rows.withText(of: field, scratch: &scratch) { text throws(Rejection) in
      try target.reading.set(text, target.column, in: &record)
    }
  }
}

/// Splits CSV (RFC 4180) into rows and fields, as ranges of the input.
final class CSVRowReader {
  /// The text of a field, without its quotes.
  struct Field {
    var range: Range<Int>
    /// Whether it contains `""`, which means one quote.
    var hasDoubledQuotes: Bool
  }

  private enum State {
    case fieldStart, plain, quoted, afterQuote
  }

  let input: InputBuffer
  /// The fields of the row read last.
  private(set) var fields: [Field] = []
  /// Whether text follows a closing quote in it.
  private(set) var isMalformed = false
  private let maximumRowBytes: Int
  private var position: Int
  private var line = 1

  init(input: InputBuffer, position: Int, maximumRowBytes: Int) {
    self.input = input
    self.position = position
    self.maximumRowBytes = maximumRowBytes
  }

  /// The next row that is not blank, or nil at the end. Its bytes are valid until the next call.
  func next() throws(FeedError) -> LineReader.Line? {
    while let row = try nextLine() {
      if row.range.isEmpty { continue }
      return row
    }
    return nil
  }

  /// The next row; a blank line is an empty one.
  private func nextLine() throws(FeedError) -> LineReader.Line? {
    let begin = position
    let firstLine = line
    var state = State.fieldStart
    var fieldStart = position
    var textEnd = position
    var hasDoubledQuotes = false
    var isQuoted = false
    isMalformed = false
    fields.removeAll(keepingCapacity: true)

    func endField(at end: Int) {
      let range = isQuoted ? fieldStart + 1..<textEnd : fieldStart..<end
      fields.append(Field(range: range, hasDoubledQuotes: hasDoubledQuotes))
      fieldStart = position
      state = .fieldStart
      isQuoted = false
      hasDoubledQuotes = false
    }

    while true {
      if position == input.end, !(try input.fill(keepingFrom: begin)) { break }
      let chunk = input.bytes(position..<input.end)
      for byte in chunk {
        position += 1
        switch state {
        case .quoted:
          if byte == UInt8(ascii: "\"") {
            state = .afterQuote
            textEnd = position - 1
          } else if byte == 0x0A {
            line += 1
          }
          continue
        case .afterQuote:
          if byte == UInt8(ascii: "\"") {
            hasDoubledQuotes = true
            state = .quoted
            continue
          }
        case .fieldStart:
          if byte == UInt8(ascii: "\"") {
            isQuoted = true
            state = .quoted
            continue
          }
        case .plain: break
        }
        if byte == UInt8(ascii: ",") {
          endField(at: position - 1)
        } else if byte == 0x0A {
          line += 1
          var end = position - 1
          if end > begin, input.byte(at: end - 1) == 0x0D { end -= 1 }
          if end > begin { endField(at: end) }
          return LineReader.Line(range: begin..<end, number: firstLine, endsWithLineBreak: true)
        } else if state != .afterQuote {
          state = .plain
        } else if byte != 0x0D {
          isMalformed = true
        }
      }
      guard position - begin <= maximumRowBytes else {
        throw input.error(
          .featureTooLarge, "a row of \(input.name) is too large", at: begin,
          detail: "A row may have \(maximumRowBytes) bytes; a closing quote may be missing.")
      }
    }
    guard position > begin else { return nil }
    guard state != .quoted else {
      throw input.error(
        .truncated, "\(input.name) is truncated", at: begin,
        detail: "The last row ends within quotes.", hint: "Fetch it again.")
    }
    endField(at: position)
    return LineReader.Line(range: begin..<position, number: firstLine, endsWithLineBreak: false)
  }

  /// A field's bytes, valid until the next row is read. If quotes are doubled, they are in `scratch`.
  func withText<Value, Failure>(
    of field: Field, scratch: inout [UInt8],
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let bytes = input.bytes(field.range)
    guard field.hasDoubledQuotes else { return try body(bytes) }
    scratch.removeAll(keepingCapacity: true)
    var skips = false
    for byte in bytes {
      if byte == UInt8(ascii: "\""), !skips {
        skips = true
        continue
      }
      skips = false
      scratch.append(byte)
    }
    return try scratch.withRawBytes(body)
  }
}
