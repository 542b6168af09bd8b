import Basics
import Glibc
import Postgres
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeTool
import Synchronization

/// The streams of consumers with conversations: one thread decides for all of them what is told, stores it, and sends
/// it.
///
/// What a consumer owes is in the database until its client has acknowledged it. So any server of the database goes on
/// with a stream, and a message has the same id wherever it is sent.
final class AlertStreams: Sendable {
  /// The most streams of a server.
  static let mostStreams = 256

  private let connection: ConnectionSettings
  private let settings: StreamSettings
  private let report: @Sendable (ServerNotice) -> Void
  private let event: WakeEvent
  /// Raised from the moment at which the streams end.
  private let ended: WakeEvent
  private let arrivals = Mutex<[(AlertOrder, TakenSocket)]>([])
  private let count = Atomic<Int>(0)
  private let isStopped = Flag()
  private let hasEnded = Flag(true)

  /// - Parameters:
  ///   - connection: How to connect to the database, twice, while there are streams.
  ///   - report: Gets a message for the log when streams were ended because of the database.
  init(
    _ connection: ConnectionSettings, _ settings: StreamSettings,
    report: @escaping @Sendable (ServerNotice) -> Void
  ) throws(DescriptorFailure) {
    self.connection = connection
    self.settings = settings
    self.report = report
    event = try WakeEvent()
    ended = try WakeEvent()
  }

  func start() throws(ThreadError) {
    hasEnded.set(false)
    try DetachedThread.start { [self] in
      let loop = AlertLoop(settings) { [connection, ended] in
        let open = try Connection(connection, wake: ended.descriptor)
        open.interrupt = ended.descriptor
        open.answerTimeout = AnswerTimeout.longest
        return open
      }
      serve(loop)
      hasEnded.set()
    }
  }

  private func serve(_ loop: AlertLoop) {
    while !isStopped.isSet {
      loop.add(takeArrivals())
      do {
        try loop.turn()
      } catch {
        loop.endAll()
        if !isStopped.isSet {
          let reason = (error as? any ExplainedError)?.message ?? "\(error)"
          report(ServerNotice(.warning, "Streams of conversations were ended: \(reason)"))
        }
      }
      count.store(loop.count + arrivals.withLock { $0.count }, ordering: .relaxed)
      loop.wait(for: event)
    }
    loop.endAll()
    for (_, socket) in takeArrivals() { socket.end() }
  }

  private func takeArrivals() -> [(AlertOrder, TakenSocket)] {
    arrivals.withLock { all in
      defer { all = [] }
      return all
    }
  }

  /// Whether there is no place for another stream.
  var isFull: Bool { count.load(ordering: .relaxed) >= Self.mostStreams }

  /// Takes a client, from any thread.
  func add(_ socket: TakenSocket, _ order: AlertOrder) {
    arrivals.withLock { $0.append((order, socket)) }
    event.raise()
    // The thread may have ended before it saw the client.
    if isStopped.isSet, hasEnded.isSet {
      for (_, socket) in takeArrivals() { socket.end() }
    }
  }

  func wake() { if count.load(ordering: .relaxed) > 0 { event.raise() } }

  /// Ends all streams between two messages, and waits until they have ended.
  func stop() {
    isStopped.set()
    ended.raise()
    event.raise()
    let deadline = Deadline(after: .seconds(5))
    while !hasEnded.isSet, !deadline.hasPassed { usleep(2000) }
    for (_, socket) in takeArrivals() { socket.end() }
  }
}

/// The stream that a client of a consumer with conversations asks for.
struct AlertOrder: Sendable {
  let consumer: RemoteConsumer
  /// Tells this stream from others of the consumer, of which the last one gets the messages.
  let holder: String
  let rule: AlertRule
  /// Up to where the history has become messages.
  let cursor: HistoryCursor
  let form: StreamForm
  /// After how many messages it ends.
  let limit: Int64
  /// A long poll: the stream ends when it has handed over what there is, or after this time without a message.
  let wait: Duration?
}
