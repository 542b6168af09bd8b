/// Splits CSV (RFC 4180) into rows and fields, as ranges of the input.
final class CSVRowReader {
  /// The text of a field, without its quotes.
  struct Field {
    var range: Range<Int>
    /// Whether it contains `""`, which means one quote.
    var hasDoubledQuotes: Bool
  }

  struct Row {
    let range: Range<Int>
    /// The line it begins on, counted from 1.
    let line: Int
    /// Whether text follows a closing quote.
    let isMalformed: Bool
    let endsWithLineBreak: Bool
  }

  private enum State {
    case fieldStart, plain, quoted, afterQuote
  }

  let input: InputBuffer
  /// The fields of the row read last.
  private(set) var fields: [Field] = []
  private let maximumRowBytes: Int
  private var position: Int
  private var line = 1

  /// Reads rows from `position` on.
  init(input: InputBuffer, position: Int, maximumRowBytes: Int) {
    self.input = input
    self.position = position
    self.maximumRowBytes = maximumRowBytes
  }

  /// The next row that is not blank, or nil at the end. Its bytes are valid until the next call.
  func next() throws(FeedError) -> Row? {
    while let row = try nextLine() {
      if row.range.isEmpty { continue }
      return row
    }
    return nil
  }

  /// The next row; a blank line is an empty one.
  private func nextLine() throws(FeedError) -> Row? {
    let begin = position
    let firstLine = line
    var state = State.fieldStart
    var fieldStart = position
    var textEnd = position
    var hasDoubledQuotes = false
    var isQuoted = false
    var isMalformed = false
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
          return Row(
            range: begin..<end, line: firstLine, isMalformed: isMalformed, endsWithLineBreak: true)
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
    return Row(
      range: begin..<position, line: firstLine, isMalformed: isMalformed, endsWithLineBreak: false)
  }

  /// A field's bytes, valid until the next row is read. If quotes are doubled, they are in `scratch`.
  func withText<Value>(
    of field: Field, scratch: inout [UInt8], _ body: (UnsafeRawBufferPointer) -> Value
  ) -> Value {
    let bytes = input.bytes(field.range)
    guard field.hasDoubledQuotes else { return body(bytes) }
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
    return scratch.withUnsafeBytes(body)
  }
}
