import Basics
import Glibc
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

  /// Whether it takes no more jobs at the moment.
  var isFull: Bool { queue.count >= settings.mostWaiting }

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
    let milliseconds = "\(Int64(settings.statementTimeout.inSeconds * 1000))"
    try new.execute(
      "select pg_catalog.set_config('statement_timeout', \(milliseconds), false)")
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

/// The context of a handler that queries the database.
struct QueryContext {
  /// A connection outside of a transaction. Statements have a time limit.
  let connection: Connection
  /// The newest token of the store, read after the request arrived.
  let token: ChangeToken
  /// When the token was asked for: an answer has all that was committed before.
  var begun = MonotonicClock.now()
}

/// A queue in which the owners of the elements take turns: one who adds many does not hold up the others.
struct FairQueue<Element> {
  private struct Line {
    var elements: [Element] = []
    /// How many at the beginning have been taken.
    var taken = 0
  }

  private var lines: [String: Line] = [:]
  /// The owners that have elements, in the order of their turns; the first `done` have had theirs.
  private var turns: [String] = []
  private var done = 0
  /// How many elements there are.
  private(set) var count = 0

  mutating func add(_ element: Element, of owner: String) {
    count += 1
    if lines[owner] == nil { turns.append(owner) }
    lines[owner, default: Line()].elements.append(element)
  }

  /// Takes the next element of the first owner in the order of turns that may have one now; nil if none may.
  mutating func take(where mayHave: (_ owner: String) -> Bool = { _ in true }) -> (
    element: Element, owner: String
  )? {
    guard let turn = turns[done...].firstIndex(where: mayHave) else { return nil }
    let owner = turns[turn]
    guard var line = lines.removeValue(forKey: owner) else { return nil }
    let element = line.elements[line.taken]
    line.taken += 1
    count -= 1
    if turn == done { done += 1 } else { turns.remove(at: turn) }
    if line.taken < line.elements.count {
      if line.taken == 1024 {
        line.elements.removeFirst(line.taken)
        line.taken = 0
      }
      lines[owner] = line
      turns.append(owner)
    }
    if done == 1024 || done == turns.count {
      turns.removeFirst(done)
      done = 0
    }
    return (element, owner)
  }
}

/// A queue of jobs for several threads. The owners of jobs take turns.
///
/// `@unchecked Sendable`: `jobs`, `running` and `isClosed` are only read and written with the mutex held.
final class JobQueue<Job: Sendable>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>
  private var jobs = FairQueue<Job>()
  /// How many jobs of an owner have been taken and are not done.
  private var running: [String: Int] = [:]
  private var isClosed = false
  private let limit: Int
  private let mostOfOwner: Int

  /// A queue in which at most `limit` jobs wait.
  ///
  /// - Parameter mostOfOwner: How many jobs of one owner are done at once.
  init(limit: Int, mostOfOwner: Int = .max) {
    self.limit = limit
    self.mostOfOwner = mostOfOwner
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    changed = .allocate(capacity: 1)
    changed.initialize(to: pthread_cond_t())
    pthread_cond_init(changed, nil)
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(mutex)
    changed.deallocate()
    mutex.deallocate()
  }

  /// How many jobs wait.
  var count: Int {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return jobs.count
  }

  /// Adds a job; false if too many wait, or the queue is closed.
  ///
  /// - Parameter owner: The client for whom it is done; empty: any client, without a limit of its own.
  func add(_ job: Job, of owner: String = "") -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    guard !isClosed, jobs.count < limit else { return false }
    jobs.add(job, of: owner)
    pthread_cond_signal(changed)
    return true
  }

  /// Waits for a job and does it.
  ///
  /// - Returns: False when the queue is closed and empty.
  func doNext(_ work: (Job) -> Void) -> Bool {
    guard let (job, owner) = take() else { return false }
    work(job)
    guard mostOfOwner < .max else { return true }
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    let left = (running[owner] ?? 1) - 1
    running[owner] = left == 0 ? nil : left
    // A job that waited because of its owner's limit may run now.
    if isClosed { pthread_cond_broadcast(changed) } else { pthread_cond_signal(changed) }
    return true
  }

  private func take() -> (Job, String)? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      let taken = jobs.take { $0.isEmpty || running[$0, default: 0] < mostOfOwner }
      if let (job, owner) = taken {
        if mostOfOwner < .max { running[owner, default: 0] += 1 }
        return (job, owner)
      }
      if isClosed, jobs.count == 0 { return nil }
      pthread_cond_wait(changed, mutex)
    }
  }

  /// Refuses further jobs; those that wait are still taken.
  func close() {
    pthread_mutex_lock(mutex)
    isClosed = true
    pthread_cond_broadcast(changed)
    pthread_mutex_unlock(mutex)
  }
}

/// The newest token of the store, as the streams have read it last: known without asking the database.
final class NewestToken: Sendable {
  private let token = Mutex<ChangeToken?>(nil)

  /// The token; nil until the streams have connected to the database.
  var value: ChangeToken? { token.withLock { $0 } }

  /// Sets the token.
  func update(_ newest: ChangeToken) { token.withLock { $0 = newest } }
}
