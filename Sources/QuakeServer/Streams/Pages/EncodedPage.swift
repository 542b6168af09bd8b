import QuakeModel
import Synchronization

/// Some changes that follow each other in the history, as all clients get them.
///
/// Each change is encoded once, as a Server-Sent Event whose last field is its JSON:
///
///     predecessor: 1041.07ac31f6
///     id: 1042.9f3ac2d1
///     data: {"token":"1042.9f3ac2d1",...}
///     (empty line)
///
/// The first change of a transaction names the transaction before it, so that a client that gets all changes sees
/// that none is missing. The JSON with its end of line is a part of that, so lines are sent from the same memory.
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
    return index == count ? after : changes[index - 1].cursor
  }
}

/// Encodes changes into pages. All clients get the same bytes, so none sees the sessions that made the changes.
struct PageEncoder {
  private var json = JSONWriter()
  private var bytes: [UInt8] = []
  private var places: [EncodedPage.Place] = []
  private var changes: [Change] = []
  /// The beginning of the events of a transaction, up to where its token ends.
  private var idField: (transaction: ChangeTransaction, text: [UInt8])?

  init() {
    json.hidesSessions = true
  }

  /// Adds a change, which must follow the last one in the history.
  mutating func append(_ change: Change) {
    let start = bytes.count
    if change.position == 0, let predecessor = change.transaction.predecessor {
      bytes.append(contentsOf: "predecessor: \(predecessor)\n".utf8)
    }
    bytes.append(contentsOf: idField(of: change.transaction))
    let cursor = change.cursor
    if cursor.changes != 0 { bytes.append(contentsOf: "-\(cursor.changes)".utf8) }
    bytes.append(contentsOf: "\ndata: ".utf8)
    places.append(.init(start: UInt32(start), json: UInt32(bytes.count)))
    json.change(change)
    json.withBytes { bytes.append(contentsOf: $0) }
    json.removeAll()
    bytes.append(contentsOf: "\n\n".utf8)
    changes.append(change)
  }

  private mutating func idField(of transaction: ChangeTransaction) -> [UInt8] {
    if let idField, idField.transaction === transaction { return idField.text }
    let text = Array("id: \(transaction.token)".utf8)
    idField = (transaction, text)
    return text
  }

  /// The page of all changes added since the last one; nil without any.
  ///
  /// - Parameter before: The cursor before the first of them.
  mutating func finish(after before: HistoryCursor, isLive: Bool) -> EncodedPage? {
    guard let last = changes.last else { return nil }
    places.append(.init(start: UInt32(bytes.count), json: UInt32(bytes.count)))
    let page = EncodedPage(
      bytes, places, changes, before: before, after: last.cursor, isLive: isLive)
    // A large page leaves no large buffers behind.
    if bytes.capacity > 4 << 20 { bytes = [] }
    bytes.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
    changes = []
    return page
  }
}

/// The clients that have the same filter, which is evaluated once for all of them.
final class FilterGroup {
  /// Which changes of a page pass.
  enum Acceptance {
    case none
    case all
    /// One bit for each change.
    case some([UInt64])

    /// The first change from `index` on that passes; `count` if none does.
    func next(from index: Int, of count: Int) -> Int {
      switch self {
      case .none: return count
      case .all: return index
      case .some(let bits):
        var index = index
        while index < count, bits[index / 64] & (1 << UInt64(index % 64)) == 0 { index += 1 }
        return index
      }
    }

    /// The end of the changes that pass, from one on that does.
    func end(from index: Int, of count: Int) -> Int {
      switch self {
      case .none: return index
      case .all: return count
      case .some(let bits):
        var index = index
        while index < count, bits[index / 64] & (1 << UInt64(index % 64)) != 0 { index += 1 }
        return index
      }
    }
  }

  let filter: EventFilter
  var clients = 0
  private let passesAll: Bool
  /// The results for the latest pages, by the number of the page.
  private var known: [(page: Int, acceptance: Acceptance)] = []
  private static let most = 16

  init(_ filter: EventFilter) {
    self.filter = filter
    passesAll = filter == EventFilter()
  }

  func acceptance(of page: EncodedPage, number: Int) -> Acceptance {
    if passesAll { return .all }
    if known.isEmpty { known = Array(repeating: (-1, .none), count: Self.most) }
    let index = number % Self.most
    if known[index].page == number { return known[index].acceptance }
    let acceptance = evaluate(page)
    known[index] = (number, acceptance)
    return acceptance
  }

  /// Forgets what it knows, because the numbers now belong to other pages.
  func forget() { known = [] }

  private func evaluate(_ page: EncodedPage) -> Acceptance {
    var bits = [UInt64](repeating: 0, count: (page.count + 63) / 64)
    var passed = 0
    for (index, change) in page.changes.enumerated() where filter.accepts(change) {
      bits[index / 64] |= 1 << UInt64(index % 64)
      passed += 1
    }
    if passed == 0 { return .none }
    return passed == page.count ? .all : .some(bits)
  }
}
