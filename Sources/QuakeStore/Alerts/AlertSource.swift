internal import Basics
internal import Postgres
public import QuakeConsumers
internal import QuakeHistory
internal import QuakeModel

/// Decides what is told of earthquakes, on demand, and stores what was told.
struct AlertSource: PullSource {
  private let rule: AlertRule
  private let name: String
  private let database: QuakeDatabase
  private let wake: Int32
  private let store = ConsumerStore()
  private var session: AlertSession?
  private var hasBegun = false
  private var outages: OutageLog
  /// The alerts to hand over.
  private var alerts: ArraySlice<Alert> = []
  /// The ids of those that were handed over and are not stored as told yet.
  private var handedOver: Set<String> = []
  /// The ids of those that are stored as told when the next ones are asked for.
  private var ids: [String] = []
  private var backoff = Backoff()

  init(_ rule: AlertRule, named name: String, in database: QuakeDatabase, wake: Int32) {
    self.rule = rule
    self.name = name
    self.database = database
    self.wake = wake
    outages = OutageLog(database)
  }

  mutating func next() throws -> Alert? {
    while true {
      while let alert = alerts.popFirst() {
        if handedOver.insert(alert.id).inserted { return alert }
      }
      do {
        let session = try begun()
        outages.end()
        // The consumer has taken what it got before.
        try session.record()
        handedOver.subtract(ids)
        ids = []
        alerts = try session.read()[...]
        ids = alerts.map(\.id)
        backoff.reset()
      } catch let error as PostgresError where error.isTransient && hasBegun {
        // Decides again from what is stored: an alert has the same id.
        session = nil
        alerts = []
        ids = []
        outages.begin(error)
        if WakeEvent.wait(for: wake, until: Deadline(after: backoff.next())) { throw error }
      }
    }
  }

  mutating func pause() { session?.pause() }

  private mutating func begun() throws -> AlertSession {
    if let session { return session }
    let session = try AlertSession(rule, name, store, in: database, wake: wake, again: hasBegun)
    self.session = session
    hasBegun = true
    return session
  }
}

/// A consumer's conversations over two connections: one reads the history, the other one events and what was told.
final class AlertSession {
  private let name: String
  private let store: ConsumerStore
  private let wake: Int32
  private let connection: Connection
  private let follower: ReconnectingFollower
  private var book: ConversationBook
  /// Those that were read and not taken yet.
  private var changes: ArraySlice<Change> = []
  /// Up to when everything is told that is due, once they are taken; nil: there are more to read.
  private var completeUpTo: Timestamp?
  /// Whether somebody has paused the consumer.
  private var isPaused: Bool
  private var signOfLife = PeriodicTimer(.seconds(10))
  private var clock = DatabaseClock()

  /// - Parameter again: Whether this program had the consumer before: then it must not take it from another one.
  init(
    _ rule: AlertRule, _ name: String, _ store: ConsumerStore, in database: QuakeDatabase,
    wake: Int32, again: Bool
  ) throws {
    self.name = name
    self.store = store
    self.wake = wake
    connection = try database.connect(wake: wake, answerTimeout: AnswerTimeout.longest)
    let description = ConsumerStore.Description(
      name: name, sink: ConsumerStatus.programPrefix + database.settings.applicationName,
      isAlert: true)
    var (states, _) = try store.take(again ? .own : .all, of: [description], over: connection)
    if !again, states[name] == nil {
      let now = HistoryCursor(token: try HistoryReader.latestToken(over: connection))
      states = try store.begin([description], at: now, over: connection)
    }
    guard let state = states[name] else { throw Self.replaced(name) }
    isPaused = state.isPaused
    book = try store.book(rule, of: name, after: state.cursor, over: connection)
    follower = ReconnectingFollower(database, wake: wake, start: .after(state.cursor))
  }

  private static func replaced(_ name: String) -> StoreError {
    StoreError(
      .replaced, "consumer \"\(name)\" was taken by another process, rewound or removed",
      hint: "Begin again, or give each program a name of its own.")
  }

