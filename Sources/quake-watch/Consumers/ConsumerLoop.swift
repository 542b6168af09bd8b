import Basics
import CLinux
import CommandLine
import Glibc
import Postgres
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeTool

/// Runs consumers until the program is stopped: reads the history for them, writes what they owe, and records what the
/// sender reports. All that is known of them is in the database, so that a crash at any point repeats at most the
/// attempts that were under way.
final class ConsumerLoop {
  let database: DatabaseAccess
  let diagnostics: Diagnostics
  let service: ServiceManager
  let store = ConsumerStore()
  let session: DatabaseSession
  let follower: HistoryFollower
  var reports: FollowerReports
  /// Reads the configuration file anew.
  let readConfiguration: () throws -> [ConsumerConfiguration]

  let commands: Mailbox<SenderCommand>
  let answers: Mailbox<SenderReport>
  private let wake: AnyDescriptor

  var configurations: [ConsumerConfiguration]
  var consumers: [String: Consumer] = [:]
  var byKey: [ConsumerKey: Consumer] = [:]
  var lastKey = 0
  /// Those of the configuration that another process runs.
  var awaited: [ConsumerConfiguration] = []
  /// Consumers that are behind, in groups that read the history together.
  var behind: [CatchUp] = []
  var lastGroup = 0
  var hasReportedReader = false
  let catchUpReader: CatchUpReader
  /// What receivers were told last.
  let witness: ConsumerWitness
  /// Outcomes that are not in the database yet, and the attempts that wait for that.
  var outcomes: [ConsumerStore.Outcome] = []
  var unrecorded: [(key: ConsumerKey, attempt: Int)] = []
  /// Messages whose contents the sender has asked for and not got.
  var needs: [(key: ConsumerKey, attempt: Int, numbers: [Int64])] = []
  var hasBegun = false
  private var isSending = false
  /// Whether SIGHUP has come, and the configuration was not read anew yet.
  private var hasToReload = false
  /// Whether the memory that the last work took was returned, and nothing was done since.
  private var hasReleased = false
  private var notices = PeriodicTimer(.seconds(2))
  private var life = PeriodicTimer(.seconds(10))
  var takeover = PeriodicTimer(.seconds(1))
  private var lastRead = Duration.zero
  private var clock = DatabaseClock()

  init(
    _ configurations: [ConsumerConfiguration], _ database: DatabaseAccess,
    _ diagnostics: Diagnostics, service: ServiceManager, witness: ConsumerWitness,
    readConfiguration: @escaping () throws -> [ConsumerConfiguration]
  ) throws {
    self.configurations = configurations
    self.database = database
    self.diagnostics = diagnostics
    self.service = service
    self.witness = witness
    self.readConfiguration = readConfiguration
    session = DatabaseSession(database, diagnostics)
    follower = HistoryFollower { () throws(PostgresError) in
      try Connection(database.settings, wake: Signals.wakeDescriptor)
    }
    reports = FollowerReports(diagnostics)
    commands = try Mailbox()
    answers = try Mailbox()
    catchUpReader = try CatchUpReader(database.settings)
    wake = try AnyDescriptor([
      Signals.wakeDescriptor, Signals.reloadDescriptor, answers.descriptor,
      catchUpReader.answers.descriptor,
    ])
  }

  /// Runs until the program is stopped.
  ///
  /// - Throws: `StoreError` of kind `replaced` if all consumers were removed.
  func run() throws {
    // However it ends, no command goes on without it.
    defer { stopSending() }
    try session.run(
      follows: true, mayRetry: { [unowned self] in hasBegun },
      onLoss: { [unowned self] in follower.disconnect() }
    ) { try serve(over: $0) }
    service.stopping()
  }

  // MARK: - One connection

  private func serve(over connection: Connection) throws {
    try follower.connect(over: connection)
    let isReconnected = session.takeReconnected()
    try witness.check(configurations.map(\.name), store, over: connection)
    try record(over: connection)
    let newest = try HistoryReader.latestToken(over: connection)
    try follower.begin(after: HistoryCursor(token: newest))
    try follower.listen()
    if hasBegun { try reload(over: connection) } else { try begin(after: newest, over: connection) }
    session.isFollowing = true
    clock = DatabaseClock()
    if isReconnected { reports.reconnected(follower) }
    var isIdle = false
    while !Signals.stopRequested {
      let isWoken = try turn(over: connection, isIdle: isIdle)
      isIdle = !isWoken
    }
    try finish(over: connection)
  }

  private func begin(after newest: ChangeToken, over connection: Connection) throws {
    try Sender.start(commands: commands, reports: answers)
    isSending = true
    try add(configurations, over: connection)
    hasBegun = true
    let count = Readable.count(consumers.count, "consumer")
    if !consumers.isEmpty {
      diagnostics.note("delivering for \(count) after \(newest); Ctrl-C ends")
    }
    service.ready(consumers.isEmpty ? "standing by" : "connected; \(count)")
  }

