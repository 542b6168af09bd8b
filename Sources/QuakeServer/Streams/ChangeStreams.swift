import Basics
import Glibc
import Postgres
import QuakeModel
import QuakeTool
import Synchronization

/// The streams of changes: the reader of the history, the thread that serves the clients, and the readers of
/// backlogs.
final class ChangeStreams: Sendable {
  private let hub: ChangeHub
  private let mailbox: Mailbox<StreamMessage>
  private let figures = StreamFigures()
  private let pressure = Flag()
  private let readers: BacklogReaders
  private let settings: StreamSettings
  /// Raised from the moment at which the streams end.
  private let ended: WakeEvent
  private let hasEnded = Flag()
  private let report: @Sendable (ServerNotice) -> Void

  /// - Parameters:
  ///   - connection: How to connect to the database: one connection follows the history, up to two more read
  ///     backlogs.
  ///   - report: Gets a message for the log when clients must wait for the database, and when it is back.
  ///   - advanced: Gets the newest token of the store, each time it is another.
  init(
    _ connection: ConnectionSettings, _ settings: StreamSettings = StreamSettings(),
    report: @escaping @Sendable (ServerNotice) -> Void = { _ in },
    advanced: @escaping @Sendable (ChangeToken) -> Void = { _ in }
  ) throws(DescriptorFailure) {
    self.settings = settings
    mailbox = try Mailbox()
    ended = try WakeEvent()
    hub = ChangeHub(
      connection, mailbox: mailbox, pressure: pressure, ended: ended, report: report,
      advanced: advanced)
    readers = BacklogReaders(
      connection, limit: settings.backlogSize, longest: settings.backlogTime, ended: ended,
      report: report)
    self.report = report
  }

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
      report(ServerNotice(.error, "The streams cannot be served: \(error.message)"))
      mailbox.endClients()
    }
    hasEnded.set()
  }

  /// How far the hub has read, and the reason if it does not follow the database.
  var state: ChangeHub.State { hub.now }

  var statistics: StreamStatistics { figures.now }

  /// The time from commit to socket.
  var delay: Histogram { figures.delay }

  /// Takes a client, from any thread.
  func add(_ socket: TakenSocket, _ order: StreamOrder) {
    if !mailbox.post(.client(order, socket)) { socket.end() }
  }

  /// Takes no more clients, and ends the streams that there are one after the other, each at the end of an event. They
  /// go on until then.
  func sendAway(over time: Duration) {
    mailbox.post(.sendAway(time))
  }

  /// Ends all streams at the end of an event and waits until they have ended, at most for `limit`.
  func stop(within limit: Duration) {
    hub.stop()
    readers.stop()
    ended.raise()
    mailbox.post(.stop(limit))
    let deadline = Deadline(after: limit + .seconds(1))
    while !hasEnded.isSet, !deadline.hasPassed { usleep(2000) }
  }
}

extension ChangeStreams {
  /// Why clients of the streams get nothing new; nil if they do. Strangers read it: where the database is, and what it
  /// says, is in the log.
  var unreadiness: String? {
    state.problem == nil
      ? nil : "The streams do not follow the database; the log of the server says why."
  }

  func write(to text: inout PrometheusText) {
    let figures = statistics
    let gauges: [(String, String, Int)] = [
      ("clients", "Clients of the streams of changes.", figures.clients),
      ("waiting_clients", "Clients that wait for a backlog or for the database.", figures.waiting),
      ("blocked_clients", "Clients whose sockets are full.", figures.blocked),
      ("filters", "Different filters of the clients.", figures.filters),
      ("buffer_bytes", "Encoded changes that are kept in memory.", figures.windowBytes),
    ]
    for (name, help, value) in gauges {
      text.gauge("quake_stream_\(name)", help, Double(value))
    }
    let counters: [(String, String, Int)] = [
      ("clients_total", "Clients since the start.", figures.opened),
      ("changes_total", "Changes published, before filters.", figures.changes),
      ("sent_bytes_total", "Bytes handed to sockets.", figures.bytes),
      ("heartbeats_total", "Heartbeats sent.", figures.heartbeats),
      ("backlogs_total", "Backlogs read from the database.", figures.backlogs),
      ("resets_total", "Snapshots sent because a cursor was invalid.", figures.resets),
    ]
    for (name, help, value) in counters {
      text.counter("quake_stream_\(name)", help, [.init(Double(value))])
    }
    text.counter(
      "quake_stream_dropped_total", "Clients dropped because they did not keep up.",
      [
        .init(Double(figures.droppedBehind), ["reason": "behind"]),
        .init(Double(figures.droppedStalled), ["reason": "stalled"]),
      ])
    text.begin(
      "quake_stream_delay_seconds", .histogram,
      "From the commit of a change to the moment at which a client's socket took it.")
    text.histogram("quake_stream_delay_seconds", [], delay)
  }
}

