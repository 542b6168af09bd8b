import Basics
import Glibc
import Postgres
import QuakeModel
import Synchronization

/// The streams of changes: the reader of the history, the thread that serves the clients, and the readers of
/// backlogs.
final class ChangeStreams: Sendable {
  private let hub: ChangeHub
  private let mailbox: StreamMailbox
  private let figures = StreamFigures()
  private let pressure = StreamPressure()
  private let readers: BacklogReaders
  private let settings: StreamSettings
  /// Raised from the moment at which the streams end.
  private let ended: WakeEvent
  private let hasEnded = Atomic<Bool>(false)
  private let report: @Sendable (String) -> Void

  /// - Parameters:
  ///   - connection: How to connect to the database: one connection follows the history, up to two more read
  ///     backlogs.
  ///   - report: Gets a sentence for the log when clients must wait for the database, and when it is back.
  ///   - advanced: Gets the newest token of the store, each time it is another.
  init(
    _ connection: ConnectionSettings, _ settings: StreamSettings = StreamSettings(),
    report: @escaping @Sendable (String) -> Void = { _ in },
    advanced: @escaping @Sendable (ChangeToken) -> Void = { _ in }
  ) throws(WakeEvent.Failure) {
    self.settings = settings
    mailbox = try StreamMailbox()
    ended = try WakeEvent()
    hub = ChangeHub(
      connection, mailbox: mailbox, pressure: pressure, ended: ended, report: report,
      advanced: advanced)
    readers = BacklogReaders(
      connection, limit: settings.backlogSize, longest: settings.backlogTime, ended: ended,
      report: report)
    self.report = report
  }

  /// Starts the threads.
  func start() throws {
    try readers.start()
    try DetachedThread.start { self.serve() }
    try hub.start()
  }

  private func serve() {
    do {
      let loop = try StreamLoop(
        settings, mailbox: mailbox, figures: figures, pressure: pressure
      ) { [readers] in
        readers.read($0, $1, $2)
      }
      loop.run()
    } catch {
      report("The streams cannot be served: \(error.message)")
      mailbox.closeForever()
    }
    hasEnded.store(true, ordering: .releasing)
  }

  /// How far the hub has read, and the reason if it does not follow the database.
  var state: ChangeHub.State { hub.now }

  /// Figures for the metrics.
  var statistics: StreamStatistics { figures.now }

  /// The time from commit to socket.
  var delay: Histogram { figures.delay }

  /// Takes a client, from any thread.
  func add(_ socket: TakenSocket, _ order: StreamOrder) {
    mailbox.post(.client(order, socket))
  }

  /// Ends all streams at the end of an event and waits until they have ended, at most for `limit`.
  func stop(within limit: Duration) {
    hub.stop()
    readers.stop()
    ended.raise()
    mailbox.post(.stop(limit))
    let deadline = Deadline(after: limit + .seconds(1))
    while !hasEnded.load(ordering: .acquiring), !deadline.hasPassed { usleep(2000) }
  }
}
