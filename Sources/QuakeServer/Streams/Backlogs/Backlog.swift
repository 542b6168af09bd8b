import Basics
import Glibc
import Postgres
import QuakeHistory
import QuakeModel
import QuakeSchema
import Synchronization

/// A part of a stream that was read from the database for the clients that are not in the window: a snapshot, or
/// the history after a cursor. It is a file without a name, from which the system sends.
final class Backlog: Sendable {
  /// Identifies the contents of a backlog. Clients with the same key share one.
  struct Key: Hashable, Sendable {
    enum Start: Hashable, Sendable {
      case snapshot
      case after(HistoryCursor)
    }

    var start: Start
    var filter: EventFilter
    var form: StreamForm
    /// After how many changes it ends.
    var limit: Int64
  }

  /// How the reading of a backlog ended.
  enum Outcome: Sendable {
    case done(Backlog)
    /// The database is not there, or is a standby that is late: try again.
    case unavailable(String)
  }

  /// The bytes of all backlogs that there are.
  static let totalSize = Atomic<Int>(0)

  let file: TemporaryFile
  /// The number of bytes in the file.
  let size: Int
  /// Where the stream continues.
  let end: HistoryCursor
  let changes: Int64
  /// Whether the file ends in a heartbeat.
  let hasHeartbeat: Bool
  /// Whether the file begins the client's list anew because its cursor was invalid.
  let isReset: Bool

  init(
    _ file: TemporaryFile, size: Int, end: HistoryCursor, changes: Int64, hasHeartbeat: Bool,
    isReset: Bool
  ) {
    self.file = file
    self.size = size
    self.end = end
    self.changes = changes
    self.hasHeartbeat = hasHeartbeat
    self.isReset = isReset
    Self.totalSize.add(size, ordering: .relaxed)
  }

  deinit {
    Self.totalSize.subtract(size, ordering: .relaxed)
  }
}

extension Backlog {
  /// No event is larger, because a change has two events of half a megabyte of text at most.
  private static var longestEvent: Int { 16 << 20 }

  /// The bytes from `offset` to the end of the event in which it is; none if an event begins there.
  ///
  /// - Parameter frame: For a WebSocket, where a frame begins, at or before `offset`. It is moved on, so that
  ///   the search for the next offset is short.
  func restOfEvent(from offset: Int, _ form: StreamForm, frame: inout Int) -> [UInt8] {
    if form == .webSocket { return restOfFrame(from: offset, &frame) }
    let separator: [UInt8] = form == .events ? [0x0A, 0x0A] : [0x0A]
    guard offset > 0 else { return [] }
    // The separator may have begun before.
    let start = max(0, offset - separator.count)
    var bytes: [UInt8] = []
    var searched = 0
    while start + bytes.count < size, bytes.count < Self.longestEvent {
      let part = self.bytes(at: start + bytes.count, 64 << 10)
      guard !part.isEmpty else { return [] }
      bytes += part
      while searched + separator.count <= bytes.count {
        let end = searched + separator.count
        if start + end >= offset, bytes[searched..<end].elementsEqual(separator) {
          return Array(bytes[(offset - start)..<end])
        }
        searched += 1
      }
    }
    return []
  }

  private func restOfFrame(from offset: Int, _ frame: inout Int) -> [UInt8] {
    var end = frame
    var part: [UInt8] = []
    var start = end
    while end < offset {
      frame = end
      if end + 10 > start + part.count {
        start = end
        part = bytes(at: start, 64 << 10)
      }
      let size = part.withUnsafeBytes {
        WebSocketFrame.size(UnsafeRawBufferPointer(rebasing: $0[min(end - start, $0.count)...]))
      }
      guard let size else { return [] }
      end += size
    }
    return bytes(at: offset, end - offset)
  }

  private func bytes(at position: Int, _ most: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
      count = max(0, pread(file.descriptor, buffer.baseAddress, buffer.count, position))
    }
  }
}

/// Threads that read backlogs, each with a connection while it has work.
///
/// They are not those of the queries: a backlog may be large, and the reader of the history changes how its
/// session plans.
final class BacklogReaders: Sendable {
  private struct Job: Sendable {
    let key: Backlog.Key
    /// Set when no client waits for it any longer.
    let isUnwanted: Flag
    let finish: @Sendable (Backlog.Outcome) -> Void
  }

  private let settings: ConnectionSettings
  /// The most bytes of a backlog.
  private let limit: Int
  /// How long one is read.
  private let longest: Duration
  private let queue = JobQueue<Job>(limit: 100_000)
  private let isStopped = Flag()
  private let ended: WakeEvent
  private let report: @Sendable (ServerNotice) -> Void
  /// Why backlogs cannot be read, as it was reported.
  private let problem = Mutex<String?>(nil)
  /// The places at which the history lacks transactions, as they were reported.
  private let gaps = Mutex<Set<String>>([])

