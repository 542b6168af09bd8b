internal import EmbeddedPostgres
public import Postgres
internal import QuakeHistory
public import QuakeModel
public import QuakeQuery
internal import QuakeSchema

/// A quake database, for programs with Swift concurrency: its events, their history, and the changes to them as
/// they are committed.
///
/// ```swift
/// let database = QuakeDatabase("postgresql://reader@db.example.org/quake", applicationName: "map")
/// let strong = EventQuery(where: .magnitude >= 6)
/// for try await update in database.live(strong) { ... }
/// ```
///
/// It holds no connection. Each call, and each iterator of a sequence, has a connection and a thread of its
/// own for as long as it needs them: blocking calls never run on the threads that Swift's tasks share. Cancelling
/// the task ends a call at once, with `CancellationError`. The schema is checked on each connection.
public final class QuakeDatabase: Sendable {
  package let settings: ConnectionSettings
  let log: @Sendable (LogEvent) -> Void

  package init(
    _ settings: ConnectionSettings, log: @escaping @Sendable (LogEvent) -> Void = { _ in }
  ) {
    var settings = settings
    settings.timelines = SeenTimelines { log(LogEvent(.warning, "\($0)")) }
    self.settings = settings
    self.log = log
  }

  /// The database that a URL or `keyword=value` pairs name; connects to nothing yet.
  ///
  /// - Parameters:
  ///   - conninfo: What libpq understands; empty: what its environment variables name.
  ///   - applicationName: The program's name in `pg_stat_activity`, and by default the author of its imports.
  ///   - log: Gets what happens beside the results, on any thread: lost connections, imports, migrations.
  public convenience init(
    _ conninfo: String, applicationName: String,
    log: @escaping @Sendable (LogEvent) -> Void = { _ in }
  ) {
    self.init(ConnectionSettings(conninfo, applicationName: applicationName), log: log)
  }

  /// The database of a private PostgreSQL server, which is created and started if it does not run yet. It listens on
  /// a Unix socket only, and continues when the program ends; `stopEmbedded(in:)` stops it.
  ///
  /// - Parameters:
  ///   - folder: The folder of everything that belongs to the server; an absolute path. It is created if necessary.
  ///   - programs: The folder of PostgreSQL's programs; nil: they are searched where Linux distributions put them.
  ///   - applicationName: The program's name in `pg_stat_activity`, and by default the author of its imports.
  ///   - log: Gets what happens beside the results, on any thread: lost connections, imports, migrations.
  /// - Throws: An error of category `unavailable` if the server could not be started, of category `schema` if
  ///   PostgreSQL is not installed; `CancellationError`, after which the server may still start.
  public static func embedded(
    in folder: String, programs: String? = nil, applicationName: String,
    log: @escaping @Sendable (LogEvent) -> Void = { _ in }
  ) async throws -> QuakeDatabase {
    let conninfo = try await onOwnThread { _ in
      var options = EmbeddedServer.Options(home: folder)
      options.binDirectory = programs
      let server = try EmbeddedServer(options)
      try server.startIfNeeded()
      return server.conninfo
    }
    return QuakeDatabase(conninfo, applicationName: applicationName, log: log)
  }

  /// Stops the private server in a folder, and waits until it has ended.
  ///
  /// - Returns: Whether it was running.
  /// - Throws: An error of category `tryLater` if the server does not end; `CancellationError`, after which it may
  ///   still end.
  @discardableResult
  public static func stopEmbedded(in folder: String) async throws -> Bool {
    try await onOwnThread { _ in
      try EmbeddedServer(EmbeddedServer.Options(home: folder)).stop()
    }
  }

  // MARK: - Schema

  /// Checks that the database can be reached and that its schema is the one this library was built for.
  ///
  /// - Throws: `PostgresError`; `StoreError` of kind `schema`; `CancellationError`.
  public func check() async throws {
    try await withConnection { _ in }
  }

  /// Creates the schema, or applies the migrations that the database lacks. Several programs may migrate at once.
  ///
  /// - Parameter program: Name and version of the program, for the ledger.
  /// - Returns: The names of the migrations that were applied.
  /// - Throws: `StoreError` of kind `schema` if the database has migrations that this library does not know;
  ///   otherwise as `check()`.
  @discardableResult
  public func migrate(as program: String) async throws -> [String] {
    let applied = try await Self.onOwnThread { [settings] wake in
      let connection = try Connection(settings, wake: wake)
      connection.interrupt = wake
      return try Migrator(connection: connection, program: program).migrate().map(\.name)
    }
    for name in applied { log(LogEvent(.info, "applied migration \(name)")) }
    return applied
  }

  // MARK: - One event

  /// The event that has, or had, this id; nil if there is none.
  ///
  /// - Parameter point: The point of the history; nil: now.
  /// - Throws: `StoreError` of kind `token` if the point is not in this history, or no longer; otherwise as
  ///   `check()`.
  public func event(_ id: String, asOf point: HistoryBound? = nil) async throws -> EventRecord? {
    try await withConnection { connection in
      let history = EventHistory(connection: connection)
      guard let point else { return try history.event(id) }
      func past(_ code: String) throws -> EventRecord? {
        var query = EventQuery()
        query.asOf = point
        query.filter.codes = [code]
        return try query.page(over: connection).events.first
      }
      // What identifies another event now may have been an event of its own.
      let own = try past(id)
      if let own, own.supersededBy == nil { return own }
      guard let code = try history.code(of: id), code != id else { return own }
      return try past(code) ?? own
    }
  }

  // MARK: - What is not here

