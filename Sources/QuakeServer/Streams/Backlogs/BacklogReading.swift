import Basics
import Postgres
import QuakeHistory
import QuakeModel

/// Reads a backlog from the database into a file.
struct BacklogReading {
  private let key: Backlog.Key
  private let connection: Connection
  private let limit: Int
  private let longest: Duration
  private let shouldStop: @Sendable () -> Bool
  private let onGap: @Sendable (StoreError) -> Void
  private let file: TemporaryFile
  private var buffer: [UInt8] = []
  private var written = 0
  private var changes: Int64 = 0
  private var page = PageEncoder()
  private var block: StreamBlock

  private static let bufferSize = 256 << 10

  /// The reading was stopped, because the server ends.
  struct Stopped: Error {}

  /// The database is a copy that has not got yet what the client has read.
  struct IsLate: Error {}

  private init(
    _ key: Backlog.Key, over connection: Connection, limit: Int, longest: Duration,
    shouldStop: @escaping @Sendable () -> Bool, onGap: @escaping @Sendable (StoreError) -> Void
  ) throws {
    self.key = key
    self.connection = connection
    self.limit = limit
    self.longest = longest
    self.shouldStop = shouldStop
    self.onGap = onGap
    file = try TemporaryFile()
    block = StreamBlock(key.form)
  }

  /// Reads the backlog of a key to its end, until the file has `limit` bytes, or for the time `longest`.
  ///
  /// An invalid cursor is not an error: the backlog is then a reset and a snapshot.
  ///
  /// - Parameter onGap: Is called if the history lacks transactions after a valid cursor.
  /// - Throws: `PostgresError`, `HTTPError` if the file cannot be written, `Stopped`, `IsLate`.
  static func read(
    _ key: Backlog.Key, over connection: Connection, limit: Int, longest: Duration,
    shouldStop: @escaping @Sendable () -> Bool, onGap: @escaping @Sendable (StoreError) -> Void
  ) throws -> Backlog {
    var reading = try BacklogReading(
      key, over: connection, limit: limit, longest: longest, shouldStop: shouldStop, onGap: onGap)
    switch key.start {
    case .snapshot:
      // A reset also begins the snapshot of a client that has no cursor: if its first snapshot was cut off, it must
      // forget that part.
      return try reading.snapshot { reading, token in
        try reading.write(reading.block.begin(token))
      }
    case .after(let cursor):
      return try reading.history(after: cursor)
    }
  }

  // MARK: - The history

  private mutating func history(after cursor: HistoryCursor) throws -> Backlog {
    var last = cursor
    var isValid = false
    do {
      var reader = try HistoryReader(connection: connection, after: cursor)
      isValid = true
      return try readToEnd(&reader, &last)
    } catch let error as StoreError {
      guard case .token(let problem) = error.kind else { throw error }
      if problem == .future, try HistoryReader.isCopy(connection) { throw IsLate() }
      if problem == .diverged, isValid { onGap(error) }
      try writePage()
      if key.form == .webSocket { return try resetWithoutSnapshot(error, problem, last) }
      return try snapshot(isReset: true) { reading, token in
        try reading.write(
          reading.block.reset(problem.rawValue, after: last.token, token: token, error: error))
      }
    }
  }

  /// EMSC's form has no list of events: the client reads that by another request.
  private mutating func resetWithoutSnapshot(
    _ error: StoreError, _ problem: StoreError.TokenProblem, _ last: HistoryCursor
  ) throws -> Backlog {
    let token = try HistoryReader.latestToken(over: connection)
    try write(block.reset(problem.rawValue, after: last.token, token: token, error: error))
    return try finish(at: HistoryCursor(token: token), hasHeartbeat: true, isReset: true)
  }

  private struct LimitReached: Error {}

  private mutating func readToEnd(
    _ reader: inout HistoryReader, _ last: inout HistoryCursor
  ) throws -> Backlog {
    var isComplete = false
    // If the filter rejects changes for long, the reading stops, so that others have their turn.
    let deadline = Deadline(after: longest)
    do {
      repeat {
        guard !shouldStop() else { throw Stopped() }
        isComplete = try reader.readPage { change in
          if key.filter.accepts(change) {
            page.append(change)
            changes += 1
          }
          last = change.cursor
          if changes >= key.limit { throw LimitReached() }
        }
        last = reader.cursor
        try writePage()
      } while !isComplete && written + buffer.count < limit && !deadline.hasPassed
      // A client that comes back meanwhile does not begin at the start again.
      if !isComplete, deadline.hasPassed, last.changes == 0 {
        try write(block.heartbeat(last.token, at: .now()))
      }
    } catch is LimitReached {
      try writePage()
    }
    return try finish(at: last, hasHeartbeat: false, isReset: false)
  }

