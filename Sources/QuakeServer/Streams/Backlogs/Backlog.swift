import QuakeModel
import Synchronization

/// A part of a stream that was read from the database for the clients that are not in the window: a snapshot, or
/// the history after a cursor. It is a file without a name, from which the system sends.
final class Backlog: Sendable {
  /// Identifies the contents of a backlog. Clients with the same key share one.
  struct Key: Hashable, Sendable {
    /// Where it begins.
    enum Start: Hashable, Sendable {
      case snapshot
      case after(HistoryCursor)
    }

    var start: Start
    var filter: QuakeFilter
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

  /// A backlog that is being read.
  final class Reading: Sendable {
    private let state = Atomic<Bool>(false)

    /// Whether no client waits for it any longer.
    var isStopped: Bool { state.load(ordering: .relaxed) }

    func stop() { state.store(true, ordering: .relaxed) }
  }

  /// The bytes of all backlogs that there are.
  static let totalSize = Atomic<Int>(0)

  let file: TemporaryFile
  /// The number of bytes in the file.
  let size: Int
  /// Where the stream continues.
  let end: HistoryCursor
  /// How many changes the file has.
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
