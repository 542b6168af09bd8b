/// Splits the input into lines.
final class LineReader {
  struct Line {
    let range: Range<Int>
    /// The line's number, counted from 1.
    let number: Int
    let endsWithLineBreak: Bool
  }

  let input: InputBuffer
  private let maximumBytes: Int
  private var position: Int
  private var number = 0

  /// Reads lines from `position` on.
  init(input: InputBuffer, position: Int, maximumBytes: Int) {
    self.input = input
    self.position = position
    self.maximumBytes = maximumBytes
  }

  /// The next line that is not blank, or nil at the end. Its bytes are valid until the next call.
  func next() throws(FeedError) -> Line? {
    while let line = try nextLine() {
      let isBlank = input.bytes(line.range).allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
      if !isBlank { return line }
    }
    return nil
  }

  private func nextLine() throws(FeedError) -> Line? {
    let begin = position
    number += 1
    while true {
      if position == input.end, !(try input.fill(keepingFrom: begin)) { break }
      let new = input.bytes(position..<input.end)
      if let end = new.firstIndex(of: 0x0A) {
        position += end + 1
        return Line(range: begin..<(position - 1), number: number, endsWithLineBreak: true)
      }
      position = input.end
      guard position - begin <= maximumBytes else {
        throw input.error(
          .featureTooLarge, "line \(number) of \(input.name) is too large", at: begin,
          detail: "A line may have \(maximumBytes) bytes.")
      }
    }
    return position > begin
      ? Line(range: begin..<position, number: number, endsWithLineBreak: false) : nil
  }
}