  private mutating func writePage() throws {
    guard let page = page.finish(after: HistoryCursor(token: .beginning), isLive: false) else {
      return
    }
    switch key.form {
    case .events: try write(page.bytes(0..<page.count, .events))
    case .lines, .webSocket:
      for index in 0..<page.count { try write(page.bytes(index..<index + 1, key.form)) }
    }
  }

  // MARK: - Snapshots

  private mutating func snapshot(
    isReset: Bool = false, _ begin: (inout BacklogReading, ChangeToken) throws -> Void
  ) throws -> Backlog {
    var token = ChangeToken.beginning
    var position: Int64 = 0
    try Snapshot.read(
      over: connection,
      begin: {
        token = $0
        try begin(&self, token)
      }
    ) { record in
      if position % 1000 == 0, shouldStop() { throw Stopped() }
      guard key.filter.accepts(record, at: .now()) else { return }
      try write(block.snapshot(record, token: token, position: position))
      position += 1
    }
    try write(block.heartbeat(token, at: .now()))
    return try finish(at: HistoryCursor(token: token), hasHeartbeat: true, isReset: isReset)
  }

  // MARK: - The file

  private mutating func write(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { try write($0) }
  }

  private mutating func write(_ bytes: UnsafeRawBufferPointer) throws {
    buffer.append(contentsOf: bytes)
    if buffer.count >= Self.bufferSize { try flush() }
  }

  private mutating func flush() throws {
    written += buffer.count
    try buffer.withUnsafeBytes { try file.write($0) }
    buffer.removeAll(keepingCapacity: true)
  }

  private mutating func finish(
    at end: HistoryCursor, hasHeartbeat: Bool, isReset: Bool
  ) throws -> Backlog {
    try flush()
    return Backlog(
      file, size: written, end: end, changes: changes, hasHeartbeat: hasHeartbeat,
      isReset: isReset)
  }
}

/// Writes the parts of a stream that are not changes: the events of a snapshot, resets and heartbeats.
///
/// A change is an event without a name, which `EventSource` delivers to `onmessage`; the others have names.
struct StreamBlock {
  private let form: StreamForm
  private var json = JSONWriter()

  init(_ form: StreamForm) {
    self.form = form
  }

  /// A heartbeat: everything up to the token has been delivered. Over a WebSocket it is a ping.
  mutating func heartbeat(_ token: ChangeToken, at time: Timestamp) -> [UInt8] {
    if form == .webSocket {
      return Array("\(token)".utf8).withUnsafeBytes { WebSocketFrame.encode($0, .ping) }
    }
    json.heartbeat(token, at: time)
    return take("event: heartbeat\nid: \(token)\n")
  }

  /// The beginning of a snapshot that the client has asked for.
  mutating func begin(_ token: ChangeToken) -> [UInt8] {
    json.reset(Self.requested, after: .beginning, token: token)
    return take("event: reset\n")
  }

  /// The reason of a reset that begins a snapshot which the client has asked for.
  static let requested = "snapshot"

  /// The beginning of a snapshot that replaces what the client has. It has no id: a client that loses the
  /// connection within the snapshot asks again with the id that it had.
  mutating func reset(
    _ reason: String, after lost: ChangeToken, token: ChangeToken, error: StoreError
  ) -> [UInt8] {
    if form == .webSocket {
      var message = LiveMessage()
      return message.reset(reason, after: lost, token: token)
    }
    json.reset(reason, after: lost, token: token, error: error)
    return take("event: reset\n")
  }

  /// An event of a snapshot; without an id, for the same reason.
  mutating func snapshot(
    _ record: EventRecord, token: ChangeToken, position: Int64
  ) -> [UInt8] {
    json.snapshot(record, token: token, position: position)
    return take("event: snapshot\n")
  }

  private mutating func take(_ fields: String) -> [UInt8] {
    var block: [UInt8] = []
    block.reserveCapacity(json.count + 128)
    if form == .events { block += Array((fields + "data: ").utf8) }
    json.withBytes { block.append(contentsOf: $0) }
    block.append(0x0A)
    if form == .events { block.append(0x0A) }
    json.removeAll()
    return block
  }
}
