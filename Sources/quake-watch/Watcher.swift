import CIdleMemory
import CommandLine
import Postgres
import QuakeModel
import QuakeStore
import QuakeTool

/// The loop: listen, read the history to its end, hand it over, wait for the bell. After a lost
/// connection the same from the start, from where it was.
final class Watcher {
  /// Where to begin.
  enum Start {
    case now
    case after(ChangeToken)
    case snapshot
  }

  private let database: DatabaseAccess
  private let diagnostics: Diagnostics
  private let start: Start
  private let filter: QuakeFilter
  private let limit: Int64?
  private let follows: Bool
  private let state: StateFile?
  private let printer: any ChangePrinter

  private var reader: HistoryReader?
  private var printed: Int64 = 0

  init(
    database: DatabaseAccess, diagnostics: Diagnostics, start: Start, filter: QuakeFilter,
    limit: Int64?, follows: Bool, state: StateFile?, printer: any ChangePrinter
  ) {
    self.database = database
    self.diagnostics = diagnostics
    self.start = start
    self.filter = filter
    self.limit = limit
    self.follows = follows
    self.state = state
    self.printer = printer
  }

  /// The bell may be lost without a trace (a pooler, a standby); the log is asked anyway this often,
  /// which also shows whether the server is still there.
  private static let safetyPoll = Duration.seconds(5)
  /// How long a server may be silent while it owes an answer.
  private static let answerTimeout = Duration.seconds(15)

  /// Watches until it is told to stop, or is done.
  func run() throws {
    // A wrong address fails at once; a connection that was there once is worth waiting for.
    var connection: Connection? = try database.connect(wake: Signals.wakeDescriptor)
    var backoff = Backoff()
    while true {
      do {
        if let current = connection {
          try watch(over: current)
          return
        }
        let regained = try database.reconnect(wake: Signals.wakeDescriptor)
        connection = regained
        try resume(over: regained)
        backoff.reset()
        diagnostics.warning(
          "connected again; going on after token \(reader?.place.description ?? "0")")
      } catch let error as PostgresError where error.kind == .interrupted {
        return
      } catch let error where Self.isLoss(error) {
        guard reader != nil else { throw error }
        if connection != nil {
          diagnostics.warning(
            Failure(error)?.message ?? "\(error)", hint: "Trying again until it is back.")
        } else {
          diagnostics.verbose("still no connection: \(Failure(error)?.message ?? "\(error)")")
        }
        connection = nil
        _ = Signals.wait(timeout: backoff.next())
        if Signals.stopRequested { return }
      }
    }
  }

  private static func isLoss(_ error: any Error) -> Bool {
    // A server short of something (53, 58) or a statement that was cancelled or timed out (57) will
    // be better another time, too.
    if let error = error as? PostgresError {
      return error.isConnectionLoss || ["53", "57", "58"].contains(error.sqlState.prefix(2))
    }
    if let error = error as? EmbeddedServerError { return error.kind != .configuration }
    return false
  }

  private func resume(over connection: Connection) throws {
    connection.answerTimeout = Self.answerTimeout
    guard let reader else { return }
    try Migrator.checkSchema(of: connection)
    self.reader = try HistoryReader(connection: connection, continuing: reader)
  }

  private func watch(over connection: Connection) throws {
    if reader == nil {
      connection.answerTimeout = Self.answerTimeout
      try Migrator.checkSchema(of: connection)
      if let place = try startingPlace(over: connection) {
        reader = try HistoryReader(connection: connection, after: place)
      }
    }
    // Listen before reading: what is committed after the last read rings.
    let listener = try ChangeListener(connection: connection)
    if reader == nil {
      // "From now" is a place in the history too, and the cursor says so from the beginning.
      let now = try HistoryReader.latestToken(over: connection)
      reader = try HistoryReader(connection: connection, after: now)
      try state?.save(HistoryPlace(token: now))
    }
    // Nothing for a second is called idle. Then each wait begins with giving back the memory that the
    // read before it took; what the next one needs comes back in a fraction of a millisecond.
    var isIdle = false
    while try readToEnd(), follows {
      if isIdle { quake_give_back_idle_memory() }
      let pause = isIdle ? Self.safetyPoll : .seconds(1)
      switch try listener.wait(for: pause, wake: Signals.wakeDescriptor) {
      case .ready: isIdle = false
      case .timedOut: isIdle = true
      case .woken:
        Signals.drainWake()
        if Signals.stopRequested { return }
      }
    }
  }

  /// The place to begin after; nil for "from now".
  private func startingPlace(over connection: Connection) throws -> HistoryPlace? {
    if let place = try state?.load() { return place }
    switch start {
    case .now: return nil
    case .after(let token): return HistoryPlace(token: token)
    case .snapshot: return HistoryPlace(token: try printSnapshot(over: connection))
    }
  }

  /// Not listening yet: a listener inside a transaction pins the server's notification queue.
  private func printSnapshot(over connection: Connection) throws -> ChangeToken {
    var token = ChangeToken.beginning
    var position: Int64 = 0
    try Snapshot.read(over: connection, begin: { token = $0 }) { record in
      guard filter.accepts(record) else { return }
      try printer.print(snapshot: record, token: token, position: position)
      position += 1
    }
    try printer.flush()
    try state?.save(HistoryPlace(token: token))
    return token
  }

  /// Reads and hands over what there is; false if the watch is over.
  private func readToEnd() throws -> Bool {
    guard var reader else { return false }
    defer { self.reader = reader }
    while true {
      let before = reader.place
      let isAtEnd: Bool
      do {
        isAtEnd = try reader.readPage { change in
          guard filter.accepts(change) else { return }
          if let limit, printed >= limit { throw LimitReached() }
          try printer.print(change)
          printed += 1
        }
      } catch is LimitReached {
        try handOver(reader, since: before)
        return false
      }
      try handOver(reader, since: before)
      if let limit, printed >= limit { return false }
      if Signals.stopRequested { return false }
      if isAtEnd { return true }
    }
  }

  private struct LimitReached: Error {}

  /// The cursor moves only over what has left this process.
  private func handOver(_ reader: HistoryReader, since before: HistoryPlace) throws {
    try printer.flush()
    guard reader.place != before else { return }
    try state?.save(reader.place)
  }
}
