internal import Basics
internal import Postgres

/// Decides whether a reader listens or polls under load, and how often it polls.
///
/// Each commit wakes all listeners, and all of them query the server at once. If that is more than the
/// server can do, every reader falls further and further behind, and the writers with them. So a reader
/// whose notifications mostly bring late changes stops listening, since a notification costs the server as
/// much as a page does, and polls until no more changes come. The interval between its queries grows while
/// answers are late, and shrinks while they are not, until the reader tries to listen again.
///
/// Each reader decides for itself, by the age of the changes that it gets: once enough of them poll, the
/// server notifies the others in time.
struct PollThrottle {
  /// Measures of the server's load, from an answer to a query for new changes.
  struct Answer {
    /// How long it took. Only the difference to the quickest answer counts, which leaves out the network.
    var time: Duration
    var isEmpty: Bool
    /// How old the oldest change in it was, if the reader had read everything before.
    var age: Duration?
  }

  private(set) var isPolling = false
  /// How long to wait before the next query.
  private(set) var delay = Duration.zero

  /// Whether the database is a region, where the age of a change has in it the way from the centre and the difference
  /// of two clocks.
  private let isRegion: Bool
  /// The age of a change at a region that came as fast as others do.
  private var leastAge: Duration?
  private var quickest: Duration?
  private var lateNotifications = 0
  private var interval = Duration.zero
  private var emptyAnswers = 0

  /// With up to 200 watchers on two processors, notifications come earlier than this.
  private static let lateNotification = Duration.milliseconds(40)
  /// A late one adds 2, one in time subtracts 1: a moment in which other programs kept the machine busy
  /// is not load.
  private static let lateNotificationsLimit = 4
  private static let firstInterval = Duration.milliseconds(150)
  private static let shortestInterval = Duration.milliseconds(20)
  private static let longestInterval = Duration.milliseconds(200)
  private static let lateAnswer = Duration.milliseconds(15)
  private static let emptyAnswersLimit = 4

  init(isRegion: Bool = false) {
    self.isRegion = isRegion
  }

  mutating func add(_ answer: Answer) {
    let quickest = min(quickest ?? answer.time, answer.time)
    self.quickest = quickest
    if isPolling {
      adapt(lateness: answer.time - quickest, isEmpty: answer.isEmpty)
    } else if let age = answer.age {
      lateNotifications =
        lateness(of: age, quickest) >= Self.lateNotification
        ? lateNotifications + 2 : max(0, lateNotifications - 1)
      guard lateNotifications >= Self.lateNotificationsLimit else { return }
      isPolling = true
      interval = Self.firstInterval
      emptyAnswers = 0
      chooseDelay()
    }
  }

  private mutating func lateness(of age: Duration, _ quickest: Duration) -> Duration {
    // The notification and the query each take a while through the network, whatever the load.
    guard isRegion else { return age - quickest }
    // It rises if the way becomes longer.
    let least = min(age, (leastAge ?? age) + .milliseconds(1))
    leastAge = least
    return age - least
  }

  private mutating func adapt(lateness: Duration, isEmpty: Bool) {
    emptyAnswers = max(0, emptyAnswers + (isEmpty ? 1 : -1))
    interval =
      lateness >= Self.lateAnswer
      ? min(interval * 5 / 4, Self.longestInterval) : interval * 49 / 50
    if emptyAnswers == Self.emptyAnswersLimit || interval < Self.shortestInterval {
      isPolling = false
      lateNotifications = 0
      delay = .zero
    } else {
      chooseDelay()
    }
  }

  /// Readers that began to poll at the same moment must not stay in step.
  private mutating func chooseDelay() {
    delay = interval * Int.random(in: 85...115) / 100
  }
}

/// Waits at a hot standby, which has no LISTEN, until it has replayed more of its primary's log.
///
/// A question about the position costs a fraction of a read of the history, and the answer changes with each commit.
/// The questions come more often while changes come.
struct ReplayPoll {
  private var position: String?
  private var interval = Self.shortestInterval
  /// Whether the server has been promoted, and can notify now.
  private(set) var isPromoted = false

  private static let shortestInterval = Duration.milliseconds(20)
  /// On average half of it passes between a commit and the question that shows it.
  private static let longestInterval = Duration.milliseconds(100)

  /// Waits until the position is another than at the last call, or the server has been promoted; at most until
  /// `deadline`. The history is read after the question, so that it has what the standby replays in between.
  mutating func wait(
    over connection: Connection, until deadline: Deadline, wake: Int32
  ) throws(PostgresError) -> Connection.WaitOutcome {
    while true {
      if try ask(over: connection) { return .ready }
      guard !deadline.hasPassed else { return .timedOut }
      let next = min(deadline, Deadline(after: interval))
      if connection.wait(until: next, wake: wake) == .woken { return .woken }
      // A server that ends says so, and the next question fails.
      interval = min(interval * 5 / 4, Self.longestInterval)
    }
  }

  /// Whether there is something to read.
  private mutating func ask(over connection: Connection) throws(PostgresError) -> Bool {
    let (isStandby, now) = try connection.row(
      "select pg_is_in_recovery(), pg_last_wal_replay_lsn()::text", prepared: true,
      as: (Bool, String?).self)
    isPromoted = !isStandby
    defer { position = now }
    return isPromoted || now != position
  }

  /// Takes note of what the read after a wait found: the position moves with what other programs write, too.
  mutating func hasRead(foundChanges: Bool) {
    if foundChanges { interval = Self.shortestInterval }
  }
}