struct StreamSettings: Sendable {
  /// The longest time between two messages to a client: after it, a heartbeat is sent.
  var heartbeat = Duration.seconds(30)
  /// After how long a client that reads nothing is dropped.
  var stallLimit = Duration.seconds(30)
  /// How many bytes of changes are kept in memory for clients that are behind.
  var windowSize = 16 << 20
  /// The most bytes that the system keeps for a client; Linux doubles the number.
  var socketBuffer = 128 << 10
  /// The most bytes of a backlog; a client that needs more gets several.
  var backlogSize = 64 << 20
  /// How long the history is read for a backlog in one piece.
  var backlogTime = Duration.seconds(5)
  /// A client is sent away when its stream is between half as old and as old as this; nil: never. It resumes at the
  /// server that a proxy chooses, so that one which was restarted gets its share again.
  var longestAge: Duration?

  /// How often the clients are looked at for heartbeats, in milliseconds.
  var beatInterval: Int64 { max(1, min(1000, heartbeat.wholeMilliseconds / 4)) }
}

/// How a stream of changes is written.
enum StreamForm: UInt8, Hashable, Sendable {
  /// Server-Sent Events.
  case events
  /// One JSON object a line.
  case lines
  /// Frames of a WebSocket, in the form of EMSC's live feed.
  case webSocket

  var contentType: String {
    switch self {
    case .events: "text/event-stream; charset=utf-8"
    case .lines: "application/x-ndjson"
    // A connection that has changed to another protocol has none.
    case .webSocket: ""
    }
  }
}

/// The stream that a client asks for.
struct StreamOrder: Sendable {
  /// Where the stream begins.
  enum Start: Sendable {
    /// With the changes that are committed from now on.
    case now
    /// With the present list of events.
    case snapshot
    /// After a cursor that the client has.
    case after(HistoryCursor)
  }

  var start = Start.now
  var form = StreamForm.events
  var filter = EventFilter()
  /// After how many changes the stream ends; the events of a snapshot do not count.
  var limit = Int64.max
  var client = ""
  /// A long poll: the stream ends when it has handed over what there is, or after this time without a change.
  var wait: Duration?
}

/// The figures of the streams as other threads see them.
final class StreamFigures: Sendable {
  /// The time from the commit of a change to the moment at which it was handed to a client's socket, for each
  /// client that was there.
  let delay = Histogram()
  private let statistics = Mutex(StreamStatistics())

  var now: StreamStatistics { statistics.withLock { $0 } }

  func publish(_ new: StreamStatistics) {
    statistics.withLock { $0 = new }
  }
}

/// Figures about the streams, for the metrics.
struct StreamStatistics: Sendable {
  /// Clients now.
  var clients = 0
  /// How many of them wait for a backlog or for the database.
  var waiting = 0
  /// How many of them have a full socket.
  var blocked = 0
  var filters = 0
  /// Clients since the start.
  var opened = 0
  /// Clients dropped because they fell behind the changes that are kept in memory.
  var droppedBehind = 0
  /// Clients dropped because they did not read for too long.
  var droppedStalled = 0
  /// Snapshots sent to clients because their cursors were invalid.
  var resets = 0
  /// Backlogs read from the database.
  var backlogs = 0
  /// Changes published to the clients, before filters.
  var changes = 0
  /// Bytes handed to sockets.
  var bytes = 0
  /// Bytes of encoded changes in memory.
  var windowBytes = 0
  var heartbeats = 0
}