  /// Stores what was told, and how far the history has been read; every few seconds also that the program is there.
  func record() throws {
    var page = ConsumerStore.Page()
    do {
      if page.add(book.takeUnstored(), of: name) {
        page.cursors = [(name, book.cursor)]
        _ = try store.record(page, over: connection)
      }
      if signOfLife.remaining == .zero { try showLife() }
      if isPaused { try waitForResumption() }
    } catch is ConsumerStore.LostConsumers {
      throw Self.replaced(name)
    }
  }

  /// Stores that the program is there, every few seconds, and looks whether the consumer is paused.
  private func showLife() throws {
    if signOfLife.fireIfDue() { try store.moveIdle([(name, book.cursor)], over: connection) }
    isPaused = try store.states(of: [name], over: connection)[name]?.isPaused ?? false
  }

  private func waitForResumption() throws {
    // A listener would pin the server's notification queue.
    follower.pause()
    while isPaused {
      guard Connection.pause(for: .seconds(1), wake: wake) != .woken else {
        throw ReconnectingFollower.interrupted
      }
      try showLife()
    }
  }

  /// Waits for something to tell, or to store.
  ///
  /// - Returns: What a transaction brings, or the passing of time: it is stored before more is read.
  func read() throws -> [Alert] {
    if changes.isEmpty { try readPage() }
    while let change = changes.popFirst() {
      if let alerts = try book.alerts(after: change), !alerts.isEmpty { return alerts }
    }
    return try completeUpTo.map { try book.advance(to: $0) } ?? []
  }

  private func readPage() throws {
    // Asked before the history: what was committed by then, and has not been notified yet, comes first.
    let time = try book.nextDue.map { _ in try clock.completeTime(over: connection) }
    var pause = Duration.seconds(10)
    if let due = book.nextDue { pause = min(pause, try clock.remaining(to: due, over: connection)) }
    var page: [Change] = []
    let isAtEnd = try follower.readPage(waiting: true, until: Deadline(after: pause)) {
      page.append($0)
    }
    changes = page[...]
    completeUpTo = isAtEnd ? time : nil
  }

  func pause() { follower.pause() }
}

extension QuakeDatabase {
  /// What a rule tells of earthquakes, as it is committed, without an end: one conversation for each earthquake,
  /// which is opened, updated, retracted and closed.
  ///
  /// - Parameters:
  ///   - rule: Which earthquakes are told, and which of their changes.
  ///   - name: The name of the consumer, 1 to 200 characters. The database keeps under it how far the program has come
  ///     and what it has told. A new name begins with what is committed from then on.
  public func alerts(_ rule: AlertRule, named name: String) -> EarthquakeAlerts {
    EarthquakeAlerts { AlertSource(rule, named: name, in: self, wake: $0) }
  }
}

/// What a rule tells of earthquakes, without an end: after the last alert the sequence waits for the next.
///
/// ```swift
/// var rule = AlertRule()
/// rule.filter.minimumMagnitude = 4.5
/// for try await alert in database.alerts(rule, named: "duty") {
///   try await send(alert.text, id: alert.id)
/// }
/// ```
///
/// It is what a consumer of `quake-watch run` with `alert = true` tells: changes of the preferred id, several agencies
/// and revisions around the threshold are one conversation.
///
/// - **Nothing is lost.** An alert counts as delivered when the next one is asked for; several of one transaction count
///   together. A program that ends, is killed or cancelled or leaves the loop before that gets it again, with the same
///   `Alert.id`, when it begins again under the same name.
/// - **One program at a time** has a name: the last that began. The sequence of the other one ends with a `StoreError`
///   of kind `replaced`. So does one whose consumer was removed or rewound.
/// - **A pause** (`quake-admin consumers pause`) is noticed within ten seconds: `next()` then waits until the consumer is
///   resumed.
/// - **Lost connections** are made again. Alerts that were not yet recorded as delivered do not come again meanwhile.
/// - The rest is as documented for `EventChanges`: back-pressure, cancelling, and errors.
///
/// It needs the privileges of the role `quake_watcher`. The consumer is in `quake-admin consumers list`, and holds purges
/// of the history back.
public struct EarthquakeAlerts: AsyncSequence, Sendable {
  /// The element of the sequence.
  public typealias Element = Alert

  let makeSource: PullThread<Alert>.MakeSource

  /// Begins where the consumer of this name has come to, with the first `next()`.
  public func makeAsyncIterator() -> PullIterator<Alert> { PullIterator(makeSource) }
}