  /// Calls a closure with a connection, on a thread of its own, for statements that no other call runs.
  ///
  /// ```swift
  /// let deepest = try await database.withConnection { connection in
  ///   try connection.row("select max(depth) from quake.quake", as: Double?.self)
  /// }
  /// ```
  ///
  /// The connection is closed when the closure returns, and a transaction that is open then is rolled back. If the
  /// calling task is cancelled, the call ends at once. The statement that runs is cancelled, and the closure, which may
  /// still run for a moment, gets `PostgresError` of kind `interrupted`.
  ///
  /// - Throws: The error of the closure; otherwise as `check()`.
  public func withConnection<Answer: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Answer
  ) async throws -> Answer {
    try await Self.onOwnThread { wake in
      let connection = try self.connect(wake: wake)
      // Preparing does not pay for one answer, and there may be a pooler in between.
      connection.keepsStatements = false
      return try body(connection)
    }
  }

  /// Connects for a thread of its own, and checks the schema.
  ///
  /// - Parameters:
  ///   - wake: A descriptor that becomes readable when the thread is to end.
  ///   - answerTimeout: How long to wait for each answer; nil: as long as the server is there.
  func connect(wake: Int32, answerTimeout: Duration? = nil) throws -> Connection {
    let connection = try Connection(settings, wake: wake)
    connection.interrupt = wake
    connection.answerTimeout = answerTimeout
    try Migrator.checkSchema(of: connection) { [log] in log(LogEvent(.warning, $0.message)) }
    return connection
  }

  /// Runs a blocking call on a thread of its own.
  ///
  /// - Parameter body: Gets a descriptor that becomes readable when the calling task was cancelled; then it must
  ///   end soon.
  static func onOwnThread<Answer: Sendable>(
    _ body: @escaping @Sendable (_ wake: Int32) throws -> Answer
  ) async throws -> Answer {
    var iterator = PullIterator<Answer> { wake in OneCall(wake: wake, body) }
    guard let answer = try await iterator.next() else { throw CancellationError() }
    return answer
  }
}

extension Connection {
  /// Connects to any database: for a program without tasks, or for a database that is not one of Quake's.
  ///
  /// The calls of a connection block; in a task, use `QuakeDatabase.withConnection(_:)`.
  ///
  /// - Parameters:
  ///   - conninfo: A URL or `keyword=value` pairs, as libpq understands them.
  ///   - applicationName: The program's name in `pg_stat_activity`.
  public convenience init(_ conninfo: String, applicationName: String) throws(PostgresError) {
    try self.init(ConnectionSettings(conninfo, applicationName: applicationName))
  }
}

/// One call as a source of one element.
private struct OneCall<Answer: Sendable>: PullSource {
  let wake: Int32
  let body: @Sendable (_ wake: Int32) throws -> Answer
  private var isDone = false

  init(wake: Int32, _ body: @escaping @Sendable (_ wake: Int32) throws -> Answer) {
    self.wake = wake
    self.body = body
  }

  mutating func next() throws -> Answer? {
    guard !isDone else { return nil }
    isDone = true
    return try body(wake)
  }

  mutating func pause() {}
}

extension QuakeDatabase {
  /// Something that happened beside the results of calls, for a program's log.
  ///
  /// The levels have the names of swift-log's:
  ///
  /// ```swift
  /// let database = QuakeDatabase(url, applicationName: "map") { event in
  ///   logger.log(level: .init(rawValue: event.level.rawValue) ?? .info, "\(event.message)")
  /// }
  /// ```
  public struct LogEvent: Hashable, Sendable {
    /// How much it matters.
    public enum Level: String, CaseIterable, Sendable {
      case info
      /// What is not usual, but no problem.
      case notice
      /// A problem that the library deals with.
      case warning
    }

    /// How much it matters.
    public let level: Level
    /// What happened: a phrase in lower case, without a full stop. The details of an error follow on lines of their
    /// own.
    public let message: String

    init(_ level: Level, _ message: String) {
      self.level = level
      self.message = message
    }
  }
}

/// Batch edits. Each call has a connection of its own, and runs on a thread of its own. If the calling task is
/// cancelled, the transaction in progress is rolled back; those before stay, and the same edit with the same
/// title does the rest.
extension QuakeDatabase {
  /// Computes the effects of an edit without making it.
  ///
  /// - Parameter sample: The most events to return.
  public func plan(_ edit: EventEdit, sample: Int = 10) async throws -> EditPlan {
    try await withConnection { try BatchEdit(edit, over: $0).plan(sample: sample) }
  }

  /// Makes an edit.
  ///
  /// - Parameter progress: Is called after each transaction, with the number of events that are done and of
  ///   all that were selected.
  public func apply(
    _ edit: EventEdit,
    progress: @escaping @Sendable (_ done: Int64, _ selected: Int64) -> Void = { _, _ in }
  ) async throws -> EditOutcome {
    try await withConnection { try BatchEdit(edit, over: $0).run(progress: progress) }
  }

  /// Computes the effects of a restore without making it, and the later changes that are in its way.
  ///
  /// - Parameter sample: The most codes to return.
  public func plan(_ restore: EventRestore, sample: Int = 10) async throws -> RestorePlan {
    try await withConnection { try BatchRestore(restore, over: $0).plan(sample: sample) }
  }

  /// Restores deleted events, or undoes transactions or an edit. Events that were changed since stay as they
  /// are unless the restore is forced; the outcome lists them.
  ///
  /// - Parameter progress: Is called after each transaction, with the number of events that are done and of
  ///   all.
  public func apply(
    _ restore: EventRestore,
    progress: @escaping @Sendable (_ done: Int64, _ all: Int64) -> Void = { _, _ in }
  ) async throws -> EditOutcome {
    try await withConnection { try BatchRestore(restore, over: $0).run(progress: progress) }
  }
}
