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