  /// The most bytes of all backlogs. Clients beyond wait until others have read theirs.
  private static let mostBytes = 2 << 30

  /// Whether there is little space left for backlogs.
  static var lackSpace: Bool { Backlog.totalSize.load(ordering: .relaxed) > mostBytes / 2 }

  /// How many backlogs are read at once.
  static let threads = 2

  /// - Parameters:
  ///   - ended: Raised when the server ends.
  ///   - report: Gets a message for the log when clients begin to wait because of a problem, when it is over, and when a
  ///     part of the history is missing.
  init(
    _ settings: ConnectionSettings, limit: Int, longest: Duration, ended: WakeEvent,
    report: @escaping @Sendable (ServerNotice) -> Void
  ) {
    self.settings = settings
    self.limit = limit
    self.longest = longest
    self.ended = ended
    self.report = report
  }

  /// Starts the threads, which end after `stop`.
  func start() throws(ThreadError) {
    for _ in 0..<Self.threads {
      try DetachedThread.start { self.work() }
    }
  }

  /// Ends the threads, after what they are doing. Jobs that wait are not done.
  func stop() {
    isStopped.set()
    queue.close()
  }

  /// Reads a backlog and calls `finish` on another thread.
  ///
  /// - Parameter isUnwanted: Is set when no client waits for it any longer.
  func read(
    _ key: Backlog.Key, _ isUnwanted: Flag,
    _ finish: @escaping @Sendable (Backlog.Outcome) -> Void
  ) {
    if !queue.add(Job(key: key, isUnwanted: isUnwanted, finish: finish)) {
      finish(.unavailable("too many backlogs wait to be read"))
    }
  }

  private func work() {
    var connection: Connection?
    while queue.doNext({ perform($0, over: &connection) }) {
      // An idle server needs no further connection.
      if queue.count == 0 { connection = nil }
    }
  }

  private func perform(_ job: Job, over connection: inout Connection?) {
    guard !isStopped.isSet else { return }
    guard !job.isUnwanted.isSet else { return job.finish(.unavailable("no client waits for it")) }
    let space = Self.mostBytes - Backlog.totalSize.load(ordering: .relaxed)
    guard space > 0 else { return fail(job, "the backlogs of slow clients take too much space") }
    do {
      let open = try connection ?? connect()
      connection = open
      // The less space there is, the smaller are the parts: clients that read slowly leave some for others.
      let limit = min(limit, max(1 << 20, space / 16))
      job.finish(
        .done(
          try BacklogReading.read(
            job.key, over: open, limit: limit, longest: longest,
            shouldStop: { [self] in isStopped.isSet || job.isUnwanted.isSet },
            onGap: { [self] in reportGap($0) })))
      note(nil)
    } catch is BacklogReading.IsLate {
      fail(job, "this standby or region does not have yet what a client has read")
    } catch {
      connection = nil
      fail(job, (error as? any ExplainedError)?.message ?? "\(error)")
    }
  }

  private func fail(_ job: Job, _ problem: String) {
    if !isStopped.isSet, !job.isUnwanted.isSet { note(problem) }
    job.finish(.unavailable(problem))
  }

  /// Notes a problem, or nil when it is over; reports a change once.
  private func note(_ problem: String?) {
    let before = self.problem.withLock { noted in
      defer { noted = problem }
      return noted
    }
    guard (before == nil) != (problem == nil) else { return }
    report(
      problem.map { ServerNotice(.warning, "Clients of streams wait for the history: \($0)") }
        ?? ServerNotice(.note, "Clients of streams get the history again."))
  }

  /// The most gaps that are reported.
  private static let mostGaps = 100

  /// Reports that the history lacks transactions, once for each place.
  private func reportGap(_ error: StoreError) {
    let isNew = gaps.withLock { $0.count < Self.mostGaps && $0.insert(error.message).inserted }
    guard isNew else { return }
    report(
      ServerNotice(
        .error, "A client of the streams gets a reset: \(error.message)", detail: error.detail,
        hint: """
          Transactions are missing in the database; "quake-query verify" walks through its history. Copy it anew, \
          or restore it.
          """))
  }

  private func connect() throws -> Connection {
    let connection = try Connection(settings, wake: ended.descriptor)
    connection.interrupt = ended.descriptor
    connection.answerTimeout = AnswerTimeout.longest
    try Migrator.checkSchema(of: connection)
    return connection
  }
}
