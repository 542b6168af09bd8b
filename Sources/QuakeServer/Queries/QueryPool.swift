import Basics
import Postgres
import QuakeHistory
import QuakeModel
import QuakeSchema
import Synchronization

/// Threads that answer requests, each with a connection of its own.
///
/// They are threads and not tasks because libpq blocks. A connection is made when the first job needs one, and
/// made anew after it was lost.
final class QueryPool: Sendable {
  struct Settings: Sendable {
    var connection: ConnectionSettings
    /// The number of threads, and the most connections.
    var threads = 4
    /// The most time that a job may wait and its statement may take, together.
    var statementTimeout = Duration.seconds(30)
    /// The most jobs that wait for a thread, a quarter of them for one client.
    var mostWaiting = 2000
  }

  /// Work for a thread. It gets a context, or the reason why there is none.
  struct Job: Sendable {
    /// Whether the job may run a second time if the connection is lost in the first.
    var isRepeatable: Bool
    /// Whether it takes long, so that others must not wait for it.
    var isExpensive = false
    /// When somebody began to wait for it.
    var begun = MonotonicClock.now()
    /// Whether the job is still to be done when its turn has come.
    var isNeeded: @Sendable () -> Bool = { true }
    /// Runs the job; throws only `PostgresError`s that mean a lost connection, which is then replaced.
    let run: @Sendable (Result<QueryContext, any Error>) throws -> Void
  }

  private let settings: Settings
  private let queue: JobQueue<Job>

  init(_ settings: Settings) {
    self.settings = settings
    // One client leaves a thread to the others, and long queries leave one to short ones.
    let expensive = max(1, settings.threads / 2)
    queue = JobQueue(
      limit: settings.mostWaiting,
      JobQueue.Limits(
        ofOwner: max(1, settings.threads - 1), expensive: expensive,
        expensiveOfOwner: max(1, expensive - 1), waitingOfOwner: max(1, settings.mostWaiting / 4)))
  }

  /// How many jobs wait for a thread.
  var waiting: Int { queue.count }

  /// Whether it takes no more jobs at the moment.
  var isFull: Bool { queue.count >= settings.mostWaiting }

  /// Starts the threads, which end after `close`.
  func start() throws {
    for _ in 0..<settings.threads {
      try DetachedThread.start { self.work() }
    }
  }

  /// Adds a job; false if too many wait, of all clients or of this one.
  ///
  /// - Parameter owner: The client for which it is done; clients take turns. Empty: one without a limit.
  func add(_ job: Job, of owner: String = "") -> Bool {
    queue.add(job, of: owner, isExpensive: job.isExpensive)
  }

  /// Ends the threads after the jobs that wait.
  func close() { queue.close() }

  /// A connection of a thread, and the time that it gives to a statement.
  private struct Session {
    let connection: Connection
    var timeout: Duration
  }

  private func work() {
    var session: Session?
    while queue.doNext({ perform($0, over: &session) }) {}
  }

  private func perform(_ job: Job, over connection: inout Session?) {
    guard job.isNeeded() else { return }
    // A connection that was made for an earlier job may be gone without notice.
    let isOld = connection != nil
    var isBegun = false
    do {
      let context = try context(of: job, over: &connection)
      isBegun = true
      try job.run(.success(context))
      guard context.connection.isIdle else {
        connection = nil
        return
      }
    } catch let error as PostgresError where error.isConnectionLoss {
      connection = nil
      if isOld, job.isRepeatable || !isBegun { return perform(job, over: &connection) }
      try? job.run(.failure(error))
    } catch let error as HTTPError {
      // The job has waited for too long; the connection is good.
      try? job.run(.failure(error))
    } catch {
      connection = nil
      try? job.run(.failure(error))
    }
  }

  private func context(of job: Job, over session: inout Session?) throws -> QueryContext {
    let timeout = try timeLeft(for: job)
    var current = try session ?? connect()
    session = current
    if timeout != current.timeout {
      try Self.set(timeout, of: current.connection)
      current.timeout = timeout
      session = current
    }
    return try context(current.connection)
  }

  /// How long the statement of a job may take: less if it has waited. A short wait does not count, so that most
  /// jobs need no statement for it.
  private func timeLeft(for job: Job) throws(HTTPError) -> Duration {
    let waited = MonotonicClock.now() - job.begun
    let whole = settings.statementTimeout
    if waited < min(.seconds(1), whole / 10) { return whole }
    let left = whole - waited
    guard left > .zero else {
      throw HTTPError(
        503, "The request has waited for too long. The server has too many to answer.",
        ["Retry-After": "5"])
    }
    return left
  }

  private func connect() throws -> Session {
    let new = try Connection(settings.connection)
    try Self.set(settings.statementTimeout, of: new)
    try Migrator.checkSchema(of: new)
    return Session(connection: new, timeout: settings.statementTimeout)
  }

  private static func set(_ timeout: Duration, of connection: Connection) throws {
    // PostgreSQL cancels a statement at the limit. If it does not answer at all, this side stops waiting later.
    connection.answerTimeout = timeout + .seconds(5)
    // Zero would be no limit.
    let milliseconds = "\(max(1, timeout.wholeMilliseconds))"
    try connection.execute(
      "select pg_catalog.set_config('statement_timeout', \(milliseconds), false)")
  }

  private func context(_ connection: Connection) throws -> QueryContext {
    let begun = MonotonicClock.now()
    return QueryContext(
      connection: connection, token: try HistoryReader.latestToken(over: connection), begun: begun)
  }
}

/// The context of a handler that queries the database.
struct QueryContext {
  /// A connection outside of a transaction. Statements have a time limit.
  let connection: Connection
  /// The newest token of the store, read after the request arrived.
  let token: ChangeToken
  /// When the token was asked for: an answer has all that was committed before.
  var begun = MonotonicClock.now()
}

/// The newest token of the store, as the streams have read it last: known without asking the database.
final class NewestToken: Sendable {
  private let token = Mutex<ChangeToken?>(nil)

  /// The token; nil until the streams have connected to the database.
  var value: ChangeToken? { token.withLock { $0 } }

  func update(_ newest: ChangeToken) { token.withLock { $0 = newest } }
}