  /// Does what there is to do, then waits.
  ///
  /// - Returns: Whether something has happened.
  private func turn(over connection: Connection, isIdle: Bool) throws -> Bool {
    service.alive()
    if Signals.takeReloadRequest() { hasToReload = true }
    if hasToReload {
      // If the connection is lost meanwhile, over the next one.
      try readAnew(over: connection)
      hasToReload = false
    }
    try takeAnswers(over: connection)
    try catchUp(over: connection)
    if !awaited.isEmpty, takeover.fireIfDue() { try add(awaited, over: connection) }
    if notices.fireIfDue() { try lookAtNotices(over: connection) }
    if life.fireIfDue() { try showLife(over: connection) }
    session.hasAnswered(over: connection)
    reports.session(of: follower)
    reports.polling(of: follower)
    guard !consumers.isEmpty || !awaited.isEmpty else { throw Self.hasNone }
    try witness.writeIfDue()
    if isIdle, !hasReleased { quake_release_idle_memory() }
    hasReleased = isIdle
    let outcome = try follower.wait(
      until: Deadline(after: pause(isIdle, over: connection)), wake: wake.descriptor)
    switch outcome {
    case .woken:
      Signals.drainWake()
      // Outcomes that come without a pause must not keep the others from what is new.
      if MonotonicClock.now() - lastRead >= .milliseconds(50) {
        lastRead = MonotonicClock.now()
        _ = try readCurrent(over: connection)
      }
      return true
    case .ready, .timedOut:
      lastRead = MonotonicClock.now()
      return try readCurrent(over: connection) || outcome == .ready
    }
  }

  private static let hasNone = StoreError(
    .replaced, "no consumer is left: all were removed from the database",
    hint: "Start the program again to make them anew.")

  private func pause(_ isIdle: Bool, over connection: Connection) throws -> Duration {
    var pause = min(notices.remaining, service.remaining ?? .seconds(60))
    if !isIdle || witness.isPending { pause = min(pause, .seconds(1)) }
    if !awaited.isEmpty { pause = min(pause, takeover.remaining) }
    if let next = timeToCatchUp { pause = min(pause, next) }
    let due = consumers.values.compactMap { $0.place == .current ? $0.nextDue : nil }.min()
    if let due { pause = min(pause, try clock.remaining(to: due, over: connection)) }
    return pause
  }

  // MARK: - Reading

  /// Reads what is new for those that are not behind.
  ///
  /// If that is more than a page, a reader of their own reads it for them: it can read in bulk, because nothing else uses
  /// its connection.
  ///
  /// - Returns: Whether there was anything.
  func readCurrent(over connection: Connection) throws -> Bool {
    guard let before = follower.cursor else { return false }
    let members = consumers.values.filter { $0.place == .current }
    // Asked before the history: what was committed by then, and has not been notified yet, comes first.
    let waits = members.contains { $0.nextDue != nil }
    let completeUpTo = waits ? try clock.completeTime(over: connection) : nil
    var changes: [Change] = []
    let isAtEnd = try follower.readPage { changes.append($0) }
    try write(
      changes, upTo: follower.cursor ?? before, completeUpTo: isAtEnd ? completeUpTo : nil,
      for: members,
      over: connection)
    if !isAtEnd {
      begin(members.filter { $0.place == .current })
      let newest = try HistoryReader.latestToken(over: connection)
      try follower.begin(after: HistoryCursor(token: newest))
    }
    return follower.cursor != before
  }

  /// Makes messages of changes, and of what is due when all up to a time have been taken, and writes them.
  func write(
    _ changes: [Change], upTo cursor: HistoryCursor, completeUpTo time: Timestamp? = nil,
    for members: [Consumer], over connection: Connection
  ) throws {
    let page = PageBuilder()
    for change in changes {
      for member in members { try member.take(change, into: page) }
    }
    for member in members { try member.end(at: cursor, completeUpTo: time, page) }
    try write(page, over: connection)
  }

  // MARK: - Ending

  /// Waits for the attempts under way, and stores what they brought.
  private func finish(over connection: Connection) throws {
    service.stopping()
    commands.post(.stop)
    try waitForSender { try takeAnswers(over: connection) }
    try moveIdle(over: connection)
    try store.release(over: connection)
    try witness.write()
  }

  /// Ends what is under way although nothing of it can be stored, because the connection is lost.
  private func stopSending() {
    guard isSending else { return }
    commands.post(.stop)
    waitForSender {
      if answers.take().contains(where: { if case .stopped = $0 { true } else { false } }) {
        noteEnd()
      }
    }
  }

  private func waitForSender(_ take: () throws -> Void) rethrows {
    let end = Deadline(after: .seconds(8))
    while isSending, !end.hasPassed {
      var waiting = pollfd(fd: answers.descriptor, events: Int16(POLLIN), revents: 0)
      poll(&waiting, 1, end.pollTimeout)
      try take()
    }
  }

  func noteEnd() { isSending = false }
}
