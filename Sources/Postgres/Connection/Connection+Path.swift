internal import CLibpq

extension Connection {
  /// Begins a transaction block in which names mean what we mean, and tells which server process it is
  /// in. Behind a pooler that may be another one each time.
  private static let setPath: SQL = """
    ; set local search_path = pg_catalog, pg_temp; select pg_catalog.pg_backend_pid()
    """

  /// Finds out whether the session has our search path, by a statement that means the same under any.
  ///
  /// Behind a pooler the answer would be that of whatever session it has lent us now: what is set there
  /// is not ours to keep, and the next statement may find it otherwise. A pooler answers for the server
  /// when a client connects, and makes up a process id.
  func lookAtSession(_ settings: ConnectionSettings, wake: Int32?) throws(PostgresError) {
    answerTimeout = Self.ownTimeout(connection, default: settings.connectTimeout)
    interrupt = wake
    defer { (answerTimeout, interrupt) = (nil, nil) }
    let session = try execute(
      "select pg_catalog.current_setting('search_path'), pg_catalog.pg_backend_pid()")
    let process = session.integer(0, 1)
    let isOwn = process == Int64(serverProcessID)
    setsPath = !isOwn || session.text(0, 0) != ConnectionSettings.searchPath
    keepsStatements = isOwn
    processID = isOwn ? serverProcessID : nil
  }

  func beginInPath(_ begin: SQL) throws(PostgresError) {
    processID = try runScript(begin + Self.setPath).integer(0, 0).flatMap { Int32(exactly: $0) }
  }

  /// Begins a transaction if names would mean something else outside of one.
  ///
  /// - Returns: Whether it has begun one.
  func enterPath() throws(PostgresError) -> Bool {
    guard setsPath, isIdle else { return false }
    try beginInPath("begin")
    return true
  }

  /// Ends the transaction that `enterPath` has begun, if it has.
  func leavePath(_ hasBegun: Bool) throws(PostgresError) {
    if hasBegun { _ = try runScript("commit") }
  }

  /// Rolls back the transaction that `enterPath` has begun, if it has.
  func abandonPath(_ hasBegun: Bool) {
    // If this fails the connection is gone, and with it the transaction.
    if hasBegun { _ = try? runScript("rollback") }
  }

  /// Runs `body` where names mean what we mean: as it is, or in a transaction of its own.
  func inPath<Value: ~Copyable>(
    _ body: () throws(PostgresError) -> Value
  ) throws(PostgresError) -> Value {
    guard setsPath, try enterPath() else { return try body() }
    let value: Value
    do throws(PostgresError) {
      value = try body()
    } catch {
      abandonPath(true)
      throw error
    }
    try leavePath(true)
    return value
  }
}
