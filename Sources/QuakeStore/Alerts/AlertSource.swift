internal import Basics
internal import Postgres
internal import QuakeConsumers
internal import QuakeHistory
internal import QuakeModel
internal import QuakeSchema

/// Decides what is told of earthquakes, on demand, and stores what was told.
struct AlertSource: PullSource {
  private let rule: AlertRule
  private let name: String
  private let settings: ConnectionSettings
  private let wake: Int32
  private let log: @Sendable (LogEvent) -> Void
  private let store = ConsumerStore()
  private var session: AlertSession?
  private var hasBegun = false
  /// The alerts to hand over.
  private var alerts: ArraySlice<Alert> = []
  /// The ids of those that were handed over since it was last stored what was told.
  private var handedOver: Set<String> = []
  private var backoff = Backoff()

  init(
    _ rule: AlertRule, named name: String, _ settings: ConnectionSettings, wake: Int32,
    log: @escaping @Sendable (LogEvent) -> Void
  ) {
    self.rule = rule
    self.name = name
    self.settings = settings
    self.wake = wake
    self.log = log
  }

  mutating func next() throws -> Alert? {
    while true {
      while let alert = alerts.popFirst() {
        if handedOver.insert(alert.id).inserted { return alert }
      }
      do {
        let session = try begun()
        // The consumer has taken what it got before.
        try session.record()
        handedOver.removeAll()
        alerts = try session.read()[...]
        backoff.reset()
      } catch let error as PostgresError where error.isTransient && hasBegun {
        // Decides again from what is stored: an alert has the same id.
        session = nil
        alerts = []
        log(LogEvent(.warning, "the connection was lost, connecting again: \(error)"))
        if WakeDescriptor.wait(for: wake, until: Deadline(after: backoff.next())) { throw error }
      }
    }
  }

  mutating func pause() { session?.pause() }

  private mutating func begun() throws -> AlertSession {
    if let session { return session }
    let session = try AlertSession(rule, name, store, settings, wake: wake, takes: !hasBegun, log)
    self.session = session
    hasBegun = true
    return session
  }
}

/// A consumer's conversations over two connections: one reads the history, the other one events and what was told.
final class AlertSession {
  private let name: String
  private let store: ConsumerStore
  private let connection: Connection
  private let follower: ReconnectingFollower
  private var book: ConversationBook
  /// Up to where the changes have become alerts.
  private var cursor: HistoryCursor
  /// The cursor that is stored.
  private var stored: HistoryCursor
  private var moving = PeriodicTimer(.seconds(10))

  /// How long after its commit time a transaction may become visible.
  private static let commitPatience = Duration.seconds(1)

  /// - Parameter takes: Whether to take the consumer over from another process, or to create it.
  init(
    _ rule: AlertRule, _ name: String, _ store: ConsumerStore, _ settings: ConnectionSettings,
    wake: Int32, takes: Bool, _ log: @escaping @Sendable (LogEvent) -> Void
  ) throws {
    self.name = name
    self.store = store
    connection = try Connection(settings, wake: wake)
    connection.interrupt = wake
    try Migrator.checkSchema(of: connection) { log(LogEvent(.warning, $0.message)) }
    let description = ConsumerStore.Description(
      name: name, sink: "program \(settings.applicationName)", isAlert: true)
    var states = try store.take([description], over: connection)
    if states[name] == nil {
      let now = HistoryCursor(token: try HistoryReader.latestToken(over: connection))
      states = try store.begin([description], at: now, over: connection)
    }
    guard let state = states[name] else { throw Self.replaced(name) }
    cursor = state.cursor
    stored = state.cursor
    book = ConversationBook(
      rule: rule, conversations: try store.openConversations(of: name, over: connection),
      after: state.cursor.token,
      source: StoredConversations(consumer: name, store: store, connection: connection))
    follower = ReconnectingFollower(settings, wake: wake, start: .after(state.cursor), log: log)
  }

  private static func replaced(_ name: String) -> StoreError {
    StoreError(
      .replaced, "consumer \"\(name)\" was taken by another process, rewound or removed",
      hint: "Begin again, or give each program a name of its own.")
  }

  /// Stores what was told, and how far the history has been read.
  func record() throws {
    let (changed, removed) = book.takeUnstored()
    var page = ConsumerStore.Page()
    page.conversations = changed.map { (name, $0) }
    page.removed = removed.map { (name, $0) }
    let isIdle = page.isEmpty
    guard !isIdle || (cursor != stored && moving.fireIfDue()) else { return }
    page.cursors = [(name, cursor)]
    do {
      _ = try store.record(page, over: connection)
    } catch is ConsumerStore.LostConsumers {
      throw Self.replaced(name)
    }
    stored = cursor
  }

  /// Waits for something to tell, or to store.
  func read() throws -> [Alert] {
    let due = book.nextDue.map { $0.microseconds + Self.commitPatience.wholeMicroseconds }
    let wait = due.map { max(0, $0 - WallClock.microseconds) }
    let pause = min(wait.map { Duration.microseconds($0) } ?? .seconds(10), .seconds(10))
    var changes: [Change] = []
    let isAtEnd = try follower.readPage(waiting: true, until: Deadline(after: pause)) {
      changes.append($0)
    }
    var alerts: [Alert] = []
    for change in changes {
      book.take(change)
      guard change.position + 1 == change.transaction.changeCount else { continue }
      alerts += try book.end(of: change.transaction)
      cursor = HistoryCursor(token: change.transaction.token)
    }
    if let read = follower.cursor, read.changes == 0 { cursor = read }
    // What was committed before comes first.
    if isAtEnd, changes.isEmpty {
      let time = WallClock.microseconds - Self.commitPatience.wholeMicroseconds
      alerts += try book.advance(to: Timestamp(microseconds: time))
    }
    return alerts
  }

  func pause() { follower.pause() }
}

/// What the conversations of a consumer need from the database.
private struct StoredConversations: ConversationSource {
  let consumer: String
  let store: ConsumerStore
  let connection: Connection

  func event(_ code: String, after token: ChangeToken) throws -> EventRecord? {
    try RecordedEvents(connection: connection).event(code, after: token)
  }

  func closedConversation(of code: String) throws -> Conversation? {
    try store.closedConversations(of: consumer, about: [code], over: connection).first
  }
}
