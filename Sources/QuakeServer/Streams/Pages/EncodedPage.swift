import QuakeModel
import Synchronization

/// Some changes that follow each other in the history, as all clients get them.
///
/// Each change is encoded once, as a Server-Sent Event whose last field is its JSON:
///
///     id: 1042.9f3ac2d1
///     data: {"token":"1042.9f3ac2d1",...}
///     (empty line)
///
/// The JSON with its end of line is a part of that, so lines are sent from the same memory.
///
/// `@unchecked Sendable`: the memory is written in the initialiser and only read afterwards.
final class EncodedPage: @unchecked Sendable {
  /// Where a change is in the memory.
  struct Place: Sendable {
    /// The beginning of its event.
    var start: UInt32
    /// The beginning of its JSON.
    var json: UInt32
  }

  /// The changes themselves, for filters.
  let changes: [Change]
  /// The cursor before the first change, and after the last.
  let before, after: HistoryCursor
  /// Whether the changes were read as they were committed, and not to catch up.
  let isLive: Bool
  private let places: [Place]
  private let memory: UnsafeMutableRawBufferPointer
  /// The frames for clients with a WebSocket, once there is one.
  private let frames = Mutex<WebSocketPage?>(nil)

  /// - Parameter places: One for each change, and one at the end.
  init(
    _ bytes: [UInt8], _ places: [Place], _ changes: [Change], before: HistoryCursor,
    after: HistoryCursor, isLive: Bool
  ) {
    memory = .allocate(byteCount: max(bytes.count, 1), alignment: 16)
    memory.copyBytes(from: bytes)
    self.places = places
    self.changes = changes
    self.before = before
    self.after = after
    self.isLive = isLive
  }

  deinit {
    memory.deallocate()
  }

  /// How many changes there are.
  var count: Int { changes.count }

  /// The size of the encoded changes in bytes.
  var size: Int { memory.count }

  /// When the last transaction was committed, by the server's clock.
  var committed: Timestamp? { changes.last?.transaction.at }

  /// The bytes of some changes in a form; for other forms than events it must be one change.
  func bytes(_ range: Range<Int>, _ form: StreamForm) -> UnsafeRawBufferPointer {
    if form == .webSocket { return webSocketPage.bytes(range) }
    let end = Int(places[range.upperBound].start)
    let first = places[range.lowerBound]
    return switch form {
    case .events, .webSocket: UnsafeRawBufferPointer(rebasing: memory[Int(first.start)..<end])
    // Without the empty line after an event.
    case .lines: UnsafeRawBufferPointer(rebasing: memory[Int(first.json)..<end - 1])
    }
  }

  private var webSocketPage: WebSocketPage {
    frames.withLock { frames in
      let made = frames ?? WebSocketPage(self)
      frames = made
      return made
    }
  }

  /// The change in which a byte of the events is, counted from the beginning of a change, and its position there.
  func change(at byte: Int, from first: Int) -> (change: Int, offset: Int) {
    let position = Int(places[first].start) + byte
    var (low, high) = (first, count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if Int(places[middle].start) <= position { low = middle } else { high = middle }
    }
    return (low, position - Int(places[low].start))
  }

  /// The cursor of a client that has the changes before `index`.
  func cursor(before index: Int) -> HistoryCursor {
    if index == 0 { return before }
    return index == count ? after : HistoryCursor(after: changes[index - 1])
  }
}
