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

  /// What the configuration file has.
  var configurations: [ConsumerConfiguration]
  var consumers: [String: Consumer] = [:]
  var byKey: [ConsumerKey: Consumer] = [:]
  var lastKey = 0
  /// Readers of consumers that are behind, over a connection of their own.
  var behind: [CatchUp] = []
  var catchUpConnection: Connection?
  /// Outcomes that are not in the database yet, and the attempts that wait for that.
  var outcomes: [ConsumerStore.Outcome] = []
  var unrecorded: [(key: ConsumerKey, attempt: Int)] = []
  var hasBegun = false
  private var isDone = false
  /// Whether the memory that the last work took was returned, and nothing was done since.
  private var hasReleased = false
  private var notices = PeriodicTimer(.seconds(2))
  private var life = PeriodicTimer(.seconds(10))
  private var lastRead = Duration.zero
  private var clock = DatabaseClock()

  init(
    _ configurations: [ConsumerConfiguration], _ database: DatabaseAccess,
    _ diagnostics: Diagnostics, service: ServiceManager,
    readConfiguration: @escaping () throws -> [ConsumerConfiguration]
  ) throws {
    self.configurations = configurations
    self.database = database
    self.diagnostics = diagnostics
    self.service = service
    self.readConfiguration = readConfiguration
    session = DatabaseSession(database, diagnostics)
    follower = HistoryFollower { () throws(PostgresError) in
      try Connection(database.settings, wake: Signals.wakeDescriptor)
    }
    reports = FollowerReports(diagnostics)
    commands = try Mailbox()
    answers = try Mailbox()
    wake = try AnyDescriptor([Signals.wakeDescriptor, answers.descriptor])
  }

  /// Runs until the program is stopped.
  ///
  /// - Throws: `StoreError` of kind `replaced` if other processes have taken all consumers.
  func run() throws {
    try session.run(
      follows: true, mayRetry: { [unowned self] in hasBegun },
      onLoss: { [unowned self] in forgetConnections() }
    ) { try serve(over: $0) }
    service.stopping()
  }

  private func forgetConnections() {
    follower.disconnect()
    catchUpConnection = nil
    behind = []
  }

  // MARK: - One connection

  private func serve(over connection: Connection) throws {
    try follower.connect(over: connection)
    let isReconnected = session.takeReconnected()
    try record(over: connection)
    let newest = try HistoryReader.latestToken(over: connection)
    try follower.begin(after: HistoryCursor(token: newest))
    try follower.listen()
    if hasBegun {
      try reload(over: connection)
    } else {
      try Sender.start(commands: commands, reports: answers)
      try add(configurations, over: connection)
      hasBegun = true
      let count = Readable.count(consumers.count, "consumer")
      diagnostics.note("delivering for \(count) after \(newest); Ctrl-C ends")
      service.ready("connected; \(count)")
    }
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

  /// Does what there is to do, then waits.
  ///
  /// - Returns: Whether something has happened.
  private func turn(over connection: Connection, isIdle: Bool) throws -> Bool {
    service.alive()
    if Signals.takeReloadRequest() { try readAnew(over: connection) }
    try takeAnswers(over: connection)
    try catchUp(over: connection)
    try advanceConversations(over: connection)
    if notices.fireIfDue() { try lookAtNotices(over: connection) }
    if life.fireIfDue() { try showLife(over: connection) }
    session.hasAnswered(over: connection)
    reports.session(of: follower)
    reports.polling(of: follower)
    guard !consumers.isEmpty else { throw Self.hasNone }
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
    case .timedOut where !behind.isEmpty && MonotonicClock.now() - lastRead < .milliseconds(100):
      return true
    case .ready, .timedOut:
      lastRead = MonotonicClock.now()
      return try readCurrent(over: connection) || outcome == .ready
    }
  }

  private static let hasNone = StoreError(
    .replaced, "no consumer is left: other processes have taken all, or they were removed",
    hint: "Give each consumer a name of its own.")

  private func pause(_ isIdle: Bool, over connection: Connection) throws -> Duration {
    if !behind.isEmpty { return .zero }
    var pause = min(notices.remaining, service.remaining ?? .seconds(60))
    if !isIdle { pause = min(pause, .seconds(1)) }
    let due = consumers.values.compactMap { $0.place == .current ? $0.nextDue : nil }.min()
    if let due {
      let left = due.microseconds - (try clock.now(over: connection)).microseconds
      pause = min(pause, max(.zero, .microseconds(left) + Self.commitPatience))
    }
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
    let before = follower.cursor
    var changes: [Change] = []
    let isAtEnd = try follower.readPage { changes.append($0) }
    let members = consumers.values.filter { $0.place == .current }
    try write(changes, upTo: follower.cursor, for: members, over: connection)
    if !isAtEnd {
      let others = members.filter { $0.place == .current }
      for member in others { member.place = .behind }
      if !others.isEmpty { behind.append(CatchUp(others)) }
      let newest = try HistoryReader.latestToken(over: connection)
      try follower.begin(after: HistoryCursor(token: newest))
    }
    return follower.cursor != before
  }

  /// Makes messages of changes and writes them.
  func write(
    _ changes: [Change], upTo cursor: HistoryCursor?, for members: [Consumer],
    over connection: Connection
  ) throws {
    let page = PageBuilder()
    for change in changes {
      for member in members { try member.take(change, into: page) }
    }
    if let cursor {
      for member in members { member.hasSeen(cursor) }
    }
    for member in members { member.store(into: page) }
    try write(page, over: connection)
  }

  /// How long after its commit time a transaction may become visible.
  private static let commitPatience = Duration.seconds(1)

  /// Tells what is due in the conversations of those that have read everything.
  private func advanceConversations(over connection: Connection) throws {
    guard consumers.values.contains(where: { $0.nextDue != nil }) else { return }
    let now = try clock.now(over: connection)
    let time = Timestamp(
      microseconds: now.microseconds - Self.commitPatience.wholeMicroseconds)
    let due = consumers.values.filter {
      $0.place == .current && ($0.nextDue.map { $0 <= time } ?? false)
    }
    guard !due.isEmpty else { return }
    // What was committed before, and has not been notified yet, comes first.
    guard try !readCurrent(over: connection) else { return }
    let page = PageBuilder()
    for consumer in due where consumer.place == .current {
      try consumer.advance(to: time, into: page)
      consumer.store(into: page)
    }
    try write(page, over: connection)
  }

  // MARK: - Ending

  /// Waits for the attempts under way, and stores what they brought.
  private func finish(over connection: Connection) throws {
    service.stopping()
    commands.post(.stop)
    let end = Deadline(after: .seconds(8))
    while !isDone, !end.hasPassed {
      var waiting = pollfd(fd: answers.descriptor, events: Int16(POLLIN), revents: 0)
      poll(&waiting, 1, end.pollTimeout)
      try takeAnswers(over: connection)
    }
    try moveIdle(over: connection)
  }

  /// The sender has ended.
  func noteEnd() { isDone = true }
}

/// A reader for consumers that are behind.
final class CatchUp {
  var reader: HistoryReader?
  var members: [Consumer]

  init(_ members: [Consumer]) { self.members = members }
}
