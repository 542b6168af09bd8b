import Basics
import Glibc
import Postgres
import QuakeHistory
import QuakeModel
import QuakeSchema

/// Threads that answer requests, each with a connection of its own.
///
/// They are threads and not tasks because libpq blocks. A connection is made when the first job needs one, and
/// made anew after it was lost.
final class QueryPool: Sendable {
  struct Settings: Sendable {
    var connection: ConnectionSettings
    /// The number of threads, and the most connections.
    var threads = 4
    /// The most time that a statement may take.
    var statementTimeout = Duration.seconds(30)
    /// The most jobs that wait for a thread.
    var mostWaiting = 2000
  }

  /// Work for a thread. It gets a context, or the reason why there is none.
  struct Job: Sendable {
    /// Whether the job may run a second time if the connection is lost in the first.
    var isRepeatable: Bool
    /// Whether the job is still to be done when its turn has come.
    var isNeeded: @Sendable () -> Bool = { true }
    /// Runs the job; throws only `PostgresError`s that mean a lost connection, which is then replaced.
    let run: @Sendable (Result<QueryContext, any Error>) throws -> Void
  }

  private let settings: Settings
  private let queue: JobQueue<Job>

  init(_ settings: Settings) {
    self.settings = settings
    // One client leaves a thread to the others.
    queue = JobQueue(limit: settings.mostWaiting, mostOfOwner: max(1, settings.threads - 1))
  }

  /// How many jobs wait for a thread.
  var waiting: Int { queue.count }

  /// Starts the threads, which end after `close`.
  func start() throws {
    for _ in 0..<settings.threads {
      try DetachedThread.start { self.work() }
    }
  }

  /// Adds a job; false if too many wait.
  ///
  /// - Parameter owner: The client for which it is done; clients take turns. Empty: one without a limit.
  func add(_ job: Job, of owner: String = "") -> Bool { queue.add(job, of: owner) }

  /// Ends the threads after the jobs that wait.
  func close() { queue.close() }

  private func work() {
    var connection: Connection?
    while queue.doNext({ perform($0, over: &connection) }) {}
  }

  private func perform(_ job: Job, over connection: inout Connection?) {
    guard job.isNeeded() else { return }
    // A connection that was made for an earlier job may be gone without notice.
    let isOld = connection != nil
    do {
      let context = try context(over: &connection)
      try job.run(.success(context))
      guard context.connection.isIdle else {
        connection = nil
        return
      }
    } catch let error as PostgresError where error.isConnectionLoss {
      connection = nil
      if isOld, job.isRepeatable { return perform(job, over: &connection) }
      try? job.run(.failure(error))
    } catch {
      connection = nil
      try? job.run(.failure(error))
    }
  }

  private func context(over connection: inout Connection?) throws -> QueryContext {
    if let connection { return try context(connection) }
    let new = try Connection(settings.connection)
    // PostgreSQL cancels a statement at the limit. If it does not answer at all, this side stops waiting later.
    new.answerTimeout = settings.statementTimeout + .seconds(5)
    let milliseconds = Int64(settings.statementTimeout.inSeconds * 1000)
    try new.execute(
      "select pg_catalog.set_config('statement_timeout', $1, false)", [.text("\(milliseconds)")])
    try Migrator.checkSchema(of: new)
    connection = new
    return try context(new)
  }

  private func context(_ connection: Connection) throws -> QueryContext {
    let begun = MonotonicClock.now()
    return QueryContext(
      connection: connection, token: try HistoryReader.latestToken(over: connection), begun: begun)
  }
}
