import CSimdjson

/// A window on a source: the bytes from some offset on, as many as are needed and no more.
///
/// Positions are offsets in the whole input, so that they stay valid when the window moves. `CSJ_PADDING`
/// readable bytes always follow the window's last byte, as simdjson requires, so that an event is parsed in
/// place, without a copy.
final class InputBuffer {
  /// The name of the input for errors, such as `feed "all_day"`.
  let name: String
  private let source: any ByteSource
  /// The most bytes that the input may have.
  private let limit: Int
  private var memory: UnsafeMutableRawPointer
  private(set) var capacity: Int
  /// The offset of the first byte in memory.
  private(set) var start = 0
  /// The offset after the last byte in memory, which is also the number of bytes read.
  private(set) var end = 0
  private var isFinished = false
  private var lineBreaksBeforeStart = 0
  /// The most bytes that may come without an event.
  var longestGap = FeedReader.longestGap
  /// How many bytes had been read when the last event was returned.
  private var lastEvent = 0

  init(
    _ source: any ByteSource, name: String, capacity: Int = 128 * 1024, limit: Int? = nil
  ) {
    self.limit = limit ?? .max
    self.source = source
    self.name = name
    self.capacity = capacity
    memory = Self.allocate(capacity)
  }

  deinit {
    memory.deallocate()
  }

  private static func allocate(_ capacity: Int) -> UnsafeMutableRawPointer {
    let padded = capacity + Int(CSJ_PADDING)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: padded, alignment: 64)
    // Zeroed only so that a memory checker does not report the reads past the end.
    (memory + capacity).initializeMemory(as: UInt8.self, repeating: 0, count: padded - capacity)
    return memory
  }

  /// The byte at an offset between `start` and `end`.
  func byte(at offset: Int) -> UInt8 {
    (memory + (offset - start)).load(as: UInt8.self)
  }

  /// The bytes in memory between two offsets, valid until the next `fill`.
  func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    precondition(
      range.lowerBound >= start && range.upperBound <= end, "these bytes are not in memory")
    return UnsafeRawBufferPointer(start: memory + (range.lowerBound - start), count: range.count)
  }

  /// Reads more; the bytes before `keep` may be dropped. False at the end of the input.
  func fill(keepingFrom keep: Int) throws(FeedError) -> Bool {
    guard !isFinished else { return false }
    // Moving only when half of the buffer is used keeps small reads from moving the same bytes often.
    if capacity - (end - start) < capacity / 2 {
      drop(before: keep)
      if capacity - (end - start) < capacity / 4 { grow() }
    }
    let space = UnsafeMutableRawBufferPointer(
      start: memory + (end - start), count: capacity - (end - start))
    let count = try source.read(into: space)
    isFinished = count == 0
    end += count
    guard end <= limit else { throw FeedError.bodyTooLarge(name, limit: limit) }
    guard end - lastEvent <= longestGap else { throw FeedError.noEvents(name, bytes: longestGap) }
    return count > 0
  }

  /// Notes that an event has been found in what was read.
  func eventEnds() { lastEvent = end }

  private func drop(before offset: Int) {
    let dropped = offset - start
    guard dropped > 0 else { return }
    lineBreaksBeforeStart += csj_count_byte(memory, dropped, 0x0A)
    memory.copyMemory(from: memory + dropped, byteCount: end - offset)
    start = offset
  }

  private func grow() {
    let larger = Self.allocate(capacity * 2)
    larger.copyMemory(from: memory, byteCount: end - start)
    memory.deallocate()
    memory = larger
    capacity *= 2
  }

  /// The line, counted from 1, of an offset between `start` and `end`.
  func line(at offset: Int) -> Int {
    1 + lineBreaksBeforeStart + csj_count_byte(memory, offset - start, 0x0A)
  }

  /// An error with its line and offset in the input.
  func error(
    _ code: FeedError.Code, _ message: String, at offset: Int, detail: String? = nil,
    hint: String? = nil
  ) -> FeedError {
    let place = "At byte \(offset), line \(line(at: max(offset, start)))."
    return FeedError(
      code, message, detail: detail.map { "\($0) \(place)" } ?? place, hint: hint)
  }
}

final class LineReader {
  /// A line; in CSV, a row of several lines.
  struct Line {
    let range: Range<Int>
    /// The number of its first line, counted from 1.
    let number: Int
    let endsWithLineBreak: Bool
  }

  let input: InputBuffer
  private let maximumBytes: Int
  private let isTable: Bool
  private var position: Int
  private var number = 0

  /// Reads lines from `position` on.
  ///
  /// - Parameter isTable: Whether messages call a line a row.
  init(input: InputBuffer, position: Int, maximumBytes: Int, isTable: Bool = false) {
    self.input = input
    self.position = position
    self.maximumBytes = maximumBytes
    self.isTable = isTable
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
          .featureTooLarge,
          "\(isTable ? "a row" : "line \(number)") of \(input.name) is too large", at: begin,
          detail: "A \(isTable ? "row" : "line") may have \(maximumBytes) bytes.")
      }
    }
    return position > begin
      ? Line(range: begin..<position, number: number, endsWithLineBreak: false) : nil
  }
}
